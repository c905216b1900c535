"""Runs with real agents against a model server in this process.

CUB_AGENTS names a folder that has each agent in a folder of its own: NAME/node_modules/.bin/NAME,
or NAME/bin/NAME. Agents that are not there are skipped, but for cub's own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.exchange import RecordedRequest
from cub.store.events import Event
from tests.actions.run.shop import Done, Shop, shop
from tests.model_server.faults import ModelServer, Reply

pytest.register_assert_rewrite("tests.agents.agent_runs")

PROGRAMS = {"claude-acp": "claude-agent-acp"}  # of agents whose name is another one
Replies = Iterable[Reply] | Callable[[RecordedRequest], Reply]
# Every line of `wrong` is a failing test.
CHECK = "sed 's/.*/FAILED tests\\/test_a.py::&/' wrong; test ! -s wrong && echo 1 passed"


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder outside of /dev: Codex's sandbox has a /dev of its own, without /dev/shm."""
    if not tmp_path.is_relative_to("/dev"):
        yield tmp_path
        return
    with TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@dataclass
class AgentProject:
    """A repository with a task and a check, an agent, and the model that it talks to."""

    agent: str
    shop: Shop
    server: ModelServer

    def run(self, **asked: Any) -> Done:
        """Run in this process to the end, with a clock that leaps over all waits."""
        return self.shop.run(**{"harness": self.agent, **asked})

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests for replies, without those for titles."""
        return [one for one in self.server.requests if not one.is_side_request]

    def hurry(self, event: Event) -> None:
        """Let a minute pass with each second of an attempt."""
        if event["ev"] == "tick":
            self.shop.clock.ahead += 60

    def kill_when_it_asks(self, _: Event) -> None:
        """Kill the agent, as the system does when memory is used up."""
        if self.server.requests:
            for process in self.list_processes():
                with suppress(psutil.Error):
                    process.kill()

    def list_processes(self) -> list[psutil.Process]:
        """The processes that have this project's HOME."""
        home = self.shop.environ["HOME"]
        return [process for process in psutil.process_iter() if _has_home(process, home)]


StartAgent = Callable[..., AgentProject]


@pytest.fixture
def start_agent(project: Path, home: Path) -> Iterator[StartAgent]:
    """Make a project whose agent gets these replies; no process may be left in the end."""
    with ExitStack() as stack:
        made: list[AgentProject] = []

        def start(agent: str, replies: Replies = (), **environ: str) -> AgentProject:
            program_folder = _find_program(agent)
            server = stack.enter_context(ModelServer(replies))
            redirect = redirect_agent(agent, server.url, home)
            new = shop(project, home)
            path = f"{program_folder}{os.pathsep}{new.environ['PATH']}"
            new.environ |= {**redirect.environ, "PATH": path, **environ}
            new.set_checks(CHECK)
            new.write("wrong", "")
            new.write(".gitignore", ".cub/\n")
            new.commit()
            new.task()
            made.append(AgentProject(agent, new, server))
            return made[-1]

        yield start
        assert [process.cmdline() for one in made for process in one.list_processes()] == []


def write_file(text: str, name: str = "new.txt") -> Reply:
    """A reply that has the agent write a file by a shell command."""
    return Reply("I write it.", f"printf '{text}\\n' > {name}")


def find_agent(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder with an agent's program, None if there is none. cub's own is this Python."""
    if name == "builtin":
        return Path(sys.executable).parent
    root, program = environ.get("CUB_AGENTS"), PROGRAMS.get(name, name)
    folders = [Path(root, name, "node_modules/.bin"), Path(root, name, "bin")] if root else []
    return next((one for one in folders if shutil.which(program, path=str(one))), None)


def _find_program(agent: str) -> Path:
    folder = find_agent(agent)
    if folder is None:
        is_set = "CUB_AGENTS" in os.environ
        pytest.skip(f"{agent} is not in CUB_AGENTS" if is_set else "CUB_AGENTS is not set")
    return folder


def _has_home(process: psutil.Process, home: str) -> bool:
    try:
        is_dead = process.status() == psutil.STATUS_ZOMBIE
        return not is_dead and process.environ().get("HOME") == home
    except psutil.Error:
        return False
