"""Carry out the commands that list, resume, delete, and export saved sessions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cub.agent.session_file import SessionSummary
from cub.agent.session_markdown import format_session
from cub.agent.session_store import find_session_store
from cub.cli import output
from cub.cli.commands.code_sessions import ask_session, print_sessions
from cub.cli.questions import abort_at_stop
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError, UsageError
from cub.files.single_file import read_single_file, replace_single_file
from cub.masking import mask_text
from cub.text import find_first_line


def save_session(state: TerminalState, _: str) -> None:
    """Save the session, also if that was not wanted at the start, and say how it is resumed."""
    if not state.session.messages:
        raise UsageError("there is nothing to save yet")
    if state.recorder is None:
        state.open_recorder("", _find_title(state), is_saved=True)
    if state.recorder is None:  # a warning has said why
        return
    state.recorder.save()
    output.print_message(f"Saved. `cub code --resume {state.recorder.session_id}` continues it.")


def list_sessions(state: TerminalState, _: str) -> None:
    """Print the saved sessions of the project."""
    print_sessions(find_session_store(state.prepared.root))


def resume_session(state: TerminalState, words: str) -> None:
    """Go on with a saved session; without an id, the person chooses one."""
    store = find_session_store(state.prepared.root)
    with abort_at_stop(state.start_work()):
        session_id = store.find_id(words) if words else ask_session(store)
    if state.recorder and state.recorder.session_id == session_id:
        output.print_message("This is that session.")
        return
    state.start_session(session_id)
    count = len(state.session.messages)
    output.print_message(f"Resumed {session_id}: {count:,} messages. /history shows them.")


def delete_session(state: TerminalState, words: str) -> None:
    """Delete a saved session after a question."""
    store = find_session_store(state.prepared.root)
    session_id = store.find_id(words)
    if state.recorder and state.recorder.session_id == session_id:
        raise UsageError("this session can't be deleted while it runs", hint="/clear ends it")
    if state.confirm(f"Delete session {session_id}?"):
        store.delete(session_id)
        output.print_message(f"Deleted {session_id}")


def list_session_ids(state: TerminalState) -> Iterable[str]:
    """Return the ids of saved sessions."""
    rows, _ = find_session_store(state.prepared.root).list_sessions()
    return [row.id for row in rows]


def export_session(state: TerminalState, words: str) -> None:
    """Write the conversation as Markdown to a new file, without secrets."""
    session, recorder = state.session, state.recorder
    if not session.messages:
        raise UsageError("there is nothing to export yet")
    if recorder:
        summary = recorder.sum_up()
    else:
        root, name, title = state.prepared.root.as_posix(), session.model.name, _find_title(state)
        used = (session.budget.turns, session.budget.usage, session.budget.usd)
        summary = SessionSummary("", root, "", name, "", title, "", *used)
    name = words or f"session-{summary.id or 'export'}.md"
    path = session.toolbox.context.folder / Path(name).expanduser()
    if read_single_file(path, name) is not None:
        raise CubError("this file is already there", where=name, hint="name another file")
    lines = format_session(summary, session.messages)
    text = mask_text("".join(f"{line}\n" for line in lines))
    replace_single_file(path, None, text.encode("utf-8", "replace"), name)
    output.print_message(f"Wrote {name}")


def _find_title(state: TerminalState) -> str:
    texts = [*state.prompts, *(one.text for one in state.session.messages)]
    return find_first_line(texts[0]) if texts else ""
