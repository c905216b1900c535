"""Carry out the commands about what a project with cub has: tasks, checks, the map, the context."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from cub.actions.context_settings import find_untrusted_keys
from cub.agent.conversation import ReasoningBlock, TextBlock, ToolCall
from cub.cli import output
from cub.cli.session_view import describe_review
from cub.cli.task_stores import print_task_result
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError
from cub.project.trust_store import load_trust
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.actions.session_checks import SessionChecks

_INSTRUCTIONS = re.compile(
    r'<instructions file="(?P<name>[^"\n]*)">\n.*?\n</instructions>', re.DOTALL
)
_MAX_DETAILS = 6_000  # characters of the failing checks, for the model


def show_tasks(state: TerminalState, _: str) -> None:
    """Print the tasks that are not closed."""
    from cub.actions.tasks.task_queries import list_tasks
    from cub.cli.commands.task.list_tasks import print_tasks

    task_list = list_tasks(state.open_stores())
    print_tasks(task_list)
    if not task_list.summaries:
        output.print_message("No open tasks. Run `cub task add TITLE` to add one.")


def list_task_ids(state: TerminalState) -> Iterable[str]:
    """Return the ids of the tasks that can be started."""
    from cub.actions.tasks.task_queries import list_ready_tasks

    return [task.id for task in list_ready_tasks(state.open_stores()).summaries]


def work_on_task(state: TerminalState, words: str) -> None:
    """Claim a task, have the agent work on its prompt, and run its checks at the end."""
    from cub.actions.build_prompt import build_task_prompt, read_prompt_options
    from cub.actions.tasks.transitions import claim_task

    stores = state.open_stores()
    options = read_prompt_options(stores, words, state.prepared.values)
    built = build_task_prompt(stores, words, options)
    output.print_warnings(built.warnings)
    record = options.tasks.read_record(built.task)
    own = tuple(check for check in record.get("checks") or () if check.strip())
    checks = _make_checks(state, own)
    print_task_result(stores, claim_task(stores, built.task), "Claimed", json=False)
    title = f"/task {built.task}: {record.get('title') or ''}"
    with checks.watch(state.session) if checks else nullcontext():
        end = state.work_on(built.prompt.text, title=title)
        if checks and end.reason == "end_turn":
            output.print_line()
            _run_checks(state, checks)
    task = state.open_stores().backend.read_tasks()[built.task]
    output.print_message(f"{task.id} is {task.status.replace('_', ' ')}.")
    if not task.is_closed:
        output.print_hint(f"`!cub task close {task.id}` closes it")


def run_checks(state: TerminalState, _: str) -> None:
    """Run the checks of the project, and give what fails to the next prompt."""
    checks = _make_checks(state, ())
    if checks is None:
        hint = "set run.checks to the commands that must succeed, such as [pytest]"
        raise CubError("there are no checks", hint=hint)
    _run_checks(state, checks)


def _make_checks(state: TerminalState, own: tuple[str, ...]) -> SessionChecks | None:
    """Return the project's checks and a task's own; None without any.

    A person has to agree to those that the project brings along. Raises CubError for a no.
    """
    from cub.actions.session_checks import make_session_checks

    row, root = state.prepared.values["run.checks"], state.prepared.root
    untrusted = load_trust(root).list_untrusted(own) if not state.options.trust else ()
    stores, profile = state.stores, state.options.profile
    if not state.options.trust and find_untrusted_keys(stores, [row], profile, ""):
        untrusted = [*untrusted, *row.value]
    commands = tuple(dict.fromkeys([*own, *row.value]))
    if untrusted:
        for command in untrusted:
            output.print_message(f"  {command}")
        which = "this check" if len(untrusted) == 1 else "these checks"
        if not state.confirm(f"Run {which} of the project?"):
            raise CubError("no check ran", hint="`cub trust` allows them for good")
    values = {key: value.value for key, value in state.prepared.values.items()}
    context = state.session.toolbox.context
    return make_session_checks(context, values, commands, own) if commands else None


def _run_checks(state: TerminalState, checks: SessionChecks) -> None:
    stop = state.start_work()
    with state.view.follow():
        state.view.show_progress("checks")
        reports = [*checks.run_checks(stop)]
    failing = [report for report in reports if not report.is_ok]
    for report in reports:
        output.print_message(describe_review(report))
    state.session.toolbox.cache.invalidate_all()
    if failing:
        texts = (f"`{one.command}`: {one.summary}\n{one.details}" for one in failing)
        text = "\n\n".join(texts)[:_MAX_DETAILS]
        state.attachments.append(f"I ran the project's checks. These fail:\n\n{text}")
        output.print_message("The next prompt gets what fails.")


def show_map(state: TerminalState, words: str) -> None:
    """Print the map of the project, or attach it to the next prompt."""
    from cub.actions.project_map import MapOptions, discard_write, render_map_file

    options = MapOptions(schedule_write=discard_write)
    data = render_map_file(state.open_stores().project, options).data
    if not data:
        raise CubError("there is nothing to map")
    text = data.decode("utf-8", "replace")
    if words:
        state.attachments.append(text)
        output.print_message(f"attached the map, about {estimate_tokens(text):,} tokens")
    else:
        output.print_bytes(data)


def show_context(state: TerminalState, _: str) -> None:
    """Print what the next request has, and how many tokens each part is."""
    parts = [*_list_context(state)]
    rows = [(name, f"{tokens:,}", where) for name, tokens, where in parts]
    total, limit = state.measure_context()
    name = "in all, as measured"
    if not state.session.budget.turns:  # no service has counted yet
        name, total = "in all, estimated", sum(tokens for _, tokens, _ in parts)
    rows.append((name, f"{total:,}", f"of {limit:,}"))
    output.print_table(("part", "tokens", "from"), rows, prose=("part", "from"))


def _list_context(state: TerminalState) -> Iterator[tuple[str, int, str]]:
    """Yield the parts of the next request: what they are, their tokens, and where they are from."""
    session = state.session
    rest, skills = session.system, session.toolbox.context.skills
    files = [(match["name"], match[0]) for match in _INSTRUCTIONS.finditer(rest)]
    described = skills.describe_for_model()
    for text in (*(text for _, text in files), described):
        rest = rest.replace(text, "", 1) if text else rest
    yield "system prompt", estimate_tokens(rest), "cub"
    yield from (("instructions", estimate_tokens(text), name) for name, text in files)
    if described:
        count = len(skills.for_model)
        yield "skills", estimate_tokens(described), f"{count} SKILL.md file{'s' * (count != 1)}"
    tools = session.toolbox.tools.values()
    schemas = json.dumps([tool.definition._asdict() for tool in tools])
    yield "tools", estimate_tokens(schemas), f"{len(tools)} tools"
    counts = Counter[str]()
    for message in session.messages:
        for block in message.blocks:
            match block:
                case TextBlock():
                    kind = "prompts" if message.role == "user" else "replies"
                case ToolCall():
                    kind = "calls"
                case ReasoningBlock():
                    kind = "reasoning"
                case _:
                    kind = "results"
            counts[kind] += session.window.estimate_block(block)
    yield from ((kind, tokens, "the conversation") for kind, tokens in counts.items())
    if attached := sum(map(estimate_tokens, state.attachments)):
        yield "attached", attached, "the next prompt"
