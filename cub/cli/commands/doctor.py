"""Run `cub doctor`: check whether a run can work, and what reaches which agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import find_root
from cub.cli.parameters import make_option, require_option_values
from cub.cli.task_stores import open_task_stores
from cub.cli.terminal import TextStyle, add_style
from cub.project.project import find_home

if TYPE_CHECKING:
    from cub.actions.doctor.findings import Finding

app = typer.Typer(add_completion=False)

Select = Annotated[
    list[str] | None, make_option("--select CODES", "Report only these codes or prefixes, as D1.")
]
Ignore = Annotated[
    list[str] | None, make_option("--ignore CODES", "Leave out these codes or prefixes.")
]
Fix = Annotated[
    bool, make_option("--fix", "Merge duplicate task lines and release tasks with expired leases.")
]
_COLORS: dict[str, TextStyle | None] = {"error": "red", "warning": "yellow", "info": None}
_JSON_KEYS = ("code", "severity", "message", "path", "line", "fix", "docs")
_HEADINGS = {"error": "Errors", "warning": "Warnings", "info": "Information"}


@app.command()
def doctor(
    context: typer.Context,
    select: Select = None,
    ignore: Ignore = None,
    fix: Fix = False,
    json: Annotated[bool, make_option("--json", "Print the findings as JSON.")] = False,
) -> None:
    """Find problems with git, agents, checks, files, and tasks.

    No agent is started, and no file is changed without --fix. The exit code is 1 if there is an
    error. Warnings alone don't change it.

    Example: cub doctor --ignore D107,D416
    """
    from cub.actions.doctor.findings import select_findings
    from cub.actions.doctor.project_problems import diagnose

    require_option_values(context)
    select_findings((), select or (), ignore or ())  # refuse an unknown code first
    if fix:
        _fix(context)
    root = find_root(context)
    found = diagnose(root, os.environ, find_home())
    findings = select_findings(found, select or (), ignore or ())
    if json:
        _print_json(findings, root)
    else:
        print_findings(findings)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


def _fix(context: typer.Context) -> None:
    from cub.actions.doctor.project_problems import fix_store_problems

    result = fix_store_problems(open_task_stores(context))
    output.print_warnings(result.warnings)
    for record in result.tasks:
        output.print_message(f"Released {record['id']}.")


def _print_json(findings: Sequence[Finding], root: Path) -> None:
    from cub.actions.doctor.findings import SEVERITIES

    rows = [{key: getattr(finding, key) for key in _JSON_KEYS} for finding in findings]
    counts = {name: sum(row["severity"] == name for row in rows) for name in SEVERITIES}
    tree = {"v": 1, "root": root.as_posix(), "findings": rows, "counts": counts}
    output.print_json(tree)


def print_findings(findings: Sequence[Finding]) -> None:
    """Print findings by severity, each with its place and its fix, and then how many there are."""
    for severity, group in groupby(findings, key=lambda finding: finding.severity):
        output.print_heading(_HEADINGS[severity])
        for finding in group:
            _print_finding(finding)
        output.print_line()
    output.print_message(summarize_findings(findings))


def _print_finding(finding: Finding) -> None:
    code = add_style(finding.code, _COLORS[finding.severity])
    where = f"{finding.location}: " if finding.location else ""
    output.print_paragraph(f"{code} {where}{finding.message}", "     ")
    if finding.fix:
        output.print_paragraph(f"     fix: {finding.fix}", "     ")


def summarize_findings(findings: Sequence[Finding]) -> str:
    """Return a sentence with the number of errors and warnings, and where the codes are."""
    from cub.actions.doctor.findings import DOCS_PAGE

    severities = [finding.severity for finding in findings]
    counts = [(name, severities.count(name)) for name in ("error", "warning")]
    parts = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts if count]
    if not parts:
        return "No problems found."
    return f"{', '.join(parts)}. {DOCS_PAGE} describes each code."
