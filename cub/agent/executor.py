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
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Thread

from cub.agent.command_rules import only_reads
from cub.agent.conversation import ImageBlock, TextBlock, ToolCall, ToolResult
from cub.agent.events import (
    Answer,
    Question,
    ResultSource,
    ToolEnd,
    ToolEvent,
    ToolStart,
)
from cub.agent.explore_cache import CacheKey, ExploreCache
from cub.agent.memory import Memory
from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Decision, Permissions
from cub.agent.rule_suggestions import suggest_rule
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput, find_tool
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, split_kept_text
from cub.errors import CubError
from cub.masking import mask_text
from cub.text import cut_middle, describe_os_error

MAX_CONCURRENT = 8
MAX_SUMMARY_CHARS = 200
_MAX_ASKED_CHARS = 20_000  # what a person can scroll through
_CANCELLED = "This call was cancelled by the user before it was finished."


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Hold the tools of a session, by name, and all that decides whether and how they run.

    `before_change` is called in the thread of each call that may change something, and may wait.
    """

    tools: Mapping[str, Tool]
    context: ToolContext
    permissions: Permissions
    cache: ExploreCache
    rules: Memory
    before_change: Callable[[ToolContext], None] = lambda _: None

    def forget_results(self) -> None:
        """Note that the model no longer has the results of its calls before it."""
        self.context.reads.clear()
        self.cache.clear()
        self.rules.restore_rules()


_Execute = Callable[[ToolContext], ToolOutput]
CallEvent = ToolStart | ToolEvent | ToolEnd
# What happened in another thread: the one that decides calls it, and yields what starts or ends.
CallStep = Callable[[], Iterator[CallEvent]]


@dataclass(slots=True, eq=False)
class _Job:
    """Hold a call; `execute` carries it out once its arguments are checked.

    `is_asked` says that the answer of a person is awaited.
    """

    call: ToolCall
    tool: Tool | None
    summary: str
    result: ToolResult | None = None
    started: float = 0.0
    cache_key: CacheKey | None = None
    execute: _Execute | None = None
    is_asked: bool = False

    @property
    def is_concurrent(self) -> bool:
        return self.tool is None or self.tool.is_concurrent

    @property
    def may_be_abandoned(self) -> bool:
        return self.tool is None or self.tool.is_harmless or self.is_asked


@dataclass(slots=True)
class CallBatch:
    """Execute the calls of one reply; `report` takes steps from other threads.

    All methods belong to one thread, which carries out what was reported. `longest_call` is in
    seconds.
    """

    toolbox: Toolbox
    report: Callable[[CallStep], None]
    longest_call: float = 0.0
    _jobs: list[_Job] = field(default_factory=list)
    _waiting: deque[_Job] = field(default_factory=deque)
    _running: set[_Job] = field(default_factory=set)
    _has_reply_ended: bool = False

    @property
    def is_done(self) -> bool:
        """Return whether all calls have a result."""
        return not (self._waiting or self._running)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the results, in the order of the calls."""
        return tuple(job.result for job in self._jobs if job.result)

    def add_call(self, call: ToolCall) -> Iterator[CallEvent]:
        """Take a call of a reply that is still being written; yield what starts or ends."""
        tool = find_tool(self.toolbox.tools, call.name)
        if tool:  # rules, questions and the cache go by the names that the tool has
            call = call._replace(name=tool.name, arguments=tool.resolve_names(call.arguments))
        subject = tool.get_subject(call.arguments) if tool else ""
        summary = mask_text(" ".join(f"{call.name} {subject}".split()))[:MAX_SUMMARY_CHARS]
        self._jobs.append(_Job(call, tool, summary))
        self._waiting.append(self._jobs[-1])
        yield from self._start_ready_jobs()

    def end_reply(self) -> Iterator[CallEvent]:
        """Note that the reply is complete, so calls that change something may start."""
        self._has_reply_ended = True
        yield from self._start_ready_jobs()

    def cancel(self) -> Iterator[ToolEnd]:
        """Give every call that waits, is asked for, or changes nothing, a result that says so.

        A command or an agent that runs is ended by the stop of the tools' context, and reports that
        itself.
        """
        self._waiting.clear()
        for job in self._jobs:
            if job.result or (job in self._running and not job.may_be_abandoned):
                continue
            yield self._end_job(job, ToolOutput(_CANCELLED), "cancelled", is_error=True)

    def _start_ready_jobs(self) -> Iterator[CallEvent]:
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
        return is_free and all(other.is_concurrent for other in self._running)

    def _start_job(self, job: _Job) -> Iterator[CallEvent]:
        """Run a job, ask a person whether it may run, or end it at once."""
        self._running.add(job)
        job.started = time.monotonic()
        yield ToolStart(job.call, job.summary)
        toolbox = self.toolbox
        try:
            tool, job.execute = self._bind_call(job)
        except CubError as error:
            yield self._end_job(job, _describe_error(error), "tool", is_error=True)
            return
        decision = toolbox.permissions.decide(tool, job.call.arguments, toolbox.context)
        # No part of a command is left out: a person would approve what is not shown.
        text = mask_text(tool.get_subject(job.call.arguments))
        if decision.answer == "ask" and len(text) > _MAX_ASKED_CHARS:
            reason = f"{decision.reason}, and it is too long to show for approval"
            decision = Decision("deny", reason)
        if decision.answer == "deny":
            yield self._refuse_job(job, decision.reason)
        elif decision.answer == "ask":
            yield self._ask(job, tool, text, decision.reason)
        else:
            yield from self._execute_job(job, tool)

    def _ask(self, job: _Job, tool: Tool, text: str, reason: str) -> Question:
        """Return the question whether a job may run."""
        job.is_asked = True
        toolbox, arguments = self.toolbox, job.call.arguments
        rule = str(suggest_rule(tool, arguments, toolbox.context) or "")

        def take_answer(answer: Answer) -> None:
            if answer.choice == "always" and rule:  # at once: another question may be waiting
                toolbox.permissions.allow.append(parse_rule(rule, toolbox.tools))
            self.report(partial(self._take_answer, job, tool, answer))

        def is_allowed() -> bool:
            return toolbox.permissions.decide(tool, arguments, toolbox.context).answer == "allow"

        return Question(job.call, text, reason, rule, take_answer, is_allowed)

    def _take_answer(self, job: _Job, tool: Tool, answer: Answer) -> Iterator[CallEvent]:
        """Run the job that a person was asked about, or end it; the first answer counts."""
        if not job.is_asked or job.result:
            return
        job.is_asked = False
        if answer.choice == "no":
            yield self._refuse_job(job, answer.words or "the user said no")
        else:
            job.started = time.monotonic()
            yield from self._execute_job(job, tool)
        yield from self._start_ready_jobs()

    def _bind_call(self, job: _Job) -> tuple[Tool, _Execute]:
        """Return the tool, and what carries the call out; ToolError for one that is not valid."""
        if job.tool is None:
            names = ", ".join(self.toolbox.tools)
            raise ToolError(f"there is no tool {job.call.name!r}", hint=f"choose from {names}")
        if job.call.fault:
            raise ToolError(job.call.fault)
        return job.tool, job.tool.bind(job.call.arguments)

    def _execute_job(self, job: _Job, tool: Tool) -> Iterator[ToolEnd]:
        """Run a job in a thread, or end it with what the same call returned before."""
        cache = self.toolbox.cache
        job.cache_key = cache.make_key(tool, job.call.arguments, self.toolbox.context)
        if output := cache.find_output(job.cache_key):
            yield self._end_job(job, output, "cache", is_error=False)
            return
        Thread(target=self._run, args=(job,), daemon=True).start()

    def _finish_job(self, job: _Job, output: ToolOutput, is_error: bool) -> Iterator[CallEvent]:
        """Note what a job has changed, and end it, unless it was cancelled in the meantime."""
        if job.result:
            return
        cache = self.toolbox.cache
        if not is_error:
            cache.store_output(job.cache_key, output)
        for path in output.changed:
            cache.invalidate_path(path)
        if job.tool and job.tool.effect in ("command", "agent", "unknown"):
            cache.invalidate_all()
        yield self._end_job(job, output, "tool", is_error=is_error)
        yield from self._start_ready_jobs()

    def _refuse_job(self, job: _Job, reason: str) -> ToolEnd:
        return self._end_job(job, ToolOutput(f"not allowed: {reason}"), "denied", is_error=True)

    def _run(self, job: _Job) -> None:
        """Run a call, in its thread, and report its end; whatever happens becomes a result."""
        output, is_error = ToolOutput(""), True
        try:
            output, is_error = self._call_tool(job), False
        except CubError as error:
            output = _describe_error(error)
        except OSError as error:
            output = ToolOutput(f"error: {describe_os_error(error)}")
        except Exception as error:  # noqa: BLE001 - a bug in a tool must not end the session
            output = ToolOutput(f"error: the tool failed: {type(error).__name__}: {error}")
        finally:
            self.report(partial(self._finish_job, job, output, is_error))

    def _call_tool(self, job: _Job) -> ToolOutput:
        assert job.execute is not None
        context, tool = replace(self.toolbox.context, send=self._send_event), job.tool
        line = tool.get_subject(job.call.arguments) if tool and tool.effect == "command" else ""
        if not (job.is_concurrent or (line and only_reads(line, context.folder))):
            self.toolbox.before_change(context)
            if context.stop.is_requested:
                raise ToolError(_CANCELLED)
        return job.execute(context)

    def _send_event(self, event: ToolEvent) -> None:
        self.report(partial(self._pass_event, event))

    def _pass_event(self, event: ToolEvent) -> Iterator[ToolEvent]:
        """Yield what a tool shows, but no question after a stop or one that was answered before."""
        if not isinstance(event, Question):
            yield event
        elif event.is_allowed():
            event.answer(Answer("once"))
        elif not self.toolbox.context.stop.is_requested:
            yield event

    def _end_job(
        self, job: _Job, output: ToolOutput, source: ResultSource, *, is_error: bool
    ) -> ToolEnd:
        self._running.discard(job)
        text = cut_middle(output.text, MAX_RESULT_CHARS) or "(no output)"
        texts = split_kept_text(text) if output.is_kept else [text]
        content: list[TextBlock | ImageBlock] = [*map(TextBlock, texts), *output.images]
        if not is_error and job.tool and job.tool.rule_kind == "path" and not job.tool.search:
            path = self.toolbox.context.resolve_path(job.tool.get_subject(job.call.arguments))
            if rules := self.toolbox.rules.take_rules(path):
                content.append(TextBlock(rules))  # it stays when an old result is cut
        job.result = ToolResult(job.call.id, tuple(content), is_error)
        seconds = time.monotonic() - job.started if job.started else 0.0
        self.longest_call = max(self.longest_call, seconds)
        return ToolEnd(job.call, job.result, source, seconds, job.summary, output.preview)


def _describe_error(error: CubError) -> ToolOutput:
    lines = [f"error: {error}", *error.details, f"hint: {error.hint}" * bool(error.hint)]
    return ToolOutput("\n".join(filter(None, lines)))
