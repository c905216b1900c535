"""`python -m tests.benchmarks agent`: the built-in agent, beside what it is held to.

A start is that of a process, from its command line to its first request at a server on the loopback
address. Large results are those of whole processes, whose model is scripted.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import psutil

from cub.agent.context_window import SessionLimits
from cub.agent.conversation import Message, TextBlock, ToolCall, ToolResult, make_user_message
from cub.agent.events import Compaction
from cub.agent.session_file import SessionSummary, SessionWriter
from cub.agent.session_store import SessionStore
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.exchange import FINAL_REPLY, RecordedRequest, Reply
from cub.model_server.server import ModelServer
from tests.agent.doubles import (
    FakeModel,
    WordArguments,
    call,
    make_session,
    make_tool,
    make_toolbox,
    say,
)
from tests.benchmarks.map.processes import Place, cost, memory
from tests.conftest import environment, git

RUNS = 5
_TOOLS, _TOOL_SECONDS, _TOOLS_BAR = 8, 0.3, 0.36
_START_BAR = 0.6
_MODELS = {"anthropic": "claude-sonnet-4-5", "openai": "openai/gpt-4o"}
_SESSIONS = (2_500, 5_000, 10_000)
_SAVED, _SAVED_TURNS = 500, 10_000
_LARGE = 50_000_000
_CALLS: dict[str, dict[str, Any]] = {
    "nothing": {"Bash": {"command": "true"}},
    "Bash": {"Bash": {"command": f"head -c {_LARGE} /dev/zero | tr '\\0' x"}},
    "Bash, in lines": {"Bash": {"command": "cat large.txt"}},
    "Read": {"Read": {"file_path": "large.txt"}},
    "Grep": {"Grep": {"pattern": "price", "output_mode": "content"}},
    "Glob": {"Glob": {"pattern": "**/*.txt"}},
}


def main(say_line: Callable[[str], None]) -> None:
    """Measure, and say the tables."""
    say_line(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    say_line("| what | s | bar |")
    say_line("| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        seconds = statistics.median(_time_tools(folder) for _ in range(RUNS))
        say_line(f"| a turn with {_TOOLS} tools of 300 ms | {seconds:.3f} | {_TOOLS_BAR} |")
        for api, model in _MODELS.items():
            start = _measure_start(model, folder / api)
            say_line(
                f"| CPU from the start to the first request, {api} | {start:.2f} | {_START_BAR} |"
            )
        for count in _SESSIONS:
            seconds = statistics.median(_time_compaction(folder, count) for _ in range(RUNS))
            say_line(f"| compaction of {count:,} messages | {seconds:.3f} | linear |")
        for line in _measure_saved_sessions(folder / "sessions"):
            say_line(line)
        say_line("\n| `cub code` with a result of 50 MB | wall s | CPU s | memory, MB |")
        say_line("| --- | ---: | ---: | ---: |")
        for line in _measure_large_results(folder / "large"):
            say_line(line)


def _time_tools(folder: Path) -> float:
    def wait(_: WordArguments, __: ToolContext) -> ToolOutput:
        time.sleep(_TOOL_SECONDS)
        return ToolOutput("")

    model = FakeModel(call(*[("Wait", str(n)) for n in range(_TOOLS)]), say("Done."))
    session = make_session(make_toolbox(folder, [make_tool("Wait", wait)]), model)
    start = time.perf_counter()
    list(session.work_on("Wait."))
    return time.perf_counter() - start


def _measure_start(model: str, folder: Path) -> float:
    """Return the median of the CPU seconds that a process has used at its first request."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "AGENTS.md").write_text("# Rules\n", encoding="utf-8")
    started = Event()
    spent = list[float]()

    def answer(_: RecordedRequest) -> Reply:
        started.wait()
        times = psutil.Process(processes[-1].pid).cpu_times()
        spent.append(times.user + times.system)
        return FINAL_REPLY

    words = [sys.executable, "-m", "cub", "code", "-p", "Do it.", "--model", model]
    processes = list[subprocess.Popen[bytes]]()
    with ModelServer(answer) as server:
        environ = {**environment(folder), **redirect_agent("builtin", server.url, folder).environ}
        for _ in range(RUNS + 1):
            started.clear()
            null = subprocess.DEVNULL
            process = subprocess.Popen(words, cwd=folder, env=environ, stdout=null, stderr=null)
            processes.append(process)
            started.set()
            assert process.wait() == 0
    return statistics.median(spent[1:])


