"""A small repository with tasks, and runs in it: in this process, with a clock that leaps."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import psutil

from cub.actions.command_options import RunOptions
from cub.actions.run.notifications import send_notifications
from cub.actions.run.run_context import Clock
from cub.actions.run.run_loop import run_tasks
from cub.actions.run.run_setup import RunEnvironment, prepare_run
from cub.actions.run.run_status import RunStatus, save_status
from cub.actions.tasks.stores import Stores, install_git_files, open_stores
from cub.config_edit.config_text import parse_config_text
from cub.edit.plan import PlanWarning
from cub.files.lock import lock_project
from cub.processes.command import StopRequest
from cub.project.project import Project
from cub.store.events import Event
from cub.store.ledger import Ledger
from cub.store.store_paths import TASKS_FILE
from cub.store.task_index import TaskIndex
from tests.actions.helpers import put_programs
from tests.command_line import Result
from tests.conftest import git
from tests.fork_server import start_cub

# A check that needs no test runner: every word of `wrong` fails, by its name.
CHECK = "test ! -s wrong || { cat wrong; exit 1; }"


class LeapingClock(Clock):
    """The time of the machine, plus what was waited for without waiting."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self.waits: list[datetime] = []

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead)

    def wait(self, until: datetime, stop: StopRequest) -> bool:
        self.waits.append(until)
        self.ahead += max(0.0, (until - self.now()).total_seconds())
        return stop.is_requested


@dataclass
class Done:
    """The events of a run, and what they say in the end."""

    events: list[Event]
    clock: LeapingClock
    warnings: list[PlanWarning]

    def of(self, name: str) -> list[Event]:
        return [event for event in self.events if event["ev"] == name]

    @property
    def end(self) -> Event:
        return self.of("run_end")[-1]

    @property
    def outcomes(self) -> list[str]:
        ends = self.of("attempt_end")
        return ["ok" if event["ok"] else event["fail"]["class"] for event in ends]

    @property
    def notices(self) -> str:
        return "\n".join(event["text"] for event in self.of("notice"))


