"""Execute the calls of one reply: those that change nothing side by side, all others alone.

    [Read 1, Read 2, Write 3, Read 4]     Read 1  ####
                                          Read 2  ######
                                          Write 3       ####
                                          Read 4            ###

A call that changes something waits until the reply has ended and all calls before it are done, and
calls after it wait for it. One thread decides what starts; each call runs in a thread of its own.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from cub.agent.conversation import ImageBlock, TextBlock, ToolCall, ToolResult
from cub.agent.events import ResultSource, ToolEnd, ToolStart
from cub.agent.explore_cache import CacheKey, ExploreCache
from cub.agent.permissions import Permissions
from cub.agent.tools.tool import AnyTool, ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import ToolError, parse_arguments
from cub.agent.tools.tool_text import MAX_RESULT_CHARS
from cub.errors import CubError
from cub.masking import mask_text
from cub.text import cut_middle, describe_os_error

MAX_CONCURRENT = 8
_MAX_SUMMARY_CHARS = 200
_MAX_ASKED_CHARS = 4_000
_CANCELLED = "This call was cancelled by the user before it was finished."


class ApprovalRequest(NamedTuple):
    """Hold a call that needs a person's approval, all that it is about, and why it does."""

    call: ToolCall
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Hold the tools of a session, by name, and all that decides whether and how they run.

    `approve` asks a person, and returns why a call may not run, "" if it may. `take_rules` returns
    the rules for a file that the model does not have, "" for none; `restore_rules` makes it return
    all again.
    """

    tools: Mapping[str, AnyTool]
    context: ToolContext
    permissions: Permissions
    cache: ExploreCache
    approve: Callable[[ApprovalRequest], str]
    take_rules: Callable[[Path], str]
    restore_rules: Callable[[], None]

    def forget_results(self) -> None:
        """Note that the model no longer has the results of its calls before it."""
        self.context.reads.clear()
        self.cache.clear()
        self.restore_rules()


class FinishedCall(NamedTuple):
    """Hold what the thread of a call reports: its output, or why it has failed."""

    number: int
    output: ToolOutput
    is_error: bool


@dataclass(slots=True)
class _Job:
    number: int
    call: ToolCall
    tool: AnyTool | None
    summary: str
    result: ToolResult | None = None
    started: float = 0.0
    cache_key: CacheKey | None = None

    @property
    def is_concurrent(self) -> bool:
        return self.tool is None or self.tool.is_concurrent


@dataclass(slots=True)
class CallBatch:
    """Execute the calls of one reply; `report` takes finished calls from their threads.

    All methods belong to one thread, which hands what was reported to `finish_call`.
    """

    toolbox: Toolbox
    report: Callable[[FinishedCall], None]
    _jobs: list[_Job] = field(default_factory=list)
    _waiting: deque[_Job] = field(default_factory=deque)
    _running: dict[int, _Job] = field(default_factory=dict)  # by their numbers
    _has_reply_ended: bool = False

    @property
    def is_done(self) -> bool:
        """Return whether all calls have a result."""
        return not (self._waiting or self._running)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the results, in the order of the calls."""
        return tuple(job.result for job in self._jobs if job.result)

    def add_call(self, call: ToolCall) -> Iterator[ToolStart | ToolEnd]:
        """Take a call of a reply that is still being written; yield what starts or ends."""
        tool = self.toolbox.tools.get(call.name)
        subject = tool.get_subject(call.arguments) if tool else ""
        summary = mask_text(" ".join(f"{call.name} {subject}".split()))[:_MAX_SUMMARY_CHARS]
        self._jobs.append(_Job(len(self._jobs), call, tool, summary))
        self._waiting.append(self._jobs[-1])
        yield from self._start_ready_jobs()

    def end_reply(self) -> Iterator[ToolStart | ToolEnd]:
        """Note that the reply is complete, so calls that change something may start."""
        self._has_reply_ended = True
        yield from self._start_ready_jobs()

    def finish_call(self, finished: FinishedCall) -> Iterator[ToolStart | ToolEnd]:
        """Take what a thread has reported; yield its end, and what can start then."""
        job = self._running.get(finished.number)
        if job is None or job.tool is None:  # cancelled meanwhile
            return
        cache, output = self.toolbox.cache, finished.output
        if not finished.is_error:
            cache.store_output(job.cache_key, output)
        for path in output.changed:
            cache.invalidate_path(path)
        if job.tool.effect == "command":
            cache.invalidate_all()
        yield self._end_job(job, output, "tool", is_error=finished.is_error)
        yield from self._start_ready_jobs()

    def cancel(self) -> Iterator[ToolEnd]:
        """Give every call that waits, or runs and changes nothing, a result that says so.

        A command that runs is ended by the stop of the tools' context, and reports that itself.
        """
        cancelled = [job for job in self._running.values() if job.is_concurrent]
        cancelled += self._waiting
        self._waiting.clear()
        for job in cancelled:
            yield self._end_job(job, ToolOutput(_CANCELLED), "cancelled", is_error=True)

    def _start_ready_jobs(self) -> Iterator[ToolStart | ToolEnd]:
        """Start what may run now, in the order of the calls."""
        while self._waiting and self._may_start(self._waiting[0]):
            yield from self._start_job(self._waiting.popleft())

    def _may_start(self, job: _Job) -> bool:
        """Return whether the first call that waits may run beside those that do."""
        if self.toolbox.context.stop.is_requested:  # perhaps while a person was asked
            return False
        if not job.is_concurrent:
            return not self._running and self._has_reply_ended
        is_free = len(self._running) < MAX_CONCURRENT
        return is_free and all(other.is_concurrent for other in self._running.values())

    def _start_job(self, job: _Job) -> Iterator[ToolStart | ToolEnd]:
        """Run a job in a thread, or end it at once: refused, known, or not a call at all."""
        self._running[job.number], job.started = job, time.monotonic()
        yield ToolStart(job.call, job.summary)
        context, cache = self.toolbox.context, self.toolbox.cache
        try:
            tool, arguments = self._check_call(job)
        except CubError as error:
            yield self._end_job(job, _describe_error(error), "tool", is_error=True)
            return
        if refusal := self._find_refusal(job, tool):
            yield self._end_job(job, ToolOutput(refusal), "denied", is_error=True)
            return
        job.cache_key = cache.make_key(tool, job.call.arguments, context)
        if output := cache.find_output(job.cache_key):
            yield self._end_job(job, output, "cache", is_error=False)
            return
        Thread(target=self._run, args=(job.number, tool, arguments), daemon=True).start()

    def _check_call(self, job: _Job) -> tuple[AnyTool, Any]:
        """Return the tool and its arguments. Raises ToolError for a call that is not valid."""
        if job.tool is None:
            names = ", ".join(self.toolbox.tools)
            raise ToolError(f"there is no tool {job.call.name!r}", hint=f"choose from {names}")
        if job.call.fault:
            raise ToolError(job.call.fault)
        return job.tool, parse_arguments(job.tool.arguments, job.call.arguments)

    def _find_refusal(self, job: _Job, tool: AnyTool) -> str:
        """Return why a call may not run; "" if it may, perhaps because a person has approved it."""
        toolbox = self.toolbox
        answer, reason = toolbox.permissions.decide(tool, job.call.arguments, toolbox.context)
        if answer == "ask":
            # No part of a command is left out: a person would approve what is not shown.
            text = mask_text(tool.get_subject(job.call.arguments))
            if len(text) > _MAX_ASKED_CHARS:
                reason += ", and it is too long to show for approval"
            else:
                reason = toolbox.approve(ApprovalRequest(job.call, text, reason))
        return f"not allowed: {reason}" if answer != "allow" and reason else ""

    def _run(self, number: int, tool: AnyTool, arguments: Any) -> None:
        """Run a call, in its thread, and report its end; whatever happens becomes a result."""
        output, is_error = ToolOutput(""), True
        try:
            output = tool.run(arguments, self.toolbox.context)
            is_error = False
        except CubError as error:
            output = _describe_error(error)
        except OSError as error:
            output = ToolOutput(f"error: {describe_os_error(error)}")
        except Exception as error:  # noqa: BLE001 - a bug in a tool must not end the session
            output = ToolOutput(f"error: the tool failed: {type(error).__name__}: {error}")
        finally:
            self.report(FinishedCall(number, output, is_error))

    def _end_job(
        self, job: _Job, output: ToolOutput, source: ResultSource, *, is_error: bool
    ) -> ToolEnd:
        self._running.pop(job.number, None)
        text = cut_middle(output.text, MAX_RESULT_CHARS) or "(no output)"
        content: list[TextBlock | ImageBlock] = [TextBlock(text), *output.images]
        if not is_error and job.tool and job.tool.subject == "file_path":
            path = self.toolbox.context.resolve_path(job.tool.get_subject(job.call.arguments))
            if rules := self.toolbox.take_rules(path):
                content.append(TextBlock(rules))  # it stays when an old result is cut
        job.result = ToolResult(job.call.id, tuple(content), is_error)
        seconds = time.monotonic() - job.started if job.started else 0.0
        return ToolEnd(job.call, job.result, source, seconds, job.summary, output.preview)


def _describe_error(error: CubError) -> ToolOutput:
    lines = [f"error: {error}", *error.details, f"hint: {error.hint}" * bool(error.hint)]
    return ToolOutput("\n".join(filter(None, lines)))
