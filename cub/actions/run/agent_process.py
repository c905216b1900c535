"""Run an agent on one attempt, and end one that waits in vain."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import datetime

from cub.actions.run.attempt_values import AttemptSpec
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import (
    EVENTS_FILE,
    STDERR_FILE,
    AttemptFolder,
    RunFolder,
)
from cub.actions.run.verdict import AgentResult
from cub.actions.tasks.current_attempt import ATTEMPT_VARIABLES
from cub.checks.terminal_text import to_plain_text
from cub.harness.base import (
    AgentEvent,
    Harness,
    LaunchRequest,
    LineReader,
    Transcript,
    determine_cost,
)
from cub.masking import StreamMasker, mask_text
from cub.processes.command import (
    CommandSpec,
    OutputChunk,
    TimeLimits,
)
from cub.processes.runner import RunningCommand
from cub.store.events import Event

_MAX_LOG = 20 << 20  # bytes of an agent's output that are kept
_MAX_STDERR = 64 << 10  # bytes that are looked at, from the end
# Events of one attempt that are shown, and their characters; then one a tick. The file has all.
_MAX_SHOWN, _MAX_SHOWN_CHARS = 5_000, 4 << 20
_PROGRESS_KINDS = ("text", "tool")
_THROTTLED_KINDS = (*_PROGRESS_KINDS, "other")
_TICK_SECONDS = 1.0


def run_agent(
    context: RunContext, spec: AttemptSpec, request: LaunchRequest
) -> Generator[Event, None, AgentResult]:
    """Run an agent to its end; yield an event for what it reports, and a tick each second.

    Secrets are masked in events and in the result; the files of the attempt have all output.
    """
    command, harness = _make_command(context, spec, request), spec.harness
    limits = TimeLimits(context.settings.timeout, context.settings.idle_timeout)
    transcript, throttle = Transcript(), _EventThrottle(context, request)
    timer, is_over_budget, is_ended_early = RefusalTimer(harness), False, False
    refusal: AgentEvent | None = None  # for which it was ended
    with ExitStack() as stack:
        # Open the logs before the agent can make their names lead elsewhere.
        output = stack.enter_context(closing(_LoggedOutput(harness.open_reader(), spec.files)))
        running = stack.enter_context(
            RunningCommand(command, limits, context.stop, tick_seconds=_TICK_SECONDS)
        )
        for chunk in running.iter_output():
            if not chunk.stream:
                yield from throttle.flush_pending()
                yield context.make_event("tick", task=request.task_id)
                if timer.is_over(transcript, context.clock.now()):
                    refusal = transcript.refusal
                    running.terminate()
            for event in output.read(chunk):
                transcript.add_event(event)
                yield from throttle.accept(event)
                if event.tokens is not None or event.usd is not None:
                    used = context.budget.with_attempt(transcript.tokens, transcript.usd)
                    is_over_budget = used.is_exceeded
                # Not at other events: an agent that has come to its end may say so.
                if is_over_budget and event.kind in _PROGRESS_KINDS:
                    is_ended_early = True
                    running.terminate()
        for event in output.finish():
            transcript.add_event(event)
            yield from throttle.accept_now(event)
        yield from throttle.flush_pending()
        yield context.make_event("tick", task=request.task_id)  # saves the last words
    # What it still says when it is ended is no answer of its model.
    transcript.refusal = refusal or transcript.refusal
    cost = determine_cost(transcript, request.model)
    return AgentResult(running.result, transcript, output.stderr, cost, is_ended_early)


def _make_command(context: RunContext, spec: AttemptSpec, request: LaunchRequest) -> CommandSpec:
    """Return the agent's command, behind the walls of its place."""
    start, folder, place = spec.harness.build_command(request), context.folder, spec.place
    root = place.get_inner_root(place.tree)
    values = (folder.id, spec.task_id, str(spec.files.path), spec.harness.name)
    environ = dict(context.environ) | dict(zip(ATTEMPT_VARIABLES, values, strict=True))
    environ["CUB_ROOT"] = os.fspath(root)
    path = environ.get("PATH")
    if shutil.which("cub", path=path) is None:
        with context.lock:
            shim = _make_cub_shim(folder)
        environ["PATH"] = os.pathsep.join(filter(None, [path, shim]))
    argv = (*context.settings.wrapper, *start.argv)
    environ |= start.environ
    start.write_files(place.folder.mailbox)
    return place.confine(CommandSpec(argv, root, environ, start.stdin, spec.mark), place.tree)


def _make_cub_shim(folder: RunFolder) -> str:
    """Return a folder with this cub in it, for agents on a machine where it is not in PATH."""
    shim = folder.path / "bin" / "cub"
    if not shim.exists():
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cub "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    return str(shim.parent)


