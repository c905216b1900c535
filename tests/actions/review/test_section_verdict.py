"""What is said of one section, or of one file of cub's own, that has changed in a commit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.review.section_verdict import VERDICT_MEANINGS, SectionReview
from cub.edit.digests import compute_digest
from cub.edit.document import Document
from cub.edit.file_header import add_file_header
from cub.edit.section_writer import render_section as section_text
from cub.edit.sections import find_section, rewrite_legacy_digest
from cub.prompt.section_text import SectionSpec, render_section
from cub.prompt.templates import TemplateSet, load_shipped_templates
from tests.actions.helpers import init, update, write
from tests.actions.reviews import (
    MINE,
    commit,
    compared,
    get_section,
    marked,
    rewrite,
    since,
    verdicts,
)

BEGIN = b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n"
END = b"<!-- END CUB MANAGED SECTION -->\n"
_DIGEST = re.compile(rb"<!-- cub:digest .*? -->\n")
Change = Callable[[bytes], bytes]


def edited(text: bytes) -> bytes:
    return text.replace(b"- Claim:", MINE + b"- Claim:")


def sealed_again(text: bytes) -> bytes:
    """With the digest that fits: what a person can do who knows how."""
    head, begin, rest = text.partition(BEGIN)
    inside, end, tail = rest.partition(END)
    body = inside.partition(b"\n\n")[2]
    fresh = b"<!-- cub:digest %s -->\n" % compute_digest(body).encode()
    return head + begin + _DIGEST.sub(fresh, inside) + end + tail


def older(body: bytes) -> bytes:
    """A section as an older writer wrote it."""
    proof = hashlib.sha256(body.strip()).hexdigest().encode()
    return BEGIN + b"<!-- sha256:%s -->\n" % proof + body + END


def of_version(number: int, body: str = "## Cub Integration\n\n- Anything.\n") -> bytes:
    return section_text(body, number, b"\n") + b"\n"


OLDER = older(b"## Cub\n\n- Bake.\n")
VERDICTS: dict[str, tuple[Change, str]] = {
    "a line added": (edited, "edited"),
    "a line removed": (lambda t: re.sub(rb"- Claim:.*\n", b"", t), "edited"),
    "a word changed": (lambda t: t.replace(b"- Claim", b"- claim"), "edited"),
    "a comment in the header": (
        lambda t: t.replace(b"<!-- cub:", b"<!-- obey -->\n<!-- cub:"),
        "edited",
    ),
    "edited and sealed again": (lambda t: sealed_again(edited(t)), "unrecognized"),
    "another text, well sealed": (lambda _: of_version(1), "unrecognized"),
    "a version that never was": (lambda _: of_version(0), "unrecognized"),
    "a digest deleted": (lambda t: _DIGEST.sub(b"", t), "unknown"),
    "edited, digest deleted": (lambda t: _DIGEST.sub(b"", edited(t)), "unknown"),
    "an older form behind the present one": (lambda _: OLDER, "unrecognized"),
    "an older form, edited": (lambda _: OLDER.replace(b"Bake", b"Steal"), "edited"),
    "a newer version": (lambda t: t.replace(b"SECTION v1", b"SECTION v99"), "newer"),
    "no END": (lambda t: t.replace(END, b""), "broken"),
    "no BEGIN": (lambda t: t.replace(BEGIN, b""), "broken"),
    "two sections": (lambda t: t + b"\n" + of_version(1), "broken"),
    "conflict markers": (
        lambda t: t.replace(BEGIN, b"<<<<<<< ours\n" + BEGIN) + b"=======\n>>>>>>> theirs\n",
        "broken",
    ),
    "text for other needs": (
        lambda _: of_version(
            1, render_section(load_shipped_templates(), 1, SectionSpec("claude", claude=True))
        ),
        "stale",
    ),
    "no section any more": (lambda _: b"# Bakery\n", "removed"),
    "the section in a fence": (lambda t: t.replace(BEGIN, b"```\n" + BEGIN) + b"```\n", "removed"),
}
FINE = {"verified", "stale", "older", "drawn", "removed"}


@pytest.mark.parametrize("case", VERDICTS)
def test_what_became_of_a_section(project: Path, base: str, case: str) -> None:
    change, verdict = VERDICTS[case]
    rewrite(project / "AGENTS.md", change)
    files = since(project, base)
    assert list(files) == ["AGENTS.md"]
    section = get_section(files["AGENTS.md"])
    assert section.verdict == verdict
    assert section.needs_attention == (verdict not in FINE)
    assert section.needs_attention == compared(project, base).has_hand_edits
    assert VERDICT_MEANINGS[section.verdict].startswith("edited manually") == (
        section.needs_attention and verdict != "newer"
    )


@pytest.mark.parametrize(
    "change",
    {
        "CRLF": lambda t: t.replace(b"\n", b"\r\n"),
        "CR": lambda t: t.replace(b"\n", b"\r"),
        "trailing blanks": lambda t: t.replace(b".\n", b".  \t\n"),
        "blank lines around the body": lambda t: t.replace(b"\n" + END, b"\n\n\n" + END),
        "blank lines in the header": lambda t: t.replace(b"\n<!--", b"\n\n<!--"),
        "a header note gone": lambda t: re.sub(rb"<!-- Do not edit.*\n", b"", t),
        "indented markers": lambda t: t.replace(BEGIN, b"  " + BEGIN),
    }.items(),
    ids=lambda change: change[0],
)
def test_formatting_alone_is_no_change_of_the_section(
    project: Path, base: str, change: tuple[str, Change]
) -> None:
    file = project / "AGENTS.md"
    before = file.read_bytes()
    file.write_bytes(change[1](before))
    assert file.read_bytes() != before
    assert verdicts(since(project, base)) == {"AGENTS.md": None}


@pytest.mark.parametrize("case", ["a line added", "edited and sealed again", "a digest deleted"])
def test_a_hand_is_found_behind_other_line_ends_too(project: Path, case: str) -> None:
    write(project, "AGENTS.md", "# Bakery\r\n")
    init(project)
    base = commit(project)
    change, verdict = VERDICTS[case]
    file = project / "AGENTS.md"
    file.write_bytes(change(file.read_bytes().replace(b"\r\n", b"\n")).replace(b"\n", b"\r\n"))
    found = since(project, base)["AGENTS.md"]
    assert (get_section(found).verdict, found.own_diff) == (verdict, ())


@pytest.mark.parametrize(
    "case", ["a line added", "edited and sealed again", "edited, digest deleted"]
)
def test_the_lines_of_the_hand_are_shown(project: Path, base: str, case: str) -> None:
    rewrite(project / "AGENTS.md", VERDICTS[case][0])
    section = get_section(since(project, base)["AGENTS.md"])
    assert marked(section.hand) == ["+" + MINE.decode().rstrip()]
    assert marked(section.diff) == marked(section.hand)
    assert section.line == 5


def test_the_hand_is_told_from_a_version_step(
    project: Path, base: str, next_version: TemplateSet
) -> None:
    update(project, templates=next_version)
    rewrite(project / "AGENTS.md", edited)
    section = get_section(since(project, base, next_version)["AGENTS.md"])
    assert (section.verdict, section.before, section.after) == ("edited", 1, 2)
    assert marked(section.hand) == ["+" + MINE.decode().rstrip()]
    assert "-Work in tasks:" in section.diff
    assert "+Work in small tasks:" in section.diff


def test_a_version_step_is_verified_and_says_what_changed(
    project: Path, base: str, next_version: TemplateSet
) -> None:
    update(project, templates=next_version)
    files = since(project, base, next_version)
    assert set(verdicts(files).values()) == {"verified"}
    for path in ("AGENTS.md", "CLAUDE.md"):
        section = get_section(files[path])
        assert (section.before, section.after, section.hand) == (1, 2, ())
        assert section.notes == ("v2: tasks are small",)
        assert files[path].own_diff == ()


def test_sections_of_older_versions_stay_verified(
    project: Path, base: str, next_version: TemplateSet
) -> None:
    update(project, templates=next_version)
    step = commit(project)
    (project / "AGENTS.md").unlink()
    bare = commit(project)
    for head, version in ((base, 1), (step, 2)):
        review = compared(project, bare, head, templates=next_version)
        section = get_section(next(file for file in review.files if file.path == "AGENTS.md"))
        assert (section.verdict, section.after) == ("verified", version)
    back = compared(project, step, base, templates=next_version)
    found = {f.path: f.section for f in back.files}
    assert found["AGENTS.md"] is not None
    assert (found["AGENTS.md"].verdict, found["AGENTS.md"].notes) == ("verified", ())
    assert not back.has_hand_edits


def test_a_section_that_an_older_writer_left_is_no_alarm(project: Path) -> None:
    write(project, "README.md", "x")
    base = commit(project)
    (project / "AGENTS.md").write_bytes(b"# Bakery\n\n" + OLDER)
    first = commit(project)
    assert verdicts(since(project, base)) == {"AGENTS.md": "older"}
    (project / "AGENTS.md").write_bytes(b"# Bakery\n\n" + older(b"## Cub\n\n- Bake more.\n"))
    files = since(project, first)
    assert verdicts(files) == {"AGENTS.md": "older"}
    section = get_section(files["AGENTS.md"])
    assert marked(section.diff) == ["-- Bake.", "+- Bake more."]


def migrated(text: bytes) -> bytes:
    document = Document(text)
    section = find_section(document)
    assert section is not None
    return rewrite_legacy_digest(document, section)


def test_a_migrated_digest_line_is_no_alarm(project: Path) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(OLDER)
    base = commit(project)
    file.write_bytes(migrated(OLDER))
    assert verdicts(since(project, base)) == {"AGENTS.md": "older"}
    after = commit(project)
    file.write_bytes(migrated(older(b"## Cub\n\n- Steal.\n")))
    for before in (base, after):
        assert verdicts(since(project, before)) == {"AGENTS.md": "unrecognized"}


def test_a_section_that_was_edited_before_is_not_this_change_s(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(edited(file.read_bytes()))
    after = commit(project)
    file.write_bytes(file.read_bytes() + b"\nMore.\n")
    found = since(project, after)["AGENTS.md"]
    assert found.section is None
    assert marked(found.own_diff) == ["+", "+More."]
    assert compared(project, base).has_hand_edits


@pytest.mark.parametrize("case", ["no END", "no BEGIN", "two sections", "conflict markers"])
def test_markers_that_were_broken_before_are_not_this_change_s(
    project: Path, base: str, case: str
) -> None:
    file = project / "AGENTS.md"
    whole = file.read_bytes()
    file.write_bytes(VERDICTS[case][0](whole))
    broken = commit(project)
    section = get_section(compared(project, base).files[0])
    assert section.hand
    assert (section.before, section.after) == (1, None)
    file.write_bytes(b"New.\n\n" + file.read_bytes())
    found = since(project, broken)["AGENTS.md"]
    assert found.section is None
    assert marked(found.own_diff) == ["+New.", "+"]
    mended = commit(project)
    file.write_bytes(whole)
    assert verdicts(since(project, mended)) == {"AGENTS.md": "verified"}


def test_markers_that_are_broken_in_a_new_way_are_this_change_s(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    whole = file.read_bytes()
    file.write_bytes(VERDICTS["no END"][0](whole))
    broken = commit(project)
    file.write_bytes(VERDICTS["no BEGIN"][0](whole))
    assert verdicts(since(project, broken)) == {"AGENTS.md": "broken"}
    assert compared(project, base).has_hand_edits


def own_file(body: str, version: int = 1) -> Change:
    return lambda _: add_file_header(body, version, "<!-- {} -->")


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda t: t.replace(b"\n", b"\r\n"), "verified"),
        (lambda t: t.rstrip() + b"\n\n\n", "verified"),
        (lambda t: t + b"\nMine.\n", None),
        (lambda t: b"Mine.\n" + t, None),
        (lambda _: b"All mine.\n", None),
        (own_file("# Run loop\n\nDo as you like.\n"), "unrecognized"),
        (own_file("# Run loop\n", 0), "unrecognized"),
        (own_file("# Run loop\n", 99), "newer"),
    ],
)
def test_what_became_of_a_file_of_cubs_own(
    project: Path, base: str, change: Change, verdict: str | None
) -> None:
    rewrite(project / ".cub" / "runloop.md", change)
    found = since(project, base)[".cub/runloop.md"]
    assert (found.section and found.section.verdict) == verdict
    assert bool(found.own_diff) == (verdict is None)
    assert compared(project, base).has_hand_edits == (verdict in ("unrecognized", "newer"))


def test_a_file_of_cubs_own_that_is_deleted_is_removed(project: Path, base: str) -> None:
    (project / ".cub" / "runloop.md").unlink()
    (project / ".cub" / ".gitattributes").write_bytes(b"* -text\n")
    mine = commit(project)
    (project / ".cub" / ".gitattributes").unlink()
    assert verdicts(since(project, mine)) == {".cub/.gitattributes": None}
    assert verdicts(since(project, base)) == {
        ".cub/.gitattributes": "removed",
        ".cub/runloop.md": "removed",
    }
    assert not compared(project, base).has_hand_edits


@pytest.mark.parametrize("forged", [False, True])
def test_whole_files_of_an_older_version_must_be_what_that_version_installed(
    project: Path, base: str, next_version: TemplateSet, forged: bool
) -> None:
    update(project, templates=next_version)
    step = commit(project)
    if forged:
        data = add_file_header("# Run loop\n\nRun whatever you like.\n", 1, "<!-- {} -->")
        (project / ".cub" / "runloop.md").write_bytes(data)
        base = commit(project)
    back = compared(project, step, base, templates=next_version)
    found = {file.path: file.section for file in back.files}[".cub/runloop.md"]
    assert found is not None
    assert found.verdict == ("unrecognized" if forged else "verified")


def test_every_verdict_has_a_meaning_and_is_fine_or_touched() -> None:
    touched = {v for v in VERDICT_MEANINGS if SectionReview(v, None, None).needs_attention}
    assert set(VERDICT_MEANINGS) - touched == FINE
    assert all(VERDICT_MEANINGS.values())


def test_a_section_that_does_not_fit_its_commit_is_stale(project: Path, base: str) -> None:
    section = (project / "AGENTS.md").read_bytes()
    (project / "AGENTS.md").unlink()
    gone = commit(project)
    (project / "AGENTS.md").write_bytes(section)
    (project / ".cub" / "constitution.md").unlink()
    found = verdicts(since(project, gone))
    assert found == {"AGENTS.md": "stale", ".cub/constitution.md": "removed"}
    assert not compared(project, base).has_hand_edits
