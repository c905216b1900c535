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
from cub.cli.context_output import (
    context_to_json,
    print_context_sources,
    print_context_summary,
    print_task_files,
)
from cub.cli.options import get_global_options
from cub.cli.task_stores import open_task_stores, read_file_argument
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cub.actions.build_context import ContextBuild
    from cub.actions.context_settings import ContextOptions
    from cub.context.assembly import AssembledContext

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
Json = Annotated[
    bool, typer.Option("--json", help="Print the context and its sources, or the list, as JSON.")
]


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
    selectors = parse_selectors(select or ())
    targets = {"-o": output_file is not None, "--copy": copy}
    texts = {"TASKFILE": task, "--prompt": prompt, "--prompt-file": prompt_file is not None}
    if list_tasks:
        _require_alone("--list", {**texts, "--explain": explain, **targets})
        print_task_files(open_task_stores(context), directory, selectors, json=json)
        return
    _require_alone("--explain", targets if explain else {})
    prompt, piped, warnings = _read_prompt(context, prompt, prompt_file)
    request = ContextRequest(
        task, prompt, resume, selectors, parse_parameters(parameter or ()),
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
        output.print_json(context_to_json(build, result, estimate, stores.root))
    elif explain:
        print_context_sources(build, result, estimate)
    else:
        print_context_summary(build, result, estimate)
        if output_file is None and not copy:
            output.print_bytes(data)


def _require_alone(option: str, others: Mapping[str, object]) -> None:
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


def _build(build: ContextBuild, options: ContextOptions) -> AssembledContext:
    """Run what belongs to the context, and return it."""
    if options.confirm:
        confirm_commands(build.list_commands(trusted=True))
    for run in build.run_bootstraps():
        output.print_message(f"Bootstrap: {run.bootstrap.name}")
        for line in run.text.splitlines():
            output.print_message(line)
    return build.assemble(choose_audit(options))
