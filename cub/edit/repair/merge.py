"""What stays of a merge outside of the section: every line that is not cub's, in order, and git's
conflict lines where the sides still differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cub.edit.conflicts import Conflict
from cub.edit.document import Document
from cub.edit.repair.sides import Name, Side


@dataclass(frozen=True, slots=True)
class Merge:
    """A document, the conflicts in it that are to be resolved, and its sides.

    `base` is None where nobody can tell what in the common ancestor is cub's.
    """

    document: Document
    conflicts: Sequence[Conflict]
    ours: Side
    theirs: Side
    base: Side | None

    @property
    def anchor(self) -> int:
        """The line where the section begins: the same on both sides if it can be, else ours."""
        both = set(self.ours.starts) & set(self.theirs.starts)
        starts = sorted(both) or self.ours.starts or self.theirs.starts
        return starts[0] if starts else len(self.document.lines)

    @property
    def bare(self) -> tuple[Side, ...]:
        """The sides that a person took the section out of, or never put one into."""
        both = (self.ours, self.theirs)
        return tuple(one for one in both if not one.sections and not one.broken)

    @property
    def own(self) -> frozenset[int]:
        """The lines outside of conflicts that are cub's: on both sides, as far as that shows."""
        if self.ours.broken or self.theirs.broken:
            return (self.theirs if self.ours.broken else self.ours).own
        return self.ours.own & self.theirs.own

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that are known."""
        known = (self.ours, self.theirs)
        return (*known, self.base) if self.base else known


def around(merge: Merge) -> tuple[list[bytes], list[bytes]]:
    """The lines above the section and those below it."""
    above: list[bytes] = []
    below: list[bytes] = []
    own, anchor, start = merge.own, merge.anchor, 0
    for conflict in (*merge.conflicts, None):
        common = range(start, conflict.start if conflict else len(merge.document.lines))
        kept = [number for number in common if number not in own]
        above += _text(merge.document, [n for n in kept if n < anchor])
        below += _text(merge.document, [n for n in kept if n >= anchor])
        if conflict:
            parts = _parted(merge, conflict)
            above += reunited(merge.document, conflict, parts[0])
            below += reunited(merge.document, conflict, parts[1])
            start = conflict.end
    return above, below


def reunited(
    document: Document, conflict: Conflict, lines: Mapping[Name, Sequence[bytes]]
) -> list[bytes]:
    """The lines of both sides: once where they are equal, else between git's conflict lines.

    Lines that one side alone has, and the ancestor has not, are an addition and no conflict.
    Where the sides differ in blank lines only, the more of them the better: none joins texts.
    """
    ours, theirs = list(lines["ours"]), list(lines["theirs"])
    base = lines.get("ancestor")
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    first, last = ours[:head], ours[len(ours) - tail :]
    one, other = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    added = base is not None and not _said(base) and not (_said(one) and _said(other))
    if added or not _said([*one, *other]):
        return [*first, *max(one, other, key=lambda part: (_said(part), len(part))), *last]
    known = conflict.base is not None and base is not None
    ancestor = [document.lines[conflict.base or 0], *(base or ())] if known else []
    opening, middle = document.line(conflict.start), document.lines[conflict.middle or 0]
    closing = document.lines[conflict.end - 1]
    return [*first, opening, *one, *ancestor, middle, *other, closing, *last]


def _said(lines: Sequence[bytes]) -> bool:
    """Whether there is more than blank lines."""
    return bool(b"".join(lines).strip())


def _parted(merge: Merge, conflict: Conflict) -> list[dict[Name, list[bytes]]]:
    """By side, what is not cub's of a conflict's lines: above the section, and below it."""
    parts: list[dict[Name, list[bytes]]] = [{}, {}]
    for side in merge.sides:
        kept = [n for n in getattr(conflict, side.name) if n not in side.own]
        cut = _cut(merge, conflict, side, kept)
        parts[0][side.name] = _text(merge.document, [n for n in kept if n < cut])
        parts[1][side.name] = _text(merge.document, [n for n in kept if n >= cut])
    if conflict.base is not None and not conflict.ancestor:
        parts[0]["ancestor"] = parts[1]["ancestor"] = []
    return parts


def _cut(merge: Merge, conflict: Conflict, side: Side, kept: Sequence[int]) -> int:
    """The line of `side` where what stands below the section begins."""
    if not conflict.start < merge.anchor < conflict.end:
        return conflict.end if conflict.end <= merge.anchor else conflict.start
    starts = [start for start in side.starts if start in getattr(conflict, side.name)]
    if starts or side.sections:
        elsewhere = conflict.start if side.starts[0] < conflict.start else conflict.end
        return starts[0] if starts else elsewhere
    return _cut_alike(merge, conflict, kept)


def _cut_alike(merge: Merge, conflict: Conflict, kept: Sequence[int]) -> int:
    """Where a side without a section has the lines that stand above it on the other side."""
    holder = merge.ours if merge.anchor in conflict.ours else merge.theirs
    outside = [n for n in getattr(conflict, holder.name) if n not in holder.own]
    above = _text(merge.document, [n for n in outside if n < merge.anchor])
    lines = _text(merge.document, kept)
    if lines[: len(above)] == above and len(above) < len(kept):
        return kept[len(above)]
    return conflict.end


def _text(document: Document, lines: Sequence[int]) -> list[bytes]:
    return [document.line(number) for number in lines]


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
