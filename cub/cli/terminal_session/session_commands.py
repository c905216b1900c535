"""Carry out the commands that are about the conversation, its models, and its permissions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

from cub.agent.conversation import Message
from cub.agent.permission_rules import compile_hidden_files, parse_rule
from cub.agent.permissions import PermissionMode
from cub.agent.summaries import RECENT_MESSAGES
from cub.cli import output
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError, UsageError
from cub.git.process import decode_output, run_git
from cub.git.worktree import find_toplevel
from cub.project.allowed_rules import add_allowed_rule, load_allowed_rules, save_allowed_rules
from cub.text import find_first_line, suggest_known, truncate_text

_MAX_SHOWN = 100  # characters of a message in a list
MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)


def clear_conversation(state: TerminalState, _: str) -> None:
    """Begin a new conversation; instructions are read again."""
    state.start_session()
    output.print_message("New conversation.")


def reload_settings(state: TerminalState, _: str) -> None:
    """Read the configuration, instructions, and settings again, in the same conversation."""
    state.reload()
    output.print_message("Settings and instructions were read again.")


def show_status(state: TerminalState, _: str) -> None:
    """Print the models, the permissions, and what was used."""
    session, budget = state.session, state.session.budget
    context, limit = state.measure_context()
    usd = "not known" if budget.usd is None else f"${budget.usd:.4f}"
    rows = [
        ("model", session.model.name),
        ("small model", session.small_model.name),
        ("permissions", session.toolbox.permissions.mode),
        ("directory", session.toolbox.context.folder.as_posix()),
        ("turns", f"{budget.turns}"),
        ("tokens", f"{budget.usage.total:,}" if any(budget.usage) else "not reported"),
        ("cost", usd if any(budget.usage) else "not reported"),
        ("context", f"about {context:,} of {limit:,} tokens"),
    ]
    output.print_rows(rows, prose=(1,))


def show_tokens(state: TerminalState, _: str) -> None:
    """Print the tokens of the conversation, and those that were used."""
    context, limit = state.measure_context()
    rows = [("context", f"about {context:,} of {limit:,}")]
    usage = state.session.budget.usage
    rows += [(name.replace("_", " "), f"{count:,}") for name, count in usage._asdict().items()]
    output.print_rows(rows)


def show_cache(state: TerminalState, _: str) -> None:
    """Print what the explore cache did."""
    counts = state.session.toolbox.cache.statistics._asdict()
    output.print_rows([(name, f"{count:,}") for name, count in counts.items()])


def show_servers(state: TerminalState, _: str) -> None:
    """Print the MCP servers: the number of tools of each, or why it is not connected."""
    rows = []
    for row in state.prepared.servers.list_servers():
        count = len(row.tools)
        tools = f"{count} tool{'s' * (count != 1)}" if row.state == "connected" else row.reason
        rows.append((row.name, row.state, tools, row.where))
    if not rows:
        output.print_message("There are no MCP servers. They are read from .mcp.json, for example.")
    output.print_rows(rows, prose=(2,))


def change_model(state: TerminalState, words: str) -> None:
    """Change the main model, or print its name."""
    if words:
        state.change_models(replace(state.options, model=words))
    output.print_message(f"model {state.session.model.name}")


def change_small_model(state: TerminalState, words: str) -> None:
    """Change the model that summarizes, or print its name."""
    if words:
        state.change_models(replace(state.options, small_model=words))
    output.print_message(f"small model {state.session.small_model.name}")


def show_history(state: TerminalState, _: str) -> None:
    """Print the conversation in short: a line for each message."""
    rows = [row for message in state.session.messages if (row := _describe_message(message))[1]]
    if not rows:
        output.print_message("The conversation is empty.")
    output.print_rows(rows, prose=(1,))


def _describe_message(message: Message) -> tuple[str, str]:
    text = truncate_text(find_first_line(message.text), _MAX_SHOWN)
    if message.role == "user":
        return "you", text
    names = [call.name for call in message.calls]
    calls = f"[{', '.join(names)}]" if names else ""
    return "agent", " ".join(filter(None, [text, calls]))


def retry_prompt(state: TerminalState, _: str) -> str:
    """Return the last prompt, and take it with all that followed out of the conversation."""
    if not state.prompts:
        raise UsageError("no prompt was sent yet", hint="press Up for earlier prompts")
    prompt, session = state.prompts.pop(), state.session
    numbers = [n for n, one in enumerate(session.messages) if one.text == prompt]
    if numbers:  # else it was summarized
        del session.messages[numbers[-1] :]
        state.forget_results()
    return prompt


def compact_conversation(state: TerminalState, words: str) -> None:
    """Summarize the conversation; with --force, even a short one."""
    before, _ = state.measure_context()
    if not state.compact(force=bool(words)) and not state.surroundings.stop.is_requested:
        is_recent = len(state.session.messages) <= RECENT_MESSAGES
        kept = f"a summary keeps the last {RECENT_MESSAGES} messages"
        hint = kept if is_recent else "/compact --force summarizes it anyway"
        output.print_message(f"The conversation is short, about {before:,} tokens: {hint}")


def show_agents(state: TerminalState, words: str) -> None:
    """Print what sub-agents do and did; of one of them, the answer."""
    runs = state.prepared.subagents.runs
    if words:
        chosen = [run for run in runs if words in (str(run.number), run.name)]
        if not chosen:
            known = [str(run.number) for run in runs]
            raise UsageError(f"there is no agent {words!r}", hint=suggest_known(words, known))
        output.print_message(f"{chosen[0].name}: {chosen[0].state}, {chosen[0].description}")
        state.view.print_markdown(chosen[0].answer or chosen[0].activity)
        return
    if not runs:
        output.print_message("No sub-agents yet.")
        return
    rows = [
        (
            str(run.number),
            run.agent.name,
            run.state,
            f"{run.budget.turns}",
            (run.state == "running" and run.activity) or run.description,
        )
        for run in runs
    ]
    output.print_table(("no", "agent", "state", "turns", "doing"), rows, prose=("doing",))


def change_permissions(state: TerminalState, words: str) -> None:
    """Print the permissions, or change them: the mode, or a rule."""
    verb, _, rest = words.partition(" ")
    rest = rest.strip()
    if not verb:
        _print_permissions(state)
        return
    change = {"mode": _set_mode, "allow": _allow, "deny": _deny, "remove": _remove}.get(verb)
    if verb in MODES:
        change, rest = _set_mode, verb
    if change is None or not rest:
        hint = "write `/permissions mode MODE`, or `allow`, `deny`, or `remove` with a RULE"
        missing = f"missing {'MODE' if verb == 'mode' else 'RULE'}"
        raise UsageError(missing if change else f"unknown change {words!r}", hint=hint)
    change(state, rest)


def _print_permissions(state: TerminalState) -> None:
    permissions = state.session.toolbox.permissions
    saved = load_allowed_rules(state.prepared.root)
    rows: list[tuple[str, str, str]] = [("mode", permissions.mode, "")]
    rows += [("allow", str(one), "saved" * (str(one) in saved)) for one in permissions.allow]
    rows += [("deny", str(rule), "") for rule in permissions.deny]
    output.print_rows(rows)


def _set_mode(state: TerminalState, word: str) -> None:
    mode = next((one for one in MODES if one == word), None)
    if mode is None:
        raise UsageError(f"unknown mode {word!r}", hint=suggest_known(word, MODES))
    state.session.toolbox.permissions.mode = mode
    output.print_message(f"permissions {mode}")


def _allow(state: TerminalState, rule: str) -> None:
    toolbox = state.session.toolbox
    toolbox.permissions.allow.append(parse_rule(rule, toolbox.tools))
    add_allowed_rule(state.prepared.root, rule)
    output.print_message(f"{rule} is allowed in this project.")


def _deny(state: TerminalState, rule: str) -> None:
    toolbox = state.session.toolbox
    toolbox.permissions.deny.append(parse_rule(rule, toolbox.tools))
    _hide_files(state)
    output.print_message(f"{rule} is denied in this session.")


def _hide_files(state: TerminalState) -> None:
    """Let searches leave out what the rules deny now."""
    toolbox = state.session.toolbox
    hides_file = compile_hidden_files(toolbox.permissions.deny, toolbox.context)
    context = replace(toolbox.context, hides_file=hides_file)
    state.session.toolbox = replace(toolbox, context=context)
    toolbox.cache.invalidate_all()


def _remove(state: TerminalState, rule: str) -> None:
    permissions, root = state.session.toolbox.permissions, state.prepared.root
    known = [str(one) for one in (*permissions.allow, *permissions.deny)]
    if rule not in known:
        raise UsageError(f"there is no rule {rule!r}", hint=suggest_known(rule, known))
    permissions.allow = [one for one in permissions.allow if str(one) != rule]
    permissions.deny = [one for one in permissions.deny if str(one) != rule]
    _hide_files(state)
    save_allowed_rules(root, [one for one in load_allowed_rules(root) if one != rule])
    output.print_message(f"{rule} is removed.")


def list_permission_words(_: TerminalState) -> list[str]:
    """Return what may follow `/permissions`."""
    return ["mode", "allow", "deny", "remove", *MODES]


def undo_changes(state: TerminalState, _: str) -> None:
    """Stash all uncommitted changes, untracked files included, if the person says yes.

    The task list and cub's other files stay. The model is told with the next prompt.
    """
    top = find_toplevel(state.prepared.root)
    if top is None:
        raise CubError("this is not a git repository, so nothing can be stashed")
    place = state.prepared.root.relative_to(top).as_posix()
    paths = ("--", place, f":(exclude){Path(place, '.cub').as_posix()}")
    status = run_git(top, "status", "--porcelain", "--untracked-files=all", *paths)
    if not status:
        output.print_message("There are no uncommitted changes.")
        return
    for line in decode_output(status).splitlines():
        output.print_message(f"  {line}")
    if not state.confirm("Stash these changes?"):
        return
    about = find_first_line(state.prompts[-1]) if state.prompts else "no prompt"
    message = f"cub code: changes after {truncate_text(about, 60)!r}"
    run_git(top, "stash", "--include-untracked", "-m", message, *paths)
    state.forget_results()
    state.attachments.append(
        "I undid all uncommitted changes with git stash: the files are as in the last commit."
    )
    output.print_message("The changes are in git's stash. `git stash pop` brings them back.")


def quit_session(state: TerminalState, _: str) -> None:
    """End the session."""
    state.is_ending = True
