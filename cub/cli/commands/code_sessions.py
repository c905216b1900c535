"""Run `cub code sessions`, and choose the session that `cub code` continues."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.actions.command_options import CodeOptions
from cub.cli import output
from cub.cli.options import Json, find_root
from cub.cli.parameters import make_option, require_at_most_one
from cub.cli.time_format import format_age, format_local_time
from cub.errors import UsageError
from cub.text import append_hint, truncate_text

if TYPE_CHECKING:
    from cub.agent.session_file import SessionSummary
    from cub.agent.session_store import SessionStore

app = typer.Typer(add_completion=False, invoke_without_command=True, no_args_is_help=False)
_COLUMNS = ("id", "last active", "turns", "cost", "prompt")
_MAX_PROMPT = 100  # characters in a table
_MAX_OFFERED = 20  # sessions to choose from


@app.callback()
def sessions(context: typer.Context, json: Json = False) -> None:
    """Manage saved sessions.

    Without a command, it lists the sessions of this project.

    Example: cub code sessions
    """
    if context.invoked_subcommand is None:
        list_(context, json=json)


@app.command(name="list")
def list_(context: typer.Context, json: Json = False) -> None:
    """List this project's sessions, the last active one first.

    Example: cub code sessions list --json
    """
    from cub.cli.json_output import make_result

    store = _find_store(find_root(context))
    if json:
        rows, warnings = store.list_sessions()
        found = list(map(_session_to_json, rows))
        output.print_json(make_result(store.root, warnings, sessions=found))
    else:
        print_sessions(store)


@app.command()
def show(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="ID", help="The session, or any unique start of its ID.")
    ],
    json: Json = False,
) -> None:
    """Show a session as Markdown.

    Example: cub code sessions show k3f9a > session.md
    """
    from cub.agent.message_json import write_message
    from cub.agent.session_markdown import format_session

    store = _find_store(find_root(context))
    saved = store.read(store.find_id(key))
    if json:
        tree = {"v": 1, "root": store.root.as_posix(), "session": _session_to_json(saved.summary)}
        output.print_json(
            {**tree, "messages": [write_message(one) for one in saved.messages if one.blocks]}
        )
        return
    text = "".join(f"{line}\n" for line in format_session(saved.summary, saved.messages))
    output.print_bytes(text.encode("utf-8", "replace"))


@app.command()
def delete(
    context: typer.Context,
    keys: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Sessions, or unique starts of their IDs.")
    ],
    yes: Annotated[bool, make_option("--yes -y", "Don't ask before deleting.")] = False,
    json: Json = False,
) -> None:
    """Delete sessions.

    Example: cub code sessions delete k3f9a --yes
    """
    store = _find_store(find_root(context))
    ids = list(dict.fromkeys(map(store.find_id, keys)))
    if not yes:
        which = f"session {ids[0]}" if len(ids) == 1 else f"{len(ids):,} sessions"
        output.require_confirmation(f"deleting {', '.join(ids)}", f"Delete {which}?")
    for session_id in ids:
        store.delete(session_id)
        if not json:
            output.print_line(f"Deleted {session_id}")
    if json:
        output.print_json({"v": 1, "root": store.root.as_posix(), "deleted": ids})


def choose_session_id(root: Path, options: CodeOptions) -> str:
    """Return the id of the session to continue, "" for a new one; a person may have to choose."""
    asked = {"--continue": options.continue_last, "--resume": options.resume is not None}
    require_at_most_one({**asked, "--no-save": options.no_save})
    if not any(asked.values()):
        return ""
    store = _find_store(root)
    if options.resume is None:
        rows, warnings = store.list_sessions()
        output.print_warnings(warnings)
        return rows[0].id if rows else store.find_last_id()
    return store.find_id(options.resume) if options.resume.strip() else ask_session(store)


def ask_session(store: SessionStore) -> str:
    """Let the person at the terminal choose; UsageError, which lists all, if there is none."""
    rows, warnings = store.list_sessions()
    output.print_warnings(warnings)
    if not rows:
        return store.find_last_id()
    cells = [_format_row(row) for row in rows]
    if not output.can_ask():
        what = "--resume needs an ID, but stdin is not a terminal"
        details = [f"{row[0]}  {row[1]}  {row[-1]}" for row in cells]
        raise UsageError(what, hint="pass one of these, or --continue", details=details)
    offered = cells[:_MAX_OFFERED]
    for number, (_, active, *_, prompt) in enumerate(offered, 1):
        output.print_message(f"{number:>3}  {active}  {prompt}")
    numbers = [str(number) for number in range(1, len(offered) + 1)]
    return rows[int(output.ask_choice("Which session?", numbers, "number")) - 1].id


def print_sessions(store: SessionStore) -> None:
    """Print the sessions of a project as a table."""
    rows, warnings = store.list_sessions()
    output.print_warnings(warnings)
    if rows:
        output.print_table(_COLUMNS, list(map(_format_row, rows)), prose=("prompt",))
    elif not warnings:
        hint = store.suggest_project()
        output.print_message(append_hint("No sessions of this project yet.", hint))


def _find_store(root: Path) -> SessionStore:
    from cub.agent.session_store import find_session_store

    return find_session_store(root)


def _format_row(row: SessionSummary) -> tuple[str, ...]:
    active = format_age(row.active, datetime.now(UTC)) or format_local_time(row.active, "%Y-%m-%d")
    cost = "not known" if row.usd is None else f"${row.usd:,.2f}"
    cost = cost if any(row.tokens) else "not reported"
    return row.id, active, f"{row.turns:,}", cost, truncate_text(row.prompt, _MAX_PROMPT)


def _session_to_json(row: SessionSummary) -> dict[str, Any]:
    """Return what a list has of a session."""
    tree = row._asdict() | {"tokens": row.tokens._asdict() if any(row.tokens) else None}
    del tree["root"]
    return tree
