"""A client at work on one attempt: started, listened to, and ended when its time is over.

The clients of a run whose program is there: looked at before anything is begun.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Self

from cub.actions.run.run_context import Budget
from cub.actions.run.run_folders import (
    AGENT_END_FILE,
    EVENTS_FILE,
    STDERR_FILE,
    AttemptFolder,
    RunFolder,
)
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.current_attempt import (
    ATTEMPT_VARIABLE,
    RUN_VARIABLE,
    TASK_VARIABLE,
    AttemptMark,
    encode_mark,
)
from cub.checks.terminal_text import to_plain_text
from cub.errors import CubError
from cub.git.process import try_git
from cub.harness.base import AgentEvent, Harness, LaunchRequest, Transcript
from cub.harness.custom_harness import CONFIG_PATH
from cub.harness.event_protocol import LineSplitter
from cub.masking import StreamMasker, mask_text
from cub.processes.command import (
    CommandSpec,
    ProcessResult,
    StopRequest,
    TimeLimits,
    explain_missing_program,
)
from cub.processes.runner import RunningCommand
from cub.project.project import Project

_KEPT = 20 << 20  # bytes of a client's output that are kept
_ERRORS = 64 << 10  # bytes of stderr that are looked at
_SHOWN = 5_000  # texts of one attempt, then one a tick, are passed on; all are in the file
_GOING_ON = ("text", "tool")
TICK_SECONDS = 1.0  # seconds
RUN_MARK_VARIABLE = RUN_VARIABLE
_OWN = (RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE, "CUB_AGENT")


class AgentResult(NamedTuple):
    """How a client ended, what it told, the end of its stderr without secrets."""

    process: ProcessResult
    transcript: Transcript
    stderr: str


class AgentRunSpec(NamedTuple):
    """All that a client is started with."""

    harness: Harness
    request: LaunchRequest
    folder: Path
    environ: Mapping[str, str]
    mark: str
    wrapper: Sequence[str]
    time_limits: TimeLimits
    stop: StopRequest
    budget: Budget


def run_agent(
    spec: AgentRunSpec, files: AttemptFolder
) -> Generator[AgentEvent | None, None, AgentResult]:
    """Run the client to its end; yields what it tells, and None now and then.

    What is yielded, and the end of stderr, is without secrets; the files have all of it.
    """
    start = spec.harness.build_command(spec.request)
    argv = (*spec.wrapper, *start.argv)
    environ = {**spec.environ, **start.environ}
    command = CommandSpec(argv, spec.folder, environ, start.stdin, spec.mark)
    told, lines, stream = Transcript(), LineSplitter(), spec.harness.open_reader()
    errors, passing = bytearray(), _EventThrottle()
    with ExitStack() as stack:
        # Before the client can have their names lead elsewhere.
        out, err = (
            stack.enter_context(_CappedLog(files, name)) for name in (EVENTS_FILE, STDERR_FILE)
        )
        running = stack.enter_context(
            RunningCommand(
                command, spec.time_limits, spec.stop, files.state / AGENT_END_FILE, TICK_SECONDS
            )
        )
        for piece in running.iter_output():
            if piece.stream == "err":
                err.write(piece.data)
                errors = (errors + piece.data)[-_ERRORS:]
                continue
            if not piece.stream:
                yield from passing.flush_pending()
                yield None
                continue
            out.write(piece.data)
            for line in lines.feed(piece.data):
                for event in stream.read_line(line):
                    told.add_event(event)
                    yield from passing.accept(event)
                    # Who has come to an end may say so: what is paid for is not thrown away.
                    if event.kind in _GOING_ON and spec.budget.with_attempt(told).is_exceeded:
                        running.terminate()
        for line in lines.flush():
            for event in stream.read_line(line):
                told.add_event(event)
                yield from passing.accept_now(event)
    return AgentResult(
        running.result, told, mask_text(to_plain_text(errors.decode("utf-8", "replace")))
    )


def build_environment(
    hidden: Sequence[str], environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """What clients and checks get of this environment: all but what is hidden, and but what
    tells of an attempt that this very process is a part of.
    """
    return {
        name: value
        for name, value in environ.items()
        if name not in _OWN and not any(fnmatchcase(name, pattern) for pattern in hidden)
    }


def build_attempt_environment(
    folder: RunFolder,
    files: AttemptFolder,
    task: str,
    harness_name: str,
    environ: Mapping[str, str],
) -> dict[str, str]:
    """What a client gets beyond that: which attempt it is a part of, and a `cub` to call."""
    own = (folder.id, task, str(files.path), harness_name)
    found = {**environ, **dict(zip(_OWN, own, strict=True)), "CUB_ROOT": str(folder.root)}
    if shutil.which("cub", path=environ.get("PATH")) is None:
        found["PATH"] = os.pathsep.join(filter(None, [environ.get("PATH"), _make_cub_shim(folder)]))
    return found


def make_attempt_mark(folder: RunFolder, files: AttemptFolder, task: str) -> str:
    """Return what all processes of an attempt are told by, whatever their environment says."""
    return encode_mark(AttemptMark(str(folder.root), task, str(files.state)))


def _make_cub_shim(folder: RunFolder) -> str:
    """A folder with this cub in it, for agents on a machine where it is not in PATH."""
    shim = folder.path / "bin" / "cub"
    if not shim.exists():
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cub "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    return str(shim.parent)


@dataclass(slots=True)
class _EventThrottle:
    """Which events are passed on, without secrets: all but for texts beyond the first `_SHOWN`, of
    which the newest one waits for the next tick.
    """

    _texts: int = 0
    _newest: AgentEvent | None = None
    _mask: StreamMasker = field(default_factory=StreamMasker)

    def accept(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """The event, if it is passed on now."""
        self._texts += event.kind == "text"
        if event.kind != "text" or self._texts <= _SHOWN:
            yield from self.accept_now(event)
            return
        if self._newest:  # nobody sees it, but a key may begin or end in it
            self._mask.skip(self._newest.text)
        self._newest = event

    def flush_pending(self) -> Iterator[AgentEvent]:
        """The text that waits, if there is one."""
        if self._newest:
            yield self._mask_event(self._newest)
        self._newest = None

    def accept_now(self, event: AgentEvent) -> Iterator[AgentEvent]:
        """An event that is passed on in any case."""
        if event.kind == "text" and self._newest:
            self._mask.skip(self._newest.text)
            self._newest = None
        yield self._mask_event(event)

    def _mask_event(self, event: AgentEvent) -> AgentEvent:
        if not event.text:
            return event
        mask = self._mask.mask if event.kind == "text" else mask_text
        return replace(event, text=mask(event.text))


class _CappedLog:
    """A file that takes what it is given up to a size, and says that there was more."""

    def __init__(self, files: AttemptFolder, name: str) -> None:
        self._left = _KEPT
        self._file = files.open_file(name)

    def __enter__(self) -> Self:
        return self

    def write(self, data: bytes) -> None:
        """Add to it."""
        with suppress(OSError):  # a full disk costs the rest of a log, and not the attempt
            if self._left > 0:
                self._file.write(data[: self._left])
                if len(data) > self._left:
                    self._file.write(b"\n[cub keeps no more of this]\n")
                self._left -= len(data)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()


# Wrappers that start the program behind them on this machine, as it would be without them.
_TRANSPARENT = (
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "timeout", "caffeinate",
)  # fmt: skip


class MissingProgram(NamedTuple):
    """A client that can't be started: why, and the key that names the program."""

    harness: str
    why: str
    key: str

    def to_text(self) -> str:
        """For a person, where another client goes on."""
        return f"the client {self.harness} is left out: {self.why} ({self.key})"


