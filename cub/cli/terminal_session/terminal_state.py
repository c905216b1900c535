"""Hold what a session at the terminal works with, for the loop and for each of its commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cub.actions.code_session import (
    PreparedSession,
    SessionSurroundings,
    open_recorder,
    prepare_session,
)
from cub.actions.command_options import CodeOptions
from cub.actions.tasks.stores import Stores, open_stores
from cub.agent.events import Compaction, SessionEnd, SessionEvent
from cub.agent.loop import AgentSession
from cub.agent.permissions import PermissionMode
from cub.agent.session_budget import SessionBudget
from cub.agent.session_store import SessionRecorder
from cub.agent.skill_invocation import SkillInvocation
from cub.cli import output
from cub.cli.questions import abort_at_stop, follow_events
from cub.cli.session_view import SessionView
from cub.cli.terminal_session.input_completion import UsageCounts
from cub.edit.plan import PlanWarning
from cub.processes.command import StopRequest
from cub.project.project import Project

# Shift-Tab goes from one to the next; `bypass` is never reached by a slip.
_MODES: tuple[PermissionMode, ...] = ("ask", "accept-edits", "plan")


@dataclass(slots=True)
class TerminalState:
    """Hold the session of the agent, how it was prepared, and what the next prompt gets.

    `attachments` are texts that go with the next prompt.
    """

    stores: Stores
    options: CodeOptions
    surroundings: SessionSurroundings
    prepared: PreparedSession
    view: SessionView
    counts: UsageCounts
    total: SessionBudget  # of all conversations
    attachments: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    context_tokens: int = 0  # as measured last
    is_ending: bool = False
    recorder: SessionRecorder | None = None  # None until the first prompt, or if nothing is saved

    @property
    def session(self) -> AgentSession:
        """Return the session of the agent."""
        return self.prepared.session

    def start_work(self) -> StopRequest:
        """Return what stops the work that starts now: an earlier Ctrl-C was not for it."""
        if not self.is_ending:
            self.surroundings.stop.reset()
        return self.surroundings.stop

    def confirm(self, question: str) -> bool:
        """Return whether the person says yes. Raises typer.Abort for Ctrl-C and Ctrl-D."""
        with abort_at_stop(self.start_work()):
            return output.ask_confirmation(question)

    def work_on(
        self, prompt: str, invocation: SkillInvocation | None = None, title: str = ""
    ) -> SessionEnd:
        """Have the agent work on a prompt, with all that was attached; return how that ended.

        A session that begins with it is listed by the `title`, or else by the prompt.
        """
        stop = self.start_work()
        text = "\n\n".join([prompt, *self.attachments])
        self.attachments.clear()
        self.prompts.append(text)
        events = self.prepared.work_on(text, invocation)
        if self.recorder is None:
            self.open_recorder("", title or prompt, is_saved=not self.options.no_save)
        if self.recorder:
            events = self.recorder.record(events)
        output.print_line()
        with self.view.follow():
            end = follow_events(events, self.view, stop, self.prepared.root)
        if end.message:
            output.print_message(f"The agent stopped: {end.message}")
        return end

    def open_recorder(self, session_id: str, prompt: str = "", *, is_saved: bool) -> None:
        """Save the session from now on: as a new one, or as that of an id, whose messages it gets.

        Raises CubError if that one can't be resumed.
        """
        self._set_recorder(*open_recorder(self.prepared, prompt, session_id, is_saved=is_saved))

    def _set_recorder(self, recorder: SessionRecorder | None, warnings: list[PlanWarning]) -> None:
        output.print_warnings(warnings)
        if self.recorder:
            self.recorder.close()
        if recorder:
            recorder.warn = output.print_message
        self.recorder = recorder

    def close(self) -> None:
        """End what works in the background, and let other processes resume the session."""
        self.session.close()
        if self.recorder:
            self.recorder.close()

    def start_session(self, session_id: str = "") -> None:
        """Start a new conversation, or go on with a saved one; instructions are read again.

        Raises CubError, and leaves everything as it was, for settings that are not valid, or if
        another process works on that session.
        """
        prepared = self._prepare(session_id)
        try:
            opened = open_recorder(prepared, "", session_id, is_saved=False)
        except BaseException:
            prepared.session.close()
            raise
        self._replace_session(prepared)
        self._set_recorder(*opened)
        self.attachments.clear()
        self.prompts.clear()

    def reload(self) -> None:
        """Go on with the conversation, with settings and instructions as they are now.

        Raises CubError, and leaves everything as it was, for settings that are not valid.
        """
        before, prepared = self.session, self._prepare()
        prepared.session.messages = before.messages
        used = before.budget
        prepared.session.budget.add_cost(used.usage, used.usd, used.turns)
        self._replace_session(prepared)
        if self.recorder:
            self.recorder.session = self.session

    def _prepare(self, session_id: str = "") -> PreparedSession:
        """Return a session with what files say now; nothing counts as read in it."""
        self.stores = self.open_stores()
        known = (self.prepared.checks, session_id)
        prepared = prepare_session(self.stores, self.options, self.surroundings, *known)
        output.print_warnings(prepared.warnings)
        return prepared

    def _replace_session(self, prepared: PreparedSession) -> None:
        """Take another session; the mode of permissions stays, and the limit of costs."""
        session, before = prepared.session, self.session
        session.toolbox.permissions.mode = before.toolbox.permissions.mode
        session.budget.parent = self.total
        prepared.subagents.announce = self.prepared.subagents.announce
        before.close()
        self.prepared = prepared

    def open_stores(self) -> Stores:
        """Return the tasks and the configuration as they are now."""
        return open_stores(Project.load(self.stores.project.root), self.stores.actor)

    def compact(self, *, force: bool) -> bool:
        """Make the conversation shorter; return whether it is. Raises ModelError."""
        events: Iterator[SessionEvent] = self.session.compact(force=force)
        if self.recorder:
            events = self.recorder.record(events)
        self.start_work()
        is_shorter = False
        with self.view.follow():
            self.view.show_progress("summarizing")
            for event in events:
                self.view.show(event)
                is_shorter = is_shorter or isinstance(event, Compaction)
        return is_shorter

    def change_models(self, options: CodeOptions) -> None:
        """Take the models that these options name, in the same conversation. Raises CubError."""
        alone = replace(options, mcp_files=(), strict_mcp_config=True, gate="none")
        new = prepare_session(self.stores, alone, self.surroundings).session
        new.resources.close()
        session = self.session
        for model in (session.model, session.small_model):
            model.close()
        session.model, session.small_model = new.model, new.small_model
        session.limits, session.window = new.limits, new.window
        self.options = options

    def change_mode(self) -> None:
        """Go to the next mode of permissions."""
        permissions = self.session.toolbox.permissions
        number = _MODES.index(permissions.mode) + 1 if permissions.mode in _MODES else 0
        permissions.mode = _MODES[number % len(_MODES)]

    def measure_context(self) -> tuple[int, int]:
        """Return about how many tokens the next request has, and how many it may have."""
        window = self.session.window
        self.context_tokens = window.measure(self.session.messages)
        return self.context_tokens, window.find_threshold(self.context_tokens)

    def list_status(self) -> Iterator[str]:
        """Yield the parts of the status line, the most important one first."""
        session = self.session
        yield session.toolbox.permissions.mode
        if count := sum(run.state == "running" for run in self.prepared.subagents.runs):
            yield f"{count} agent{'s' * (count != 1)} running"
        limit = max(1, session.window.find_threshold(self.context_tokens))
        yield f"{max(0, 100 - 100 * self.context_tokens // limit)} % context left"
        budget = session.budget
        if any(budget.usage):
            yield "cost not known" if budget.usd is None else f"${budget.usd:.4f}"
            yield f"{budget.usage.total:,} tokens"
        yield session.model.name

    def forget_results(self) -> None:
        """Forget what was read and found: the files may be others now."""
        self.session.toolbox.forget_results()