# Seconds for which an agent may try again by itself after it has reported a refusal.
_PATIENCE = {"limit": 120, "login": 15, "service": 120, "setup": 15}
_FEW_SECONDS = 10  # for an agent that ends by itself


@dataclass(slots=True)
class RefusalTimer:
    """Find out when an agent that was refused waits in vain.

    The run can wait for a limit's end without an agent, or go on with another one.
    """

    harness: Harness
    _since: datetime | None = None

    def is_over(self, transcript: Transcript, now: datetime) -> bool:
        """Return whether the agent should be ended now."""
        if transcript.refusal is None:
            self._since = None
            return False
        self._since = self._since or now
        seconds = float(_PATIENCE[transcript.refusal.kind])
        refusal = self.harness.find_refusal(transcript, "", self._since)
        if refusal and refusal.reset_time:
            wait = (refusal.reset_time - self._since).total_seconds()
            seconds = wait + _FEW_SECONDS if wait <= seconds else _FEW_SECONDS
        return (now - self._since).total_seconds() >= seconds


@dataclass(slots=True)
class _EventThrottle:
    """Pass an agent's events on as events of the run, without secrets.

    Of progress beyond `_MAX_SHOWN` or `_MAX_SHOWN_CHARS`, the newest event waits for the next tick.
    """

    context: RunContext
    request: LaunchRequest
    _count: int = 0
    _char_count: int = 0
    _newest: AgentEvent | None = None
    _mask: StreamMasker = field(default_factory=StreamMasker)

    def accept(self, event: AgentEvent) -> Sequence[Event]:
        """Return the event if it is passed on now."""
        if event.kind in _THROTTLED_KINDS:
            self._count += 1
            self._char_count += len(event.text)
            if self._count > _MAX_SHOWN or self._char_count > _MAX_SHOWN_CHARS:
                if event.kind in _PROGRESS_KINDS:
                    self._skip_newest()
                    self._newest = event
                return ()
        return self.accept_now(event)

    def flush_pending(self) -> Iterator[Event]:
        """Yield the event that waits, if there is one."""
        if self._newest:
            yield self._make_event(self._newest)
        self._newest = None

    def accept_now(self, event: AgentEvent) -> Sequence[Event]:
        """Return an event that is passed on in any case."""
        if event.kind == "text":
            self._skip_newest()
        return (self._make_event(event),)

    def _skip_newest(self) -> None:
        if self._newest and self._newest.kind == "text":
            self._mask.skip(self._newest.text)  # not shown, but a secret may start or end in it
        self._newest = None

    def _make_event(self, event: AgentEvent) -> Event:
        mask = self._mask.mask if event.kind == "text" else mask_text
        event = event._replace(text=mask(event.text)) if event.text else event
        task_id, number = self.request.task_id, self.request.attempt
        return self.context.make_event("client", task=task_id, n=number, **event.to_dict())


class _LoggedOutput:
    """Read an agent's output as events, and write it to the files of the attempt."""

    def __init__(self, reader: LineReader, files: AttemptFolder) -> None:
        self._reader = reader
        self._errors = bytearray()
        self._out, self._err = _CappedLog(files, EVENTS_FILE), _CappedLog(files, STDERR_FILE)

    def read(self, chunk: OutputChunk) -> Iterable[AgentEvent]:
        """Return the events of a chunk of stdout or stderr; none for a tick."""
        if not chunk.stream:
            return ()
        if chunk.stream == "err":
            self._err.write(chunk.data)
            self._errors = (self._errors + chunk.data)[-_MAX_STDERR:]
            return self._reader.read_errors(chunk.data)
        self._out.write(chunk.data)
        return self._reader.read(chunk.data)

    def finish(self) -> Iterable[AgentEvent]:
        """Return the events that only the end of stdout makes certain."""
        return self._reader.finish()

    @property
    def stderr(self) -> str:
        """Return the end of stderr, without secrets."""
        return mask_text(to_plain_text(self._errors.decode("utf-8", "replace")))

    def close(self) -> None:
        """Close the files."""
        self._out.close()
        self._err.close()


class _CappedLog:
    """Write a log up to a size, and say in it that there was more."""

    def __init__(self, files: AttemptFolder, name: str) -> None:
        self._left = _MAX_LOG
        self._file = files.open_file(name)

    def write(self, data: bytes) -> None:
        """Append bytes; a full disk costs the rest of the log, and not the attempt."""
        with suppress(OSError):
            if self._left > 0:
                self._file.write(data[: self._left])
                if len(data) > self._left:
                    self._file.write(b"\n[cub keeps no more of this]\n")
                self._file.flush()  # `cub run logs -f` reads along
                self._left -= len(data)

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            self._file.close()