@dataclass
class Shop:
    """A repository at `root`; `environ` is what a run gets of the environment."""

    root: Path
    environ: dict[str, str]
    clock: LeapingClock = field(default_factory=LeapingClock)

    @property
    def cub(self) -> Path:
        return self.root / ".cub"

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def add_git_files(self) -> None:
        """Add what cub tells git of its own files."""
        with lock_project(self.root) as held:
            install_git_files(held)

    def commit(self, message: str = "start") -> str:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", message)
        return self.head

    @property
    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD").strip()

    def log(self) -> list[str]:
        return git(self.root, "log", "--format=%s").splitlines()

    def dirt(self) -> str:
        return git(self.root, "status", "--porcelain", "--", ".", ":!.cub")

    def task(self, key: str = "s-1", **fields: Any) -> None:
        task = {
            "id": key,
            "title": f"Do {key}",
            "status": "open",
            "created_at": f"2026-01-01T08:00:{len(self.tasks()):02d}.000Z",
            **fields,
        }
        self.cub.mkdir(exist_ok=True)
        with (self.root / TASKS_FILE).open("a") as file:
            file.write(json.dumps(task) + "\n")

    def add_tasks(self, count: int, **fields: Any) -> None:
        """Add the tasks s-1, s-2, and so on."""
        for number in range(1, count + 1):
            self.task(f"s-{number}", **fields)

    def tasks(self) -> TaskIndex:
        file = self.root / TASKS_FILE
        return TaskIndex.parse(file.read_bytes() if file.exists() else b"")

    def status(self, key: str = "s-1") -> str:
        return self.tasks()[key].status

    def record(self, key: str = "s-1") -> dict[str, Any]:
        return self.tasks().read_record(key)

    @property
    def stores(self) -> Stores:
        """Both stores, as a command of a person opens them."""
        return open_stores(Project.load(self.root), "ida")

    def ledger(self, *kinds: str) -> list[Event]:
        return [e for e in Ledger(self.root).iter_events() if not kinds or e["ev"] in kinds]

    def script(self, tasks: dict[str, list[dict[str, Any]]]) -> None:
        """What the scripted client does; JSON is YAML, too."""
        self.write(".cub/script.yaml", json.dumps({"tasks": tasks}))

    def client(self, shell: str, name: str = "mine", **more: Any) -> None:
        """A client of the configuration, beside those that are there."""
        config = self._read_config()
        one = {"argv": ["/bin/sh", "-c", shell], **more}
        config.setdefault("harnesses", {})[name] = one
        self.write(".cub/config.yaml", json.dumps(config))

    def configure(self, **keys: Any) -> None:
        self.write(".cub/config.yaml", json.dumps({**self._read_config(), **keys}))

    def _read_config(self) -> dict[str, Any]:
        file = self.cub / "config.yaml"
        return parse_config_text(file.read_bytes(), "").python_value if file.exists() else {}

    def open_folder(self) -> Path:
        """Make the folder `$OUT`, which agents and checks may write to beside their place."""
        folder = self.root.parent / "out"
        folder.mkdir(exist_ok=True)
        self.environ["OUT"] = folder.as_posix()
        run = self._read_config().get("run", {})
        self.configure(run={**run, "writable": [folder.as_posix()]})
        return folder

    def set_checks(self, *checks: str) -> None:
        """Configure what decides."""
        self.configure(run={**self._read_config().get("run", {}), "checks": list(checks)})

    @property
    def has_checks(self) -> bool:
        """Whether the project or a task has a check."""
        own = (self.tasks().read_record(task.id).get("checks") for task in self.tasks())
        return bool(self._read_config().get("run", {}).get("checks")) or any(own)

    def run(
        self,
        *,
        stop_at: Callable[[Event], bool] | None = None,
        each: Callable[[Event], None] | None = None,
        cwd: Path | None = None,
        **asked: Any,
    ) -> Done:
        """Run to the end; a stop is requested at the first event that `stop_at` is true of.

        `checks` are the project's; without any, and without any of the tasks, none decides. `check`
        is one of the command line.
        """
        given = {"harness": "mine", "trust": True, **asked}
        if checks := given.pop("checks", None):
            self.set_checks(*([checks] if isinstance(checks, str) else checks))
        if check := given.pop("check", None):
            given["checks"] = (check,)
        if not (check or self.has_checks):
            given.setdefault("no_checks", True)
        stop, events, warnings = StopRequest(), list[Event](), list[PlanWarning]()
        try:
            stores = open_stores(Project.load(self.root), "cub run")
            around = RunEnvironment(stop, self.environ, clock=self.clock, cwd=cwd or self.root)
            with prepare_run(stores, RunOptions(**given), around) as it:
                # What a test calls meanwhile is a person's, although this process is above it.
                it.context.folder.write_run_facts({**it.context.folder.read_state(), "pid": 0})
                events += it.events
                warnings += it.warnings
                told = send_notifications(run_tasks(it.context), it.context)
                for event in save_status(told, it.context.folder, RunStatus()):
                    events.append(event)
                    if each:
                        each(event)
                    if stop_at and stop_at(event):
                        stop.request()
        finally:
            stop.close()
        return Done(events, self.clock, warnings)

    def run_agent(self, shell: str, **asked: Any) -> Done:
        """Run with an agent that reads its prompt, and then does this in a shell.

        It works on the task s-1, unless other tasks are there.
        """
        self.client(f"cat > /dev/null; {shell}")
        if not self.tasks().summaries:
            self.task()
        return self.run(**asked)

    def read_prompt(self, done: Done, which: int = -1) -> str:
        """Read what the agent was sent at one of a run's attempts."""
        log = str(done.of("attempt_end")[which]["log"])
        return (self.root / log / "prompt.md").read_text()

    def install_program(self, name: str, script: str) -> Path:
        """Write a program that agents and checks find by its name."""
        folder = put_programs(self.root.parent / "bin", name, script=script)
        if not self.environ["PATH"].startswith(f"{folder}:"):
            self.environ["PATH"] = f"{folder}:{self.environ['PATH']}"
        return folder / name

    def install_hook(self, name: str, shell: str) -> None:
        """Have git run this in a shell at one of its moments."""
        self.write(f".git/hooks/{name}", f"#!/bin/sh\n{shell}\n").chmod(0o755)

    def call(self, *words: str, **environ: str) -> Result:
        """Run `cub` with these words as a process of its own, and wait for its end."""
        with TemporaryFile() as out, TemporaryFile() as err, Path(os.devnull).open("rb") as null:
            process = start_cub(
                words,
                cwd=self.root,
                environ={**self.environ, **environ},
                descriptors=(null.fileno(), out.fileno(), err.fileno()),
            )
            code = process.wait()
            for stream in (out, err):
                stream.seek(0)
            return Result(code, out.read().decode(), err.read().decode())

    def attempt(self, run: str, number: int = 1, task: str = "s-1") -> Path:
        return self.cub / "runs" / run / task / str(number)


def shop(root: Path, home: Path) -> Shop:
    """A repository with a first commit, and git with a person of its own."""
    git(root, "config", "user.name", "t")
    git(root, "config", "user.email", "t@t")
    made = Shop(root, surroundings(home))
    made.write("kept.txt", "kept\n")
    made.commit()
    return made


def surroundings(home: Path) -> dict[str, str]:
    """What clients, checks and hooks may need of the environment."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "PYTHON": sys.executable,
    }


def alive(pids: Iterable[int]) -> list[int]:
    """Those processes that are there, and no zombies."""
    return [pid for pid in pids if _is_running(pid)]


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
