"""The verdict on one section of a commit: exactly what its template renders there, or touched.

The verdict on a whole file of cub's own in a commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Literal, NamedTuple

from cub.actions.managed_files import (
    CURSOR_RULE,
    LEDGER_LINES,
    MAP_FILE,
    MAP_FORMAT,
    MAP_LINES,
    TASKS_LINES,
    ManagedFile,
    render_managed_file,
)
from cub.actions.review.revision_pair import diff_versions
from cub.actions.section_edits import diff_hand_edits
from cub.edit.document import decode_with_lf, normalize_lines
from cub.edit.file_header import FileHeader, compute_file_digest, parse_file_header
from cub.edit.sections import Section, compute_digest, has_legacy_digest
from cub.edit.unified_diff import diff_texts
from cub.errors import CubError
from cub.prompt.section_text import SectionSpec, recognize_section, render_section
from cub.prompt.templates import TemplateSet

SectionVerdict = Literal[
    "verified",
    "stale",
    "older",
    "drawn",
    "removed",
    "edited",
    "unknown",
    "unrecognized",
    "newer",
    "broken",
]
_FINE = ("verified", "stale", "older", "drawn", "removed")
VERDICT_MEANINGS: dict[SectionVerdict, str] = {
    "verified": "verified: exactly what its template renders for this commit",
    "stale": "cub's own text, though not the one that this commit asks for: run `cub update`",
    "older": "an older writer's text: its digest fits, and no template can prove it",
    "drawn": "cub's own map: its digest fits, and `cub map --check` tells whether the files do",
    "removed": "taken out",
    "edited": "touched by hand: its digest does not fit",
    "unknown": "touched by hand: it has no digest",
    "unrecognized": "touched by hand: its digest fits, but no template gives this text",
    "newer": "not verified: a newer cub is needed",
    "broken": "touched by hand: its markers are broken",
}


@dataclass(frozen=True, slots=True)
class SectionReview:
    """What became of a section, or of a file that is cub's as a whole.

    `before`, `after`: its versions, None where there is none; `line`: where a section begins;
    `diff`: its change; `hand`: what a person wrote in it, as a diff against cub's text.
    """

    verdict: SectionVerdict
    before: int | None
    after: int | None
    line: int | None = None
    diff: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    whole: bool = False

    @property
    def needs_attention(self) -> bool:
        """Whether a person must look: the text is not proven to be cub's."""
        return self.verdict not in _FINE


class SectionSide(NamedTuple):
    """What one side of a change has of a section: one, none, or broken markers."""

    section: Section | None = None
    fault: CubError | None = None


def review_section(
    path: str,
    old: SectionSide,
    new: SectionSide,
    templates: TemplateSet,
    need: Callable[[], SectionSpec],
) -> SectionReview | None:
    """The review of a section that has changed; None for one that has not.

    `need` is what the section has to say in the new commit; it is asked for only where it counts.
    """
    was, now = old.section, new.section
    before = was.version if was else None
    if new.fault:
        return _review_broken(path, old, new.fault)
    if now is None:
        return SectionReview("removed", before, None, None, _diff(path, was, None)) if was else None
    if was and _key(was) == _key(now):
        return None
    verdict, hand = _verdict(path, was, now, templates, need)
    notes = templates.list_changes(before, now.version) if before is not None else ()
    return SectionReview(
        verdict, before, now.version, now.start + 1, _diff(path, was, now), hand, notes
    )


def _review_broken(path: str, old: SectionSide, fault: CubError) -> SectionReview | None:
    """A section that was broken in the same way before is not this change's doing: what has
    changed in its file shows as the person's text.
    """
    if old.fault and old.fault.message == fault.message:
        return None
    said = (fault.message, *fault.details)
    version = old.section.version if old.section else None
    return SectionReview("broken", version, None, fault.line, _diff(path, old.section, None), said)


def _verdict(
    path: str,
    was: Section | None,
    section: Section,
    templates: TemplateSet,
    asked: Callable[[], SectionSpec],
) -> tuple[SectionVerdict, tuple[str, ...]]:
    version = section.version
    if version > templates.version:
        return "newer", ()
    need = asked()
    body = render_section(templates, version, need) if templates.has_version(version) else ""
    if section.is_current(body, version):
        return "verified", ()
    original = recognize_section(templates, version, section.digest, need)
    hand = tuple(diff_hand_edits(path, section, original, body))
    if section.author != "cub":
        return section.author, hand
    if original is not None:
        return "stale", ()
    return ("older", ()) if _may_be_older(was, section) else ("unrecognized", hand)