def _time_compaction(folder: Path, count: int) -> float:
    """Return the seconds of a session's first turn, in which its old messages are summarized."""
    session = make_session(
        make_toolbox(folder, []),
        FakeModel(say("Done.")),
        FakeModel(say("A summary.")),
        SessionLimits(1_000, 10_000),
    )
    for number in range(count // 2):
        one = ToolCall(str(number), "Read", {"file_path": f"shop/{number}.py"})
        result = ToolResult(str(number), (TextBlock("price = 1\n" * (number % 2_000)),))
        session.messages += [Message("assistant", (one,)), Message("user", (result,))]
    session.messages.insert(0, make_user_message("Read all."))
    start = time.perf_counter()
    events = list(session.work_on("Go on."))
    assert any(isinstance(event, Compaction) and event.kind == "auto" for event in events)
    return time.perf_counter() - start


def _measure_saved_sessions(folder: Path) -> Iterator[str]:
    """Yield rows about a list of many sessions, and about a long one that is resumed."""
    folder.mkdir()
    store = SessionStore(folder, folder)
    for number in range(_SAVED):
        _save_session(folder / f"s{number}.jsonl", 20)
    seconds = statistics.median(_time(store.list_sessions) for _ in range(RUNS))
    yield f"| CPU of a list of {_SAVED} sessions | {seconds:.3f} | 0.1 |"
    _save_session(folder / "long.jsonl", _SAVED_TURNS)
    session = make_session(make_toolbox(folder, []), FakeModel())
    seconds = statistics.median(
        _time(lambda: store.resume(session, "long").close()) for _ in range(RUNS)
    )
    yield f"| CPU to resume a session of {_SAVED_TURNS:,} turns | {seconds:.3f} | 1.0 |"


def _save_session(path: Path, turns: int) -> None:
    writer, prompt = SessionWriter(path), "Why does the test fail? " * 6
    messages = [make_user_message("Read all.")]
    for number in range(turns):
        one = ToolCall(str(number), "Read", {"file_path": f"shop/{number}.py"})
        result = ToolResult(str(number), (TextBlock("price = 1\n" * 400),))
        messages += [Message("assistant", (one,)), Message("user", (result,))]
        writer.save(messages, SessionSummary(path.stem, prompt=prompt, turns=number))
    writer.close()


def _time(act: Callable[[], object]) -> float:
    """Return the seconds of CPU that a call takes."""
    start = time.process_time()
    act()
    return time.process_time() - start


def _measure_large_results(folder: Path) -> Iterator[str]:
    folder.mkdir()
    git(folder, "init", "-q")
    line = "price = 1  # in cents, and never in euros\n"
    (folder / "large.txt").write_text(line * (_LARGE // len(line)), encoding="utf-8")
    place = Place(folder, "", folder)
    words = [sys.executable, "-m", "cub", "code", "-p", "x", "--permissions", "bypass"]
    words += ["--model", "scripted/replies.json", "--output-format", "stream-json"]
    for name, one in _CALLS.items():
        replies = [{"calls": [one]}, {"text": "Done."}]
        script = json.dumps({"conversations": [{"replies": replies}]})
        (folder / "replies.json").write_text(script, encoding="utf-8")
        spent, largest = cost(words, place), memory(words, place).largest
        yield f"| {name} | {spent.wall:.2f} | {spent.cpu:.2f} | {largest / 1e6:.0f} |"
