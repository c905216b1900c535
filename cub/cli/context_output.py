"""Show a context for people and as JSON: what it is made of, and the task files to choose from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.json_output import JsonObject, make_result
from cub.text import join_first

if TYPE_CHECKING:
    from cub.actions.build_context import ContextBuild
    from cub.actions.tasks.stores import Stores
    from cub.context.assembly import AssembledContext
    from cub.context.selectors import Selectors
    from cub.context.task_files import TaskFile
    from cub.context.text_collector import ContextPart

Estimate = Callable[[str], int]


def print_context_summary(
    build: ContextBuild, result: AssembledContext, estimate: Estimate
) -> None:
    """Print how many rules were found, the task file, and the tokens."""
    plan, taken = build.plan, sum(s.kind == "rule" and not s.reason for s in result.sources)
    files = "rule file" if plan.rule_count == 1 else "rule files"
    part = "" if taken == plan.rule_count else f", {taken} of them taken"
    output.print_message(f"Found {plan.rule_count} {files}{part}")
    if plan.task:
        output.print_message(f"Selected task: {plan.task.path.stem} ({plan.task.name})")
    output.print_message(f"Estimated tokens: {estimate(result.text):,}")


def print_context_sources(
    build: ContextBuild, result: AssembledContext, estimate: Estimate
) -> None:
    """Print a table of the sources, with their tokens and why they are in or not."""
    rows = [_make_source_row(source, estimate) for source in result.sources]
    for commands, why in (
        (build.list_commands(trusted=True), "would run"),
        (build.list_commands(trusted=False), "not trusted: would not run"),
    ):
        rows += [(f"{command.name} ({command.origin})", "", "", why) for command in commands]
    rows.append(("in all", "", f"{estimate(result.text):,}", ""))
    output.print_table(("source", "agents", "tokens", "why"), rows, prose=("agents", "why"))


def _make_source_row(source: ContextPart, estimate: Estimate) -> tuple[str, ...]:
    tokens = "" if source.reason else f"{estimate(source.text):,}"
    why = f"left out: {source.reason}" if source.reason else "in"
    return source.name, join_first(source.agents, 2), tokens, why


def context_to_json(
    build: ContextBuild, result: AssembledContext, estimate: Estimate, root: Path
) -> JsonObject:
    """Return the text, and what it is made of."""
    task = build.plan.task
    sources = [
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
    ]
    commands = [
        {
            "name": item.command.name,
            "command": item.command.command,
            "origin": item.command.origin,
            "exit": item.exit_code,
            "problem": item.problem,
            "dur_s": round(item.result.seconds, 2),
        }
        for item in build.outputs
    ]
    return make_result(
        root,
        result.warnings,
        context=result.text,
        tokens=estimate(result.text),
        task=task.name if task else None,
        sources=sources,
        commands=commands,
    )


def print_task_files(stores: Stores, directory: Path, selectors: Selectors, *, json: bool) -> None:
    """Print the task files that selectors choose from, with their fields and parameters."""
    from cub.actions.context_scripts import make_text_reader
    from cub.context.selectors import explain_mismatch
    from cub.context.task_files import list_task_files

    reader = make_text_reader(stores.project, directory)
    found = list_task_files(reader, ("project", "user"))
    files = [file for file in found if not explain_mismatch(file.text.fields, selectors)]
    if json:
        rows = [_task_file_to_json(file) for file in files]
        output.print_json(make_result(stores.root, reader.warnings, files=rows))
        return
    output.print_warnings(reader.warnings)
    if files:
        cells = [_make_cells(file) for file in files]
        output.print_table(("task", "file", "fields", "parameters"), cells, prose=("fields",))
    elif found:
        output.print_message("No task files match.")
    else:
        output.print_message("No task files.")
        output.print_hint("write one to .agents/tasks/NAME.md")


def _make_cells(file: TaskFile) -> tuple[str, ...]:
    from cub.context.task_files import format_fields

    parameters = " ".join(parameter.text for parameter in file.parameters)
    return file.path.stem, file.name, format_fields(file), parameters


def _task_file_to_json(file: TaskFile) -> JsonObject:
    return {
        "task": file.path.stem,
        "file": file.name,
        "scope": "project" if file.is_project else "user",
        "fields": file.selectable_fields,
        "selectors": {key: [*values] for key, values in file.rule_selectors.items()},
        "parameters": [
            {"name": one.name, "default": one.default, "required": one.is_required}
            for one in file.parameters
        ],
    }