def _may_be_older(was: Section | None, now: Section) -> bool:
    """Whether a section whose digest fits is an older writer's.

    cub reads the older form of a digest and never writes it, so it cannot follow upon the present
    one; a migration writes the present form for the same text.
    """
    if _is_old(now):
        return was is None or not was.digest or _is_old(was)
    return (
        was is not None
        and has_legacy_digest(was)
        and compute_digest(b"".join(was.body)) == now.digest
    )


def _is_old(section: Section) -> bool:
    return section.digest.startswith("sha256:")


def _key(section: Section) -> tuple[object, ...]:
    """Equal for two sections that differ in formatting alone."""
    return section.version, section.digest, compute_digest(b"".join(section.body))


def _diff(path: str, was: Section | None, now: Section | None) -> tuple[str, ...]:
    before, after = (
        "" if side is None else decode_with_lf(b"".join(side.body)) for side in (was, now)
    )
    return tuple(diff_texts(before, after, path, "section before", "section after"))


def review_managed_file(
    file: ManagedFile,
    path: str,
    before: bytes | None,
    after: bytes | None,
    templates: TemplateSet,
    wanted: Callable[[], SectionSpec | None],
) -> SectionReview | None:
    """The review of one of cub's own files; None where its new text is a person's.

    `wanted` is what it has to say if its text depends on the project, None if it is no target.
    """
    old, new = (parse_file_header(data) if data is not None else None for data in (before, after))
    was, now = (seal.version if seal else None for seal in (old, new))
    diff = diff_versions(path, before, after)
    if after is None:
        return SectionReview("removed", was, None, diff=diff, whole=True) if old else None
    if new is None or (not new.is_intact and file is not CURSOR_RULE):
        return None
    if not new.is_intact:  # an instruction file: nothing in it is a person's
        return SectionReview("edited", was, now, diff=diff, whole=True)
    verdict = _of_whole(file, new, templates, wanted)
    return SectionReview(verdict, was, now, diff=diff, whole=True)


def review_constitution(
    path: str, before: bytes | None, after: bytes | None, templates: TemplateSet
) -> SectionReview | None:
    """The review of the constitution as cub installs it; None where a person has written in it."""
    was, now = (_installed_version(data, templates) for data in (before, after))
    if (was is None and before is not None) or (now is None and after is not None):
        return None
    verdict: SectionVerdict = "removed" if after is None else "verified"
    return SectionReview(verdict, was, now, diff=diff_versions(path, before, after), whole=True)


def _installed_version(data: bytes | None, templates: TemplateSet) -> int | None:
    """The newest version that installs this text."""
    if data is None:
        return None
    texts = (
        (v, templates.read_file("constitution.md", v)) for v in range(templates.version, 0, -1)
    )
    return next(
        (v for v, text in texts if normalize_lines(text.encode()) == normalize_lines(data)), None
    )


def _of_whole(
    file: ManagedFile,
    seal: FileHeader,
    templates: TemplateSet,
    wanted: Callable[[], SectionSpec | None],
) -> SectionVerdict:
    """A digest alone proves nothing: it must be that of a text of its version."""
    if seal.version > (MAP_FORMAT if file is MAP_FILE else templates.version):
        return "newer"
    if file is MAP_FILE:
        return "drawn"
    if not templates.has_version(seal.version):
        return "unrecognized"
    need = None if file.template else wanted()
    for number, body in enumerate(_bodies(file, templates, seal.version, need)):
        if seal.digest == compute_file_digest(body.encode(), file.front_matter.encode()):
            stale = not file.template and (number or not need)
            return "stale" if stale else "verified"
    return "unrecognized"


def _bodies(
    file: ManagedFile, templates: TemplateSet, version: int, spec: SectionSpec | None
) -> Iterator[str]:
    """What the file may say: first what it should, then what it would in another project."""
    if file.template:
        for lines in product(((), MAP_LINES), ((), LEDGER_LINES), ((), TASKS_LINES)):
            yield render_managed_file(file, templates, version, [*chain(*lines)])
        return
    asked = spec or SectionSpec("rule")
    for other in (asked, replace(asked, map_text="", constitution_text="")):
        yield render_section(templates, version, other)
        for constitution, map_ in product((True, False), repeat=2):
            said = replace(other, constitution=constitution, map=map_)
            yield render_section(templates, version, said)
