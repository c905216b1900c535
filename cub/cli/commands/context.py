"""Run `cub context`: print rules, a task file and the output of commands as one text."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cub.actions.command_options import COMMANDS_PANEL, ContextOptions, option
from cub.cli import output
from cub.cli.context_exec import choose_audit, confirm_commands
from cub.cli.context_output import (
    context_to_json,
    print_context_sources,
    print_context_summary,
    print_task_files,
)
from cub.cli.options import get_directory
from cub.cli.parameters import make_option, take_options
from cub.cli.task_stores import open_task_stores, read_file_argument
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
from cub.files.read_files import make_os_error
from cub.files.single_file import read_single_file, replace_single_file

if TYPE_CHECKING:
    from cub.actions.build_context import ContextBuild
    from cub.context.assembly import AssembledContext, ContextRequest

app = typer.Typer(add_completion=False)


TaskName = Annotated[
    str,
    typer.Argument(
        metavar="TASKFILE", help="Append this task file: NAME for .agents/tasks/**/NAME.md."
    ),
]
ListTasks = Annotated[
    bool, make_option("--list", "List the task files with their fields and parameters.")
]
Json = Annotated[
    bool, make_option("--json", "Print the context and its sources, or the list, as JSON.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextCommandOptions(ContextOptions):
    """Hold the options of `cub context`."""

    resume: bool = option(
        "--resume -r", "Omit the rules, and use the task file for resuming.", False
    )
    select: tuple[str, ...] = option(
        "-s KEY=VALUE",
        "Include only rules and task files with this field value (repeatable).",
        (),
    )
    parameters: tuple[str, ...] = option(
        "-p NAME=VALUE", "Set the value of ${NAME} (repeatable).", ()
    )
    agent: str = option("--agent NAME", "Include the files that this agent reads on its own.", "")
    path: str = option("--path FILE", "Exclude rules that apply only to other files.", "")
    prompt: str = option("--prompt TEXT", "Append this prompt; - reads it from stdin.", "")
    prompt_file: Path | None = option(
        "--prompt-file FILE", "Append the text of FILE as the prompt.", None
    )
    no_bootstrap: bool = option("--no-bootstrap", "Don't run bootstrap scripts of rules.", False)
    estimator: Literal["cub", "simple"] = option(
        "--estimator",
        "Choose the token estimate: cub's own, or simple (by length).",
        "cub",
    )
    exec_timeout: str = option(
        "--exec-timeout DURATION",
        "Stop a command after DURATION, such as 90s or 5m.",
        "",
        panel=COMMANDS_PANEL,
    )
    max_output: str = option(
        "--max-output SIZE",
        "Keep SIZE of each command's stdout and stderr, such as 1MB.",
        "",
        panel=COMMANDS_PANEL,
    )
    explain: bool = option(
        "--explain",
        "List each source, its tokens, and why it is included or not, without running anything.",
        False,
    )
    output_file: Path | None = option("--output -o FILE", "Write to FILE instead of stdout.", None)
    copy: bool = option("--copy", "Copy to the clipboard instead of printing.", False)

    @property
    def destinations(self) -> dict[str, object]:
        """Return by option where the text goes instead of to stdout; false if it does not."""
        return {"-o": self.output_file is not None, "--copy": self.copy}

    def make_request(self, directory: Path, task: str, prompt: str, piped: str) -> ContextRequest:
        """Return what is asked for. Raises UsageError for a wrong selector or parameter."""
        from cub.context.assembly import ContextRequest
        from cub.context.expansion import parse_parameters
        from cub.context.selectors import parse_selectors

        return ContextRequest(
            task,
            prompt,
            self.resume,
            selectors=parse_selectors(self.select),
            parameters=parse_parameters(self.parameters),
            agent=self.agent,
            path=str((directory / self.path).resolve()) if self.path else "",
            piped=piped,
        )


@app.command()
@take_options
def context(
    context: typer.Context,
    options: ContextCommandOptions,
    task: TaskName = "",
    list_tasks: ListTasks = False,
    json: Json = False,
) -> None:
    """Print rules, command output, and a prompt for an agent.

    Without TASKFILE and --prompt, it prints the project's rules and the output of its commands.
    The context goes to stdout, and a summary to stderr. Rules are read in a fixed
    order, each one once. Text from a pipe on stdin becomes a block of its own. Commands that the
    project configures need `cub trust`.

    Example: cub context fix-bug -p issue=42 --exec "git diff"
    """
    from cub.actions.build_context import prepare_context
    from cub.context.assembly import ESTIMATORS

    if list_tasks:
        _list_task_files(context, task, options, json=json)
        return
    _require_alone("--explain", options.destinations if options.explain else {})
    directory = get_directory(context)
    prompt, piped, warnings = _read_prompt(context, options.prompt, options.prompt_file)
    request = options.make_request(directory, task, prompt, piped)
    stores = open_task_stores(context)
    build = prepare_context(
        stores, request, options, directory, os.environ, is_preview=options.explain
    )
    build.warnings += warnings
    result = build.preview() if options.explain else _build(build, options)
    output.print_warnings(result.warnings)
    _deliver(result, options, directory)
    estimate = ESTIMATORS[options.estimator]
    if json:
        output.print_json(context_to_json(build, result, estimate, stores.root))
    elif options.explain:
        print_context_sources(build, result, estimate)
    else:
        print_context_summary(build, result, estimate)
        if not any(options.destinations.values()):
            output.print_bytes(result.data)


def _deliver(result: AssembledContext, options: ContextCommandOptions, directory: Path) -> None:
    if (file := options.output_file) is not None:
        _write_file(directory / file, file.as_posix(), result.data)
    if options.copy:
        from cub.processes.clipboard import copy_to_clipboard

        output.print_message(f"Copied with {copy_to_clipboard(result.data, os.environ)}.")


def _list_task_files(
    context: typer.Context, task: str, options: ContextCommandOptions, *, json: bool
) -> None:
    from cub.context.selectors import parse_selectors

    texts = {
        "TASKFILE": task,
        "--prompt": options.prompt,
        "--prompt-file": options.prompt_file is not None,
        "--explain": options.explain,
    }
    _require_alone("--list", {**texts, **options.destinations})
    selectors = parse_selectors(options.select)
    directory = get_directory(context)
    print_task_files(open_task_stores(context), directory, selectors, json=json)


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
    path = get_directory(context) / file
    if path.is_fifo():
        return path.read_bytes()
    return read_file_argument(context, file)


def _write_file(path: Path, shown: str, data: bytes) -> None:
    """Write the context to a file by one rename; what is no regular file is written to."""
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
    if options.confirm_context_exec:
        confirm_commands(build.list_commands(trusted=True))
    for run in build.run_bootstraps():
        output.print_message(f"Bootstrap: {run.bootstrap.name}")
        for line in run.text.splitlines():
            output.print_message(line)
    return build.assemble(choose_audit(options))
