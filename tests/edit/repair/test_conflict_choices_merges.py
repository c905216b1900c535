"""Conflicts as git makes them, from random changes on two branches."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cub.edit.digests import compute_digest
from cub.edit.document import Document
from cub.edit.markers import find_conflicts, find_markers
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.section_writer import render_section
from cub.edit.sections import Section, find_section
from cub.errors import CubError
from tests.edit.strategies import ENDS
from tests.examples import hardly_any_examples

RULES = ["- Find a task.", "- Claim it.", "- Search first.", "- Run the checks.", "- Report."]
BODIES = [
    "## Cub\n\n" + "\n".join(rules) + "\n"
    for rules in (RULES, RULES[:2] + RULES[3:], ["- Read the map.", *RULES], RULES[::-1])
]
ABOVE = ["# Title", "", "Bread is counted in dozens.", "Rye too.", ""]
BELOW = ["", "## More", "", "The oven is hot."]


class Branch(NamedTuple):
    """What one branch made of the file."""

    above: list[str]
    section: list[str]
    below: list[str]

    def text(self, *, moved: bool = False) -> str:
        parts = (self.section, self.above) if moved else (self.above, self.section)
        return "\n".join([*parts[0], *parts[1], *self.below]) + "\n"


def section(body: str) -> list[str]:
    return render_section(body, 1, b"\n").decode().split("\n")


@st.composite
def changed(draw: st.DrawFn, lines: list[str], who: str) -> list[str]:
    """The lines of a person's text, perhaps with one of `who` added, or one deleted."""
    at = draw(st.integers(0, len(lines)))
    how = draw(st.sampled_from(["same", "same", "add", "add", "change", "delete"]))
    new = [f"{who} adds in {at}."] if how in ("add", "change") else []
    return [*lines[:at], *new, *lines[at + (how in ("change", "delete")) :]]


@st.composite
def branches(draw: st.DrawFn, who: str) -> str:
    """The file on one branch: cub's section of some version, edited, moved, or taken out."""
    own = section(draw(st.sampled_from(BODIES)))
    how = draw(st.sampled_from(["same"] * 4 + ["edited", "moved", "out"]))
    if how == "edited":
        at = draw(st.integers(6, len(own) - 2))
        own = [*own[:at], f"- {who} edits in {at}.", *own[at:]]
    above, below = draw(changed(ABOVE, who)), draw(changed(BELOW, who))
    return Branch(above, [] if how == "out" else own, below).text(moved=how == "moved")


def merged(folder: Path, style: str, ours: str, base: str, theirs: str) -> str:
    """What `git merge-file` makes of the three."""
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(text.encode())
    command = ["git", "merge-file", "-p", *([f"--{style}"] if style else [])]
    done = subprocess.run(
        [*command, "ours", "base", "theirs"], cwd=folder, capture_output=True, check=False
    )
    return done.stdout.decode()


def recognize(section: Section) -> str | None:
    """As the templates of every version, and git's stages, would tell."""
    return next((body for body in BODIES if compute_digest(body.encode()) == section.digest), None)


@pytest.mark.parametrize("style", ["", "diff3", "zdiff3"])
@given(
    ours=branches("Ada"),
    theirs=branches("Bob"),
    base=st.sampled_from(["", *(Branch(ABOVE, section(body), BELOW).text() for body in BODIES)]),
    end=st.sampled_from(ENDS[:2]),
)
@settings(
    parent=hardly_any_examples,  # each is a merge by git
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
def test_of_two_branches_every_line_that_is_not_cubs_stays(
    tmp_path: Path, style: str, ours: str, theirs: str, base: str, end: str
) -> None:
    base = base or "\n".join([*ABOVE, *BELOW]) + "\n"
    texts = (text.replace("\n", end) for text in (ours, base, theirs))
    document = Document(merged(tmp_path, style, *texts).encode(), "AGENTS.md")
    found = find_conflicts(document)
    assume(found)
    yours = _yours(document)
    for choice in _offered(document):
        result = document.replace_data(choice.data)
        kept = find_section(result)
        assert (kept is None) == (not find_markers(result))
        if choice.needs_render:
            assert kept is not None
            assert kept.author == "cub"
        left = _yours(result)
        # What git merged between two conflicts is text of one side and section of the other: a
        # line of such a place may come twice, but never less than once.
        assert all(1 <= left.count(line) <= 2 * yours.count(line) for line in yours)


def _offered(document: Document) -> list[RepairChoice]:
    """The choices; none where only a person can resolve it."""
    try:
        return list_repair_choices(document, recognize)
    except CubError:
        return []


def _yours(document: Document) -> list[bytes]:
    """Your lines on both sides; those of the ancestor are neither's any more."""
    past = {number for conflict in find_conflicts(document) for number in conflict.ancestor}
    lines = [line for number, line in enumerate(document.lines) if number not in past]
    text = {line.encode() for line in (*ABOVE, *BELOW) if line}
    return [n for n in lines if n.rstrip() in text or b"Ada" in n or b"Bob" in n]
