"""Run `cub context`: print rules, a task file and the output of commands as one text."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    NoContextExec,
    Profile,
    Trust,
    choose_audit,
    confirm_commands,
)
from cub.cli.json_output import JsonObject, warnings_to_json
from cub.cli.options import get_global_options
from cub.cli.task_stores import open_task_stores
from cub.text import join_first

if TYPE_CHECKING:
    from collections.abc import Callable

    from cub.actions.build_context import ContextBuild
    from cub.actions.context_settings import ContextOptions
    from cub.context.assembly import AssembledContext
    from cub.context.text_collector import ContextPart

app = typer.Typer(add_completion=False)


class Estimator(StrEnum):
    """Name the ways to estimate tokens."""

    CUB = "cub"
    SIMPLE = "simple"


TaskName = Annotated[
    str,
    typer.Argument(
        metavar="TASKFILE",
        help="Append this task file: NAME for .agents/tasks/**/NAME.md.",
        show_default=False,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", "-r", help="Omit the rules, and use the task file for resuming."),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        metavar="KEY=VALUE",
        help="Include only rules and task files with this field value (repeatable).",
    ),
]
Parameter = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="NAME=VALUE", help="Set the value of ${NAME} (repeatable)."),
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", metavar="NAME", help="Include the files that this agent reads on its own."
    ),
]
PathOption = Annotated[
    str,
    typer.Option("--path", metavar="FILE", help="Exclude rules that apply only to other files."),
]
Prompt = Annotated[
    str,
    typer.Option("--prompt", metavar="TEXT", help="Append this prompt."),
]
NoBootstrap = Annotated[
    bool, typer.Option("--no-bootstrap", help="Don't run bootstrap scripts of rules.")
]
EstimatorOption = Annotated[
    Estimator,
    typer.Option(
        "--estimator", help="Choose the token estimate: cub's own, or simple (by length)."
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="List each source, its tokens, and why it is included or not, without "
        "running anything.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the context and its sources as JSON.")]


@app.command()
def context(
    context: typer.Context,
    task: TaskName = "",
    resume: Resume = False,
    select: Select = None,
    parameter: Parameter = None,
    agent: Agent = "",
    path: PathOption = "",
    prompt: Prompt = "",
    exec_lines: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    profile: Profile = None,
    no_bootstrap: NoBootstrap = False,
    trust: Trust = False,
    estimator: EstimatorOption = Estimator.CUB,
    debug: Debug = False,
    explain: Explain = False,
    json: Json = False,
) -> None:
    """Print rules, command output, and a prompt for an agent.

    Without TASKFILE and --prompt, it prints the project's rules and the output of its commands.
    The context goes to stdout, and a summary to stderr. Rules are read in a fixed
    order, each one once. Commands that the project configures need `cub trust`.

    Example: cub context fix-bug -p issue=42 --exec "git diff"
    """
    from cub.actions.build_context import ContextCall, prepare_context
    from cub.actions.context_settings import ContextOptions
    from cub.context.assembly import ESTIMATORS, ContextRequest
    from cub.context.expansion import parse_parameters
    from cub.context.selectors import parse_selectors

    directory = get_global_options(context).directory
    request = ContextRequest(
        task, prompt, resume, parse_selectors(select or ()), parse_parameters(parameter or ()),
        agent, str((directory / path).resolve()) if path else "",
    )  # fmt: skip
    options = ContextOptions(
        tuple(exec_lines or ()), no_context_exec, confirm_context_exec, trust, debug
    )
    call = ContextCall(request, directory, os.environ, options, profile, not no_bootstrap)
    stores = open_task_stores(context)
    build = prepare_context(stores, call, is_preview=explain)
    result = build.preview() if explain else _build(build, options)
    output.print_warnings(result.warnings)
    estimate = ESTIMATORS[estimator]
    if json:
        output.print_json(_context_to_json(build, result, estimate, stores.root.as_posix()))
    elif explain:
        _print_sources(build, result, estimate)
    else:
        _print_context(build, result, estimate)


def _build(build: ContextBuild, options: ContextOptions) -> AssembledContext:
    """Run what belongs to the context, and return it."""
    if options.confirm:
        confirm_commands(build.list_trusted_commands())
    for run in build.run_bootstraps():
        output.print_message(f"Bootstrap: {run.bootstrap.name}")
        for line in run.text.splitlines():
            output.print_message(line)
        if run.problem:
            output.print_message(f"The bootstrap {run.bootstrap.name} {run.problem}.")
    return build.assemble(choose_audit(options))


def _print_context(
    build: ContextBuild, result: AssembledContext, estimate: Callable[[str], int]
) -> None:
    plan, taken = build.plan, sum(s.kind == "rule" and not s.reason for s in result.sources)
    files = "rule file" if plan.rule_count == 1 else "rule files"
    part = "" if taken == plan.rule_count else f", {taken} of them taken"
    output.print_message(f"Found {plan.rule_count} {files}{part}")
    if plan.task:
        output.print_message(f"Selected task: {plan.task.path.stem} ({plan.task.name})")
    output.print_message(f"Estimated tokens: {estimate(result.text):,}")
    output.print_bytes(result.text.encode("utf-8", "surrogateescape"))


def _print_sources(
    build: ContextBuild, result: AssembledContext, estimate: Callable[[str], int]
) -> None:
    rows = [
        (source.name, join_first(source.agents, 2), _format_tokens(source, estimate), _why(source))
        for source in result.sources
    ]
    untrusted = build.list_untrusted_commands()
    for commands, why in (
        (build.list_trusted_commands(), "would run"),
        (untrusted, "not trusted: would not run"),
    ):
        rows += [(f"{command.name} ({command.origin})", "", "", why) for command in commands]
    rows.append(("in all", "", f"{estimate(result.text):,}", ""))
    output.print_table(("source", "agents", "tokens", "why"), rows, prose=("agents", "why"))


def _format_tokens(source: ContextPart, estimate: Callable[[str], int]) -> str:
    return "" if source.reason else f"{estimate(source.text):,}"


def _why(source: ContextPart) -> str:
    return f"left out: {source.reason}" if source.reason else "in"


def _context_to_json(
    build: ContextBuild, result: AssembledContext, estimate: Callable[[str], int], root: str
) -> JsonObject:
    task = build.plan.task
    return {
        "v": 1,
        "root": root,
        "context": result.text,
        "tokens": estimate(result.text),
        "task": task.name if task else None,
        "sources": [
            {
                "kind": source.kind,
                "name": source.name,
                "scope": source.scope,
                "agents": list(source.agents),
                "included": not source.reason,
                "why": source.reason,
                "tokens": estimate(source.text),
            }
            for source in result.sources
        ],
        "commands": [
            {
                "name": item.command.name,
                "command": item.command.command,
                "origin": item.command.origin,
                "exit": item.exit_code,
                "problem": item.problem,
                "dur_s": round(item.result.seconds, 2),
            }
            for item in build.outputs
        ],
        "warnings": warnings_to_json(result.warnings),
    }
