"""`python -m tests.benchmarks peers`: `cub code` beside pi, opencode and mini-swe-agent.

Each agent is a process of its own, and talks to a scripted model on the loopback address. pi and
opencode are those of CUB_AGENTS; CUB_MINI_SWE_AGENT names a Python that has mini-swe-agent. What is
not there is left out, with a line that says so.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

import psutil

from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.exchange import RecordedRequest
from tests.agents.conftest import find_agent
from tests.conftest import environment, git
from tests.model_server.faults import ModelServer, Reply

RUNS = 4
_ONCE = str(Path(__file__).parents[1] / "map" / "once.py")
_SHORT, _LONG = 2, 42
_LAST_COMMAND = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_MINI_SETTINGS = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # it gets the prices from the network
    "OPENAI_API_KEY": "dummy",
}


@dataclass(frozen=True)
class Agent:
    """How an agent is started in a folder with a prompt, and what tells versions apart."""

    name: str
    kind: str
    model: str = ""

    def is_installed(self) -> bool:
        if self.kind == "mini":
            return "CUB_MINI_SWE_AGENT" in os.environ
        return find_agent(self.kind) is not None

    def make_start(self, url: str, home: Path, prompt: str) -> tuple[list[str], dict[str, str]]:
        """Return the command line and the environment."""
        if self.kind == "mini":
            python = os.environ["CUB_MINI_SWE_AGENT"]
            environ = {**environment(home), **_MINI_SETTINGS, "OPENAI_API_BASE": f"{url}/v1"}
            environ["MSWEA_GLOBAL_CONFIG_DIR"] = str(home)
            words = [python, "-m", "minisweagent.run.mini", "-m", "openai/scripted", "-t", prompt]
            return [*words, "-y", "--exit-immediately", "-l", "0", "-o", str(home / "t")], environ
        redirect = redirect_agent(self.kind, url, home)
        folder = find_agent(self.kind)
        path = os.environ["PATH"]
        environ = {**environment(home), **redirect.environ, "PATH": f"{folder}{os.pathsep}{path}"}
        if self.kind == "builtin":
            words = [sys.executable, "-m", "cub", "code", "-p", prompt, "--permissions", "bypass"]
            return [*words, "--model", self.model], environ
        if self.kind == "pi":
            return ["pi", "-p", "--mode", "json", *redirect.argv, prompt], environ
        words = ["opencode", "run", "--format", "json", "--auto", *redirect.argv]
        return [*words, "-m", redirect.model, prompt], environ


AGENTS = (
    Agent("cub, Anthropic's API", "builtin", "claude-sonnet-4-5"),
    Agent("cub, OpenAI's API", "builtin", "openai/gpt-4o"),
    Agent("pi", "pi"),
    Agent("opencode", "opencode"),
    Agent("mini-swe-agent", "mini"),
)


def list_agents(say_line: Callable[[str], None]) -> list[Agent]:
    """Return those that are installed; say which are not."""
    for agent in AGENTS:
        if not agent.is_installed():
            say_line(f"{agent.name} is left out: it is not installed for tests\n")
    return [agent for agent in AGENTS if agent.is_installed()]


@dataclass
class Run:
    """What an agent did: its exit code (None if it was killed after a limit) and all requests."""

    code: int | None = None
    requests: tuple[RecordedRequest, ...] = ()
    arrivals: list[float] = field(default_factory=list)
    first_cpu: float = 0.0
    cpu: float = 0.0
    largest: float = 0.0
    out: str = ""
    err: str = ""
    seconds: float = 0.0

    @property
    def main_requests(self) -> list[RecordedRequest]:
        return [one for one in self.requests if not one.is_side_request]


@dataclass
class Lab:
    """A folder in which agents work, each time in a new repository."""

    root: Path
    count: int = 0

    def make_folder(self, files: Mapping[str, bytes]) -> Path:
        self.count += 1
        folder = self.root / str(self.count) / "project"
        folder.mkdir(parents=True)
        (folder.parent / "home").mkdir()
        git(folder, "init", "-q")
        git(folder, "config", "user.email", "t@example.org")
        git(folder, "config", "user.name", "t")
        for name, content in {"AGENTS.md": b"# Rules\n", **files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder

    def run(
        self,
        agent: Agent,
        folder: Path,
        choose: Callable[[RecordedRequest], Reply],
        *,
        limit: float = 120,
        environ: Mapping[str, str] = {},
        words: Sequence[str] = (),
        prompt: str = "Do it.",
        interrupt: bool = False,
    ) -> Run:
        """Start an agent; kill it after `limit` seconds. `interrupt` sends INT before that."""
        found, started, lock = Run(), Event(), Lock()
        processes = list[subprocess.Popen[bytes]]()

        def answer(request: RecordedRequest) -> Reply:
            started.wait()
            with lock:
                if not found.arrivals:
                    found.first_cpu = _sum_cpu(processes[0].pid)
                found.arrivals.append(time.monotonic())
            return choose(request)

        with ModelServer(answer) as server, tempfile.TemporaryFile() as out:
            line, given = agent.make_start(server.url, folder.parent / "home", prompt)
            start = time.monotonic()
            processes.append(
                subprocess.Popen(
                    [sys.executable, _ONCE, *line, *words],
                    cwd=folder,
                    env={**given, "TERM": "xterm-256color", **environ},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
            started.set()
            if interrupt:
                _interrupt(processes[0], found)
            found.code = _wait(processes[0], limit)
            found.seconds = time.monotonic() - start
            out.seek(0)
            found.out = out.read().decode("utf-8", "replace")
            found.requests = server.requests
        with suppress(ValueError):
            spent = json.loads(found.out[found.out.rindex('{"cpu"') :])
            found.cpu, found.largest = spent["cpu"], spent["largest"]
        return found


def _interrupt(process: subprocess.Popen[bytes], found: Run) -> None:
    """Send INT, as a terminal does, 2 seconds after the first request."""
    while not found.arrivals:
        time.sleep(0.05)
    time.sleep(2)
    for one in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(one.pid) == process.pid:
                one.send_signal(signal.SIGINT)


def _wait(process: subprocess.Popen[bytes], limit: float) -> int | None:
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        tree = psutil.Process(process.pid).children(recursive=True)
        for one in tree:
            with suppress(psutil.Error):
                one.kill()
        process.wait(30)
        return None


def make_last_reply(agent: Agent) -> Reply:
    """Return the reply that ends a session; mini-swe-agent ends with a command."""
    return Reply("Done.", _LAST_COMMAND if agent.kind == "mini" else "")


def _sum_cpu(pid: int) -> float:
    """Return the seconds of CPU of the processes below one, their ended children included."""
    total = 0.0
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


def main(say_line: Callable[[str], None]) -> None:
    """Measure all agents in turn, and say the table."""
    agents = list_agents(say_line)
    say_line(f"{os.cpu_count()} cores, minimum of {RUNS} runs\n")
    say_line("| agent | CPU s to the first request | CPU ms a turn | memory, MB | request, KB |")
    say_line("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        lab = Lab(Path(name).resolve())
        runs: dict[str, list[tuple[Run, Run]]] = {agent.name: [] for agent in agents}
        for _ in range(RUNS + 1):
            for agent in agents:
                pair = (_run_turns(lab, agent, _SHORT), _run_turns(lab, agent, _LONG))
                runs[agent.name].append(pair)
                shutil.rmtree(lab.root / str(lab.count), ignore_errors=True)
        for agent in agents:
            say_line(_render(agent, runs[agent.name][1:]))


def _run_turns(lab: Lab, agent: Agent, count: int) -> Run:
    replies = iter([Reply(f"Step {number}.", f"echo {number}") for number in range(count)])
    last = make_last_reply(agent)
    found = lab.run(agent, lab.make_folder({}), lambda _: next(replies, last), limit=300)
    assert found.code == 0, found.out
    assert len(found.main_requests) == count + 1, (agent.name, len(found.main_requests))
    return found


def _render(agent: Agent, pairs: Sequence[tuple[Run, Run]]) -> str:
    start = min(one.first_cpu for pair in pairs for one in pair)
    shortest, longest = (min(pair[at].cpu for pair in pairs) for at in (0, 1))
    turn = (longest - shortest) / (_LONG - _SHORT) * 1000
    largest = max(pair[1].largest for pair in pairs) / 1e6
    size = len(json.dumps(dict(pairs[0][0].main_requests[0].body))) / 1000
    return f"| {agent.name} | {start:.2f} | {turn:.0f} | {largest:.0f} | {size:.1f} |"
