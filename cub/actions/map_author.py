"""Whose lines the map's file holds: cub's alone, or a person's too."""

from __future__ import annotations

from collections.abc import Sequence

from cub.actions.own_files import MAP, is_intact
from cub.edit.conflicts import Conflict, conflicts
from cub.edit.document import Document, split_lines
from cub.edit.repair.sides import Name, side_lines
from cub.git import unmerged
from cub.project.project import Project


def is_cubs(project: Project, data: bytes) -> bool:
    """Whether cub wrote every line: the file is intact, or a merge of two that are."""
    if is_intact(data):
        return True
    document = Document(data)
    torn = conflicts(document)
    return _has_intact_sides(document, torn) or _is_gits(project, document, torn)


def _has_intact_sides(document: Document, torn: Sequence[Conflict]) -> bool:
    if not torn or any(conflict.middle is None for conflict in torn):
        return False
    names: list[Name] = ["ours", "theirs"]
    if any(conflict.base is not None for conflict in torn):
        names.append("ancestor")
    sides = (side_lines(document, torn, name) for name in names)
    return all(is_intact(b"".join(document.lines[n] for n in side)) for side in sides)


def _is_gits(project: Project, document: Document, torn: Sequence[Conflict]) -> bool:
    """Whether each line is one of the intact maps that git is merging; where it could, git has
    mixed their lines.
    """
    sides = filter(is_intact, unmerged(project.root, project.tree.real(MAP)))
    known = {_bare(line) for side in sides for line in split_lines(side)}
    marks = {n for c in torn for n in (c.start, c.base, c.middle, c.end - 1)}
    lines = (line for number, line in enumerate(document.lines) if number not in marks)
    return bool(known) and all(_bare(line) in known for line in lines)


def _bare(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")
