"""Run `cub context`: print rules, a task file and the output of commands as one text."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    ExecTimeout,
    MaxOutput,
    NoContextExec,
    Profile,
    Trust,
    choose_audit,
    confirm_commands,
)
from cub.cli.json_output import JsonObject, warnings_to_json
from cub.cli.options import get_global_options
from cub.cli.task_stores import open_task_stores, read_file_argument
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
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
    typer.Option("--prompt", metavar="TEXT", help="Append this prompt; - reads it from stdin."),
]
PromptFile = Annotated[
    Path | None,
    typer.Option("--prompt-file", metavar="FILE", help="Append the text of FILE as the prompt."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to FILE instead of stdout."),
]
Copy = Annotated[bool, typer.Option("--copy", help="Copy to the clipboard instead of printing.")]
ListTasks = Annotated[
    bool, typer.Option("--list", help="List the task files with their fields and parameters.")
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
    prompt_file: PromptFile = None,
    exec_lines: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    profile: Profile = None,
    no_bootstrap: NoBootstrap = False,
    trust: Trust = False,
    estimator: EstimatorOption = Estimator.CUB,
    debug: Debug = False,
    exec_timeout: ExecTimeout = "",
    max_output: MaxOutput = "",
    explain: Explain = False,
    list_tasks: ListTasks = False,
    output_file: Output = None,
    copy: Copy = False,
    json: Json = False,
) -> None:
    """Print rules, command output, and a prompt for an agent.

    Without TASKFILE and --prompt, it prints the project's rules and the output of its commands.
    The context goes to stdout, and a summary to stderr. Rules are read in a fixed
    order, each one once. Text from a pipe on stdin becomes a block of its own. Commands that the
    project configures need `cub trust`.

    Example: cub context fix-bug -p issue=42 --exec "git diff"
    """
    from cub.actions.build_context import ContextCall, prepare_context
    from cub.actions.context_settings import ContextOptions
    from cub.context.assembly import ESTIMATORS, ContextRequest
    from cub.context.expansion import parse_parameters
    from cub.context.selectors import parse_selectors

    directory = get_global_options(context).directory
    if list_tasks:
        _require_alone("--list", {"--explain": explain, "--json": json, "TASKFILE": bool(task)})
        _print_task_files(context)
        return
    _require_alone("--explain", {"-o": output_file is not None, "--copy": copy} if explain else {})
    prompt, piped, warnings = _read_prompt(context, prompt, prompt_file)
    request = ContextRequest(
        task, prompt, resume, parse_selectors(select or ()), parse_parameters(parameter or ()),
        agent, str((directory / path).resolve()) if path else "", piped,
    )  # fmt: skip
    options = ContextOptions(
        tuple(exec_lines or ()), no_context_exec, confirm_context_exec, trust, debug,
        exec_timeout, max_output,
    )  # fmt: skip
    call = ContextCall(request, directory, os.environ, options, profile, not no_bootstrap)
    stores = open_task_stores(context)
    build = prepare_context(stores, call, is_preview=explain)
    build.warnings += warnings
    result = build.preview() if explain else _build(build, options)
    output.print_warnings(result.warnings)
    estimate = ESTIMATORS[estimator]
    data = result.text.encode("utf-8", "surrogateescape")
    if output_file is not None:
        _write_file(directory / output_file, output_file.as_posix(), data)
    if copy:
        from cub.processes.clipboard import copy_to_clipboard

        output.print_message(f"Copied with {copy_to_clipboard(data, os.environ)}.")
    if json:
        output.print_json(_context_to_json(build, result, estimate, stores.root.as_posix()))
    elif explain:
        _print_sources(build, result, estimate)
    else:
        _print_summary(build, result, estimate)
        if output_file is None and not copy:
            output.print_bytes(data)


def _require_alone(option: str, others: dict[str, bool]) -> None:
    for other, is_given in others.items():
        if is_given:
            raise UsageError(f"{option} cannot be used with {other}")


def _read_prompt(
    context: typer.Context, prompt: str, file: Path | None
) -> tuple[str, str, list[PlanWarning]]:
    """Return the prompt, the text of stdin if that is something else, and warnings."""
    from cub.cli.piped_text import read_piped_text, read_requested_text
    from cub.context.text_reader import decode_text

    if file is not None and prompt:
        raise UsageError("--prompt cannot be used with --prompt-file")
    if prompt == "-" or file == Path("-"):
        piped = read_requested_text("--prompt" if file is None else "--prompt-file")
        return piped.text.strip("\n"), "", [*piped.warnings]
    warnings = []
    if file is not None:
        decoded = decode_text(_read_file(context, file))
        prompt = decoded.text.strip("\n")
        if decoded.problem:
            warnings.append(PlanWarning(decoded.problem, file.as_posix()))
    piped = read_piped_text()
    return prompt, piped.text, [*warnings, *piped.warnings]


def _read_file(context: typer.Context, file: Path) -> bytes:
    """Return the bytes of a file; of a pipe, too, as `<(command)` of a shell is one."""
    path = get_global_options(context).directory / file
    if path.is_fifo():
        return path.read_bytes()
    return read_file_argument(context, file)


def _write_file(path: Path, shown: str, data: bytes) -> None:
    """Write the context to a file by one rename; what is no regular file is written to."""
    from cub.files.read_files import make_os_error
    from cub.files.single_file import read_single_file, replace_single_file

    if shown == "-":
        output.print_bytes(data)
        return
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        hint = f"create it: mkdir -p {shlex.quote(folder.as_posix())}"
        raise CubError("the directory of this file does not exist", where=shown, hint=hint)
    if path.is_dir():
        raise CubError("this is a directory", where=shown, hint="add the name of a file")
    if path.exists() and not path.is_file():
        try:
            path.write_bytes(data)
        except OSError as error:
            raise make_os_error(error, shown, "cannot be written") from error
    else:
        replace_single_file(path, read_single_file(path, shown), data, shown)
    output.print_message(f"Wrote {shown}.")


def _print_task_files(context: typer.Context) -> None:
    from cub.actions.context_scripts import make_text_reader
    from cub.context.expansion import list_parameters
    from cub.context.task_files import format_fields, list_task_files

    stores = open_task_stores(context)
    reader = make_text_reader(stores.project, get_global_options(context).directory)
    rows = [
        (
            file.path.stem,
            file.name,
            format_fields(file),
            " ".join(list_parameters(file.text.body) if file.expands else ()),
        )
        for file in list_task_files(reader, ("project", "user"))
    ]
    output.print_warnings(reader.warnings)
    if rows:
        output.print_table(("task", "file", "fields", "parameters"), rows, prose=("fields",))
    else:
        output.print_message("No task files.")
        output.print_hint("write one to .agents/tasks/NAME.md")


def _build(build: ContextBuild, options: ContextOptions) -> AssembledContext:
    """Run what belongs to the context, and return it."""
    if options.confirm:
        confirm_commands(build.list_trusted_commands())
    for run in build.run_bootstraps():
        output.print_message(f"Bootstrap: {run.bootstrap.name}")
        for line in run.text.splitlines():
            output.print_message(line)
    return build.assemble(choose_audit(options))


def _print_summary(
    build: ContextBuild, result: AssembledContext, estimate: Callable[[str], int]
) -> None:
    plan, taken = build.plan, sum(s.kind == "rule" and not s.reason for s in result.sources)
    files = "rule file" if plan.rule_count == 1 else "rule files"
    part = "" if taken == plan.rule_count else f", {taken} of them taken"
    output.print_message(f"Found {plan.rule_count} {files}{part}")
    if plan.task:
        output.print_message(f"Selected task: {plan.task.path.stem} ({plan.task.name})")
    output.print_message(f"Estimated tokens: {estimate(result.text):,}")


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
