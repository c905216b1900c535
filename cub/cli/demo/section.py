"""The first part of `cub demo`: the whole life of a managed section."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import init, output, remove, update
from cub.cli.carry_out import Show, carry_out
from cub.cli.options import EditedChoice

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.project.project import Project

# What a person wrote: with CRLF, trailing blanks and no line end at its end, to be kept as is.
_THEIRS = b"# Bakery\r\n\r\nBread is counted in dozens.  \r\n\r\n- Run `make test` before a commit"
_BULLET = "- Claim: `cub task claim ID`"
_ADDED = b"- Ask Ada before you touch the oven.\r\n"


def play_section(root: Path) -> None:
    """Init, a slip of a person's, update and remove, in a folder with an AGENTS.md of its own."""
    agents = root / "AGENTS.md"
    agents.write_bytes(_THEIRS)
    output.heading("A repository with an AGENTS.md of its own: Windows line ends, no last one.")
    _step(root, "cub init --diff", init.make_plan, Show(diff=True), only="AGENTS.md")
    init.close(_step(root, "cub init", init.make_plan), root)
    output.line()
    output.heading("Now a person writes a line into cub's section, by mistake.")
    agents.write_bytes(agents.read_bytes().replace(_BULLET.encode(), _ADDED + _BULLET.encode()))
    _refused(root)
    moved = _step(
        root, "cub update --edited move", lambda p: update.make_plan(p, EditedChoice.MOVE)
    )
    update.close(moved, Show())
    _step(root, "cub remove", remove.make_plan)
    remove.close(root)
    _prove(agents.read_bytes())


def _step(
    root: Path,
    command: str,
    make_plan: Callable[[Project], Plan],
    show: Show | None = None,
    only: str = "",
) -> Plan:
    output.line()
    output.heading(f"$ {command}")
    return carry_out(root, lambda project: _of(make_plan(project), only), show or Show())


def _of(plan: Plan, path: str) -> Plan:
    """The part of a plan that is about `path`; all of it where none is given."""
    from dataclasses import replace

    return replace(plan, edits=tuple(e for e in plan.edits if path in ("", e.path)))


def _refused(root: Path) -> None:
    from cub.errors import CubError

    try:
        _step(root, "cub update", update.make_plan)
    except CubError as error:
        output.error(error)


def _prove(left: bytes) -> None:
    """Show that what is left is what the person wrote, byte for byte."""
    from cub.errors import InternalError

    between = left.removeprefix(_THEIRS).removesuffix(_ADDED)
    if left != _THEIRS + between + _ADDED or between.strip():
        raise InternalError("the demo's AGENTS.md did not come back", where="AGENTS.md")
    count = f"all {len(_THEIRS)} bytes that were there before cub"
    output.line()
    output.heading(f"AGENTS.md has {count}, and the line that was written since:")
    for line in left.decode().splitlines():
        output.line(f"  {line}".rstrip())
