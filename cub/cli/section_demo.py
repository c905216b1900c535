"""Play the life of a managed section in AGENTS.md: `cub demo --sections`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from cub.actions.init_update import plan_init, plan_update
from cub.actions.remove import plan_remove
from cub.cli import output
from cub.cli.commands import init, remove, update
from cub.cli.plan_command import PlanDisplay, run_plan_command
from cub.edit.plan import Plan
from cub.errors import CubError, InternalError
from cub.project.project import Project

# Line endings, trailing whitespace, and the missing trailing newline must all be kept.
_USER_TEXT = (
    b"# Bakery\r\n\r\nBread is counted in dozens.  \r\n\r\n- Run `make test` before a commit"
)
_BULLET = "- Claim: `cub task claim ID`"
_ADDED = b"- Ask Ada before you touch the oven.\r\n"


def show_section_demo(root: Path) -> None:
    """Run init, update after a manual edit, and remove, in a directory that has an AGENTS.md."""
    agents = root / "AGENTS.md"
    agents.write_bytes(_USER_TEXT)
    output.print_heading("A repository with an AGENTS.md: CRLF line endings, no trailing newline.")
    _run_step(root, "cub init --diff", plan_init, PlanDisplay(diff=True), only="AGENTS.md")
    init.print_result(_run_step(root, "cub init", plan_init))
    output.print_step("A line is added inside cub's section, by mistake.")
    agents.write_bytes(agents.read_bytes().replace(_BULLET.encode(), _ADDED + _BULLET.encode()))
    _show_refusal(root)
    moved = _run_step(
        root,
        "cub update --edited move",
        partial(plan_update, edited_policy="move"),
    )
    update.print_result(moved, PlanDisplay())
    _run_step(root, "cub remove", plan_remove)
    remove.print_result(root)
    _verify_text(agents.read_bytes())


def _run_step(
    root: Path,
    command: str,
    make_plan: Callable[[Project], Plan],
    show: PlanDisplay | None = None,
    only: str = "",
) -> Plan:
    output.print_step(f"$ {command}")
    return run_plan_command(
        root, lambda project: _select_edits(make_plan(project), only), show or PlanDisplay()
    )


def _select_edits(plan: Plan, path: str) -> Plan:
    """Return the part of a plan that is about `path`; all of it for ""."""
    return replace(plan, edits=tuple(e for e in plan.edits if path in ("", e.path)))


def _show_refusal(root: Path) -> None:
    try:
        _run_step(root, "cub update", plan_update)
    except CubError as error:
        output.print_error(error)


def _verify_text(data: bytes) -> None:
    """Check and show that the user's text is there, byte for byte."""
    between = data.removeprefix(_USER_TEXT).removesuffix(_ADDED)
    if data != _USER_TEXT + between + _ADDED or between.strip():
        raise InternalError("the demo's AGENTS.md was not restored", where="AGENTS.md")
    count = len(_USER_TEXT)
    output.print_step(f"AGENTS.md has its {count} original bytes, and the line added since:")
    for line in data.decode().splitlines():
        output.print_line(f"  {line}".rstrip())
