"""Run a session at the terminal: read a prompt, a command, or a line for the shell, and repeat."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import typer

from cub.actions.code_session import PreparedSession, SessionSurroundings
from cub.actions.command_options import CodeOptions
from cub.actions.tasks.stores import Stores
from cub.agent.session_budget import SessionBudget
from cub.agent.skill_invocation import find_invocation
from cub.agent.subagents import SubagentRun
from cub.agent.tools.project_files import list_searched_files
from cub.cli import output
from cub.cli.session_view import SessionView, describe_use
from cub.cli.stop_signals import notify_termination
from cub.cli.terminal import discard_unwritten_output
from cub.cli.terminal_session.command_table import COMMANDS, find_command, list_candidates
from cub.cli.terminal_session.input_completion import InputCompleter, UsageCounts
from cub.cli.terminal_session.input_line import InputLine
from cub.cli.terminal_session.prompt_text import (
    attach_files,
    find_missing_files,
    run_user_command,
)
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.cli.typed_input import set_typing
from cub.errors import CubError
from cub.files.signed_state import find_project_state

_HISTORY_FILE, _COUNTS_FILE = "prompts.txt", "completions.json"
_SIGNALLED = 130


def run_terminal_session(
    stores: Stores,
    options: CodeOptions,
    surroundings: SessionSurroundings,
    prepared: PreparedSession,
    session_id: str,
    attachments: Iterable[str] = (),
) -> int:
    """Hold a session with the person at the terminal; return the exit code.

    It goes on with the saved one of `session_id`, if that is not "".
    """
    folder = _find_state(prepared.root)
    view = SessionView(streams_text=True, is_debug=prepared.models.is_debug or options.debug)
    counts = UsageCounts(folder / _COUNTS_FILE if folder else None)
    total = SessionBudget(options.max_usd)
    prepared.session.budget.parent = total
    state = TerminalState(
        stores, options, surroundings, prepared, view, counts, total, [*attachments]
    )
    if session_id:
        state.open_recorder(session_id, is_saved=True)
    completer = InputCompleter(lambda: list_candidates(state), lambda: _list_files(state), counts)
    history = folder / _HISTORY_FILE if folder else None
    line = InputLine(history, completer, lambda: [*state.list_status()], state.change_mode)
    loop = _TerminalLoop(state, line)
    prepared.subagents.announce = loop.announce_agent
    with notify_termination(loop.end):
        loop.run()
    if loop.is_signalled:
        discard_unwritten_output()  # the terminal may be gone
        return _SIGNALLED
    if total.turns:
        output.print_message(describe_use(total))
    return 0


def _print_agent_end(run: SubagentRun) -> None:
    state = "has finished" if run.state == "done" else "has failed"
    output.print_message(
        f"{run.name} {state}: {run.description}. /agents {run.number} shows the answer; the next "
        "prompt has it."
    )


class _TerminalLoop:
    """Read what the person types, and do it, until that is the end."""

    def __init__(self, state: TerminalState, line: InputLine) -> None:
        self._state, self._line = state, line
        self._was_interrupted = False
        self._ended_agents = deque[SubagentRun]()  # that are not announced yet
        self.is_signalled = False

    def end(self) -> None:
        """End what runs and the session; a signal handler may call it."""
        self.is_signalled = self._state.is_ending = True
        self._line.abort()
        self._state.surroundings.stop.request()

    def announce_agent(self, run: SubagentRun) -> None:
        """Say above the prompt that an agent in the background has ended, now or after the work."""
        self._ended_agents.append(run)
        if self._line.is_waiting:
            self._announce_ended_agents()

    def run(self) -> None:
        """Read and do, and close the session in the end."""
        _greet(self._state)
        try:
            while not self._state.is_ending:
                self._take_input()
        finally:
            self._state.close()

    def _take_input(self) -> None:
        self._state.measure_context()
        self._announce_ended_agents()
        try:
            text = self._line.read(self._begin_waiting)
        except EOFError:
            self._state.is_ending = True
            return
        except KeyboardInterrupt:
            self._state.is_ending = self._was_interrupted
            if not self._was_interrupted:
                self._state.start_work()  # a signal from here on is the second Ctrl-C
                output.print_message("Press Ctrl-C again to quit.")
            self._was_interrupted = True
            return
        self._was_interrupted = False
        with set_typing(is_shown=False), suppress(typer.Abort):  # of a question
            try:
                self._do(text.rstrip())
            except CubError as error:
                output.print_error(error)
        if not self._state.is_ending:
            output.print_line()

    def _announce_ended_agents(self) -> None:
        with suppress(IndexError):  # that was the last one; another thread may take it
            while True:
                run = self._ended_agents.popleft()
                if run in self._state.prepared.subagents.unread:  # else the model has its answer
                    _print_agent_end(run)

    def _begin_waiting(self) -> bool:
        """Announce who has ended just now; return whether Ctrl-C came a second time."""
        self._announce_ended_agents()
        return self._was_interrupted and self._state.surroundings.stop.is_requested

    def _do(self, text: str) -> None:
        """Carry out what was typed."""
        state = self._state
        if text.startswith("!") and text[1:].strip():
            context = state.session.toolbox.context
            stop = state.start_work()
            shown = run_user_command(text[1:].strip(), context.folder, context.environ, stop)
            state.session.toolbox.cache.invalidate_all()
            state.attachments.append(shown)
            return
        command = find_command(text)
        if command:
            row, words = command
            state.counts.count_use(f"/{row.name}")
            prompt = row.carry_out(state, words)
            if prompt is not None:
                state.work_on(prompt)
            return
        skills, names = state.session.toolbox.context.skills, [row.name for row in COMMANDS]
        if invocation := find_invocation(skills, text, names):
            state.counts.count_use(f"/{invocation.skill.name}")
            state.work_on(invocation.text, invocation)
            return
        for name, shown in attach_files(text, state.session.toolbox.context):
            state.counts.count_use(name)
            if shown:
                state.attachments.append(shown)
                output.print_message(f"attached {name}")
            else:
                output.print_message(f"not attached: {name}. The agent can read it itself.")
        for name in find_missing_files(text, state.session.toolbox.context):
            output.print_message(f"not attached: {name}. There is no such file.")
        state.work_on(text)


def _greet(state: TerminalState) -> None:
    model, mode = state.session.model.name, state.session.toolbox.permissions.mode
    output.print_message(f"cub code with {model}, permissions {mode}. /help shows all commands.")
    if state.recorder:
        count, key = len(state.session.messages), state.recorder.session_id
        output.print_message(f"Resumed {key}: {count:,} messages. /history shows them.")
    output.print_line()


def _find_state(root: Path) -> Path | None:
    """Return the folder for the state of the project; None without a home directory."""
    with suppress(CubError):
        return find_project_state(root)
    return None


def _list_files(state: TerminalState) -> list[str]:
    context = state.session.toolbox.context
    try:
        return [file.path for file in list_searched_files(context.folder, context)]
    except (CubError, OSError):
        return []
