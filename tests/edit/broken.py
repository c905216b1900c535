"""Broken documents, put together from few pieces: each break of law, with each kind of digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from cub.edit.digests import compute_digest
from cub.edit.section_writer import render_section
from cub.edit.sections import Section
from tests.edit.strategies import BODY

Digest = Literal["intact", "edited", "unknown"]
DIGESTS: tuple[Digest, ...] = ("intact", "edited", "unknown")

BEGIN = "<!-- BEGIN CUB MANAGED SECTION v1 -->\n"
END = "<!-- END CUB MANAGED SECTION -->\n"
NEXT = BODY.replace("one task", "the next task")  # what another cub wrote
MINE = "- Ask Ada first.\n"
TEXT = "Yours.\n"


def inside(kind: Digest = "intact", body: str = BODY, mine: str = MINE) -> str:
    """What stands between BEGIN and END: as cub wrote it, with a line of yours, without digest."""
    whole = render_section(body, 1, b"\n").decode() + "\n"
    text = whole.removeprefix(BEGIN).removesuffix(END)
    if kind == "intact":
        return text
    text = text.replace("- Work", mine + "- Work")
    lines = text.splitlines(keepends=True)
    return text if kind == "edited" else "".join(n for n in lines if "cub:digest" not in n)


def section(kind: Digest = "intact", body: str = BODY, mine: str = MINE) -> str:
    return BEGIN + inside(kind, body, mine) + END


def conflict(ours: str, theirs: str, base: str | None = None) -> str:
    """As git writes it: with the ancestor, as diff3 does, where there is one."""
    middle = "" if base is None else f"||||||| base\n{base}"
    return f"<<<<<<< HEAD\n{ours}{middle}=======\n{theirs}>>>>>>> topic\n"


def _within(kind: Digest) -> str:
    """A conflict in the digest line and in the first line of the body: git's usual work."""
    ours, theirs = inside("intact"), inside(kind, NEXT)
    notes = "".join(ours.splitlines(keepends=True)[:2])
    tail = "- Work on one task.\n\n"
    upper = ours.removeprefix(notes).removesuffix(tail)
    lower = theirs.removeprefix(notes)
    return BEGIN + notes + conflict(upper + tail, lower) + END


BREAKS: Mapping[str, Callable[[Digest], str]] = {
    "unbroken": section,
    "BEGIN without END": lambda kind: BEGIN + inside(kind) + TEXT,
    "END without BEGIN": lambda kind: inside(kind) + END + TEXT,
    "neither BEGIN nor END": lambda kind: inside(kind) + TEXT,
    "END before BEGIN": lambda kind: END + TEXT + BEGIN + inside(kind) + TEXT,
    "BEGIN, then a section": lambda kind: BEGIN + TEXT + section(kind),
    "a section, then BEGIN": lambda kind: section(kind) + TEXT + BEGIN,
    "a section, then END": lambda kind: section(kind) + TEXT + END,
    "a section without END, then a section": lambda kind: (
        BEGIN + inside(kind, NEXT) + TEXT + section()
    ),
    "a section between BEGIN and END": lambda kind: BEGIN + TEXT + section(kind) + TEXT + END,
    "a marker inside the section": lambda kind: section(kind).replace("- W", END + "- W"),
    "two sections, the other intact": lambda kind: section(kind) + TEXT + section(),
    "two sections, the other edited": lambda kind: section(kind) + TEXT + section("edited"),
    "two sections, the other unknown": lambda kind: section(kind) + TEXT + section("unknown"),
    "conflict inside the section": _within,
    "conflict of whole sections": lambda kind: conflict(section(), section(kind, NEXT)),
    "conflict, both sides alike": lambda kind: conflict(
        section(kind), section(kind, NEXT, "- Ask Bob first.\n")
    ),
    "conflict with your own lines": lambda kind: conflict(
        TEXT + section(), "Theirs.\n" + section(kind, NEXT)
    ),
    "conflict, one side without a section": lambda kind: conflict(section(kind), ""),
    "conflict, one side moved the section": lambda kind: (
        section() + TEXT + conflict(section(kind, NEXT), "")
    ),
    "conflict that is torn": lambda kind: (
        conflict(section(), section(kind)).replace("=======\n", "")
    ),
    "conflict, both sides broken": lambda kind: conflict(BEGIN + inside(), BEGIN + inside(kind)),
    "conflict, one side broken": lambda kind: conflict(section(), BEGIN + inside(kind)),
}  # fmt: skip


def broken(name: str, kind: Digest) -> bytes:
    """A file of a person's with the break `name` in it."""
    return f"# Title\n\n{BREAKS[name](kind)}\nThe end.\n".encode()


def recognize(section: Section) -> str | None:
    """Knows what the cub of these tests wrote, by the recorded digest or by the body."""
    known = {compute_digest(body.encode()): body for body in (BODY, NEXT)}
    return known.get(section.digest) or known.get(compute_digest(b"".join(section.body)))