def find_missing_programs(
    harnesses: Sequence[Harness],
    settings: RunSettings,
    project: Project,
    environ: Mapping[str, str],
) -> list[MissingProgram]:
    """The clients that can't be started, as far as the first word of a command tells."""
    given = build_environment(settings.hidden_variables, environ)
    found = (_look(one, settings, project, {**given, **one.environ}) for one in harnesses)
    return [one for one in found if one]


def require_available(
    harnesses: Sequence[Harness], missing: Sequence[MissingProgram]
) -> list[Harness]:
    """The clients that are there. CubError, with what to do, if there is none."""
    names = {one.harness for one in missing}
    if there := [client for client in harnesses if client.name not in names]:
        return there
    first = missing[0]
    if len(missing) == 1:
        raise CubError(
            f"the client {first.harness} can't be started: {first.why}",
            where=f"{CONFIG_PATH}: {first.key}",
            hint=_hint(first),
        )
    raise CubError(
        "none of the clients can be started",
        where=CONFIG_PATH,
        hint=_hint(first),
        details=[f"{one.harness}: {one.why} ({one.key})" for one in missing],
    )


def _look(
    harness: Harness, settings: RunSettings, project: Project, environ: Mapping[str, str]
) -> MissingProgram | None:
    words = [("run.wrap", one) for one in settings.wrapper[:1]]
    if not words or posixpath.basename(settings.wrapper[0]) in _TRANSPARENT:
        words.append((f"harnesses.{harness.name}.argv", harness.program))
    for key, name in words:
        if name and (why := _why(name, settings, project, environ)):
            return MissingProgram(harness.name, why, key)
    return None


def _why(name: str, settings: RunSettings, project: Project, environ: Mapping[str, str]) -> str:
    if settings.options.worktree and "/" in name and not name.startswith("/"):
        return "" if settings.branch_template else _why_not_committed(name, project.root)
    return explain_missing_program(name, project.root, environ)


def _why_not_committed(name: str, folder: Path) -> str:
    """A work tree has what is committed; of another branch than this one, nobody looks."""
    answer = try_git(folder, "ls-tree", "HEAD", "--", posixpath.normpath(name))
    if answer.exit_code == 0 and not answer.stdout:
        return f"{name} is not in the last commit, and a work tree has nothing else"
    return ""


def _hint(missing: MissingProgram) -> str:
    name = missing.why.split(" ", 1)[0]
    if name.startswith("~"):
        return "write the whole path: no shell replaces `~`"
    if missing.why.endswith("is not executable"):
        return f"`chmod +x {name}`"
    if missing.why.endswith("nothing else"):
        return "commit it, or write its whole path"
    return "install it, add its folder to PATH, or name another client with --harness"
