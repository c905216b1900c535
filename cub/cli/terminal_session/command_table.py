"""List the commands of a session at the terminal, for help, completion, and the documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from cub.cli import output
from cub.cli.terminal_session.input_completion import Candidate
from cub.cli.terminal_session.project_commands import (
    list_task_ids,
    run_checks,
    show_context,
    show_map,
    show_tasks,
    work_on_task,
)
from cub.cli.terminal_session.saved_session_commands import (
    delete_session,
    export_session,
    list_session_ids,
    list_sessions,
    resume_session,
    save_session,
)
from cub.cli.terminal_session.session_commands import (
    change_model,
    change_permissions,
    change_small_model,
    clear_conversation,
    compact_conversation,
    list_permission_words,
    quit_session,
    reload_settings,
    retry_prompt,
    show_agents,
    show_cache,
    show_history,
    show_servers,
    show_status,
    show_tokens,
    undo_changes,
)
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import UsageError

_COMMAND = re.compile(r"/(?P<name>[\w:-]+)(?:\s+(?P<words>.*))?", re.DOTALL)
_KEYS = (
    ("Enter", "send the prompt"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "start a new line"),
    ("!COMMAND", "run a command in your shell; the next prompt gets its output"),
    ("@FILE", "attach a file, or a list of a directory's files"),
    ("Tab, right arrow", "complete a command or a file; accept the gray suggestion"),
    ("Up, Ctrl-R", "go to earlier prompts of this project; search them"),
    ("Shift-Tab", "change the permissions: ask, accept-edits, plan"),
    ("Ctrl-X Ctrl-E", "edit the prompt in your editor"),
    ("Ctrl-C", "stop the agent, or clear the prompt; twice at an empty prompt: quit"),
    ("Ctrl-D", "end the session, at an empty prompt"),
)  # fmt: skip


class Command(NamedTuple):
    """Describe a command: its name without the slash, its arguments, and its help.

    Arguments in capitals stand for others. `run` gets what stands behind the name, and returns a
    prompt for the agent, or None. It raises CubError. `values` are what the first argument may be.
    """

    name: str
    arguments: str
    help: str
    run: Callable[[TerminalState, str], str | None]
    values: Callable[[TerminalState], Iterable[str]] = lambda _: ()

    @property
    def usage(self) -> str:
        """Return how the command is written."""
        return f"/{self.name} {self.arguments}".rstrip()

    def carry_out(self, state: TerminalState, words: str) -> str | None:
        """Run the command. Raises UsageError for an argument that is missing, or not wanted."""
        word = self.arguments.strip("[]")
        if words and not word.isupper() and words != word:
            hint = f"write `{self.usage}`, and the rest as a prompt"
            raise UsageError(f"unexpected argument {words!r}", hint=hint)
        if not words and self.arguments.isalpha():
            hint = f"write `{self.usage}`; Tab lists what it may be"
            raise UsageError(f"missing {self.arguments}", hint=hint)
        return self.run(state, words)

    def list_values(self, state: TerminalState) -> Iterable[str]:
        """Return what the first argument may be, if that is known."""
        word = self.arguments.strip("[]")
        return [word] if word.islower() else self.values(state)


def _show_help(_: TerminalState, __: str) -> None:
    rows = [(row.usage, row.help) for row in COMMANDS]
    output.print_rows([*rows, ("", ""), *_KEYS], prose=(1,))


def find_command(text: str) -> tuple[Command, str] | None:
    """Return the command that an input is, and its arguments; None for a prompt or a skill."""
    match = _COMMAND.fullmatch("/quit" if text in ("exit", "quit") else text)
    for row in COMMANDS if match else ():
        if match and row.name == match["name"]:
            return row, (match["words"] or "").strip()
    return None


def list_candidates(state: TerminalState) -> dict[str, Candidate]:
    """Return commands and skills as completions, by their names with the slash."""
    skills = state.session.toolbox.context.skills.for_user
    rows = [Candidate(f"/{skill.name}", "", skill.summary) for skill in skills]
    rows += [
        Candidate(f"/{row.name}", row.arguments, row.help, partial(row.list_values, state))
        for row in COMMANDS
    ]
    return {row.name: row for row in rows}


def _show_skills(state: TerminalState, _: str) -> None:
    """Print the skills that can be called for, and whether the model loads them by itself."""
    skills = state.session.toolbox.context.skills.for_user
    if not skills:
        output.print_message("There are no skills. They are read from .claude/skills, for example.")
        return
    output.print_rows([(f"/{one.name}", one.summary) for one in skills], prose=(1,))


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "show all commands and keys", _show_help),
    Command("status", "", "show the models, permissions, tokens, and cost", show_status),
    Command("clear", "", "start a new conversation", clear_conversation),
    Command("compact", "[--force]", "summarize the conversation", compact_conversation),
    Command("history", "", "show the conversation in short", show_history),
    Command("retry", "", "send the last prompt again", retry_prompt),
    Command("undo", "", "stash all uncommitted changes with git", undo_changes),
    Command("context", "", "show what the next request has, and its tokens", show_context),
    Command("tokens", "", "show the tokens of the conversation", show_tokens),
    Command("cache", "", "show what the explore cache did", show_cache),
    Command("model", "[NAME]", "change the model, or show it", change_model),
    Command("smallmodel", "[NAME]", "change the small model, or show it", change_small_model),
    Command(
        "permissions",
        "[CHANGE]",
        "show permissions, or change them",
        change_permissions,
        list_permission_words,
    ),
    Command("tasks", "", "list open tasks", show_tasks),
    Command("task", "ID", "work on a task, and run its checks", work_on_task, list_task_ids),
    Command("checks", "", "run the project's checks; the next prompt gets what fails", run_checks),
    Command("map", "[add]", "show the project map, or attach it to the next prompt", show_map),
    Command("agents", "[NUMBER]", "show what sub-agents do, or the answer of one", show_agents),
    Command("save", "", "save the session, and show its ID", save_session),
    Command("sessions", "", "list saved sessions", list_sessions),
    Command("resume", "[ID]", "continue a saved session", resume_session, list_session_ids),
    Command("delete-session", "ID", "delete a saved session", delete_session, list_session_ids),
    Command("export", "[FILE]", "write the conversation to a Markdown file", export_session),
    Command("skills", "", "list skills; /NAME calls for one", _show_skills),
    Command("mcp", "", "list MCP servers, and why one is not connected", show_servers),
    Command("reload", "", "read the configuration and instructions again", reload_settings),
    Command("quit", "", "end the session", quit_session),
)
