"""Judge one section or one managed file of a commit: is it exactly what its template renders?"""

from __future__ import annotations

from collections.abc import Iterator
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
from cub.actions.review.revision_pair import ChangedFile
from cub.actions.section_edits import diff_hand_edits
from cub.edit.digests import compute_digest, matches_digest
from cub.edit.document import Document, decode_with_lf
from cub.edit.file_header import FileHeader, parse_file_header
from cub.edit.sections import Section, has_legacy_digest
from cub.edit.unified_diff import diff_texts
from cub.errors import CubError
from cub.prompt.section_text import SectionSpec, recognize_section, render_section
from cub.prompt.templates import TemplateSet

SectionVerdict = Literal[
    "verified", "stale", "older", "drawn", "removed", "edited", "unknown", "unrecognized", "newer",
    "broken",
]  # fmt: skip
_FINE_VERDICTS = ("verified", "stale", "older", "drawn", "removed")
VERDICT_MEANINGS: dict[SectionVerdict, str] = {
    "verified": "verified: exactly what its template renders for this commit",
    "stale": "outdated: cub's text, but not the current version for this commit; run `cub update`",
    "older": "older version: the digest matches, but this cub has no template to compare it with",
    "drawn": "cub's map: the digest matches; run `cub map --check` to see whether it is current",
    "removed": "removed",
    "edited": "edited manually: the digest does not match",
    "unknown": "edited manually: the digest is missing",
    "unrecognized": "edited manually: the digest matches, but no template renders this text",
    "newer": "not verified: a newer cub is needed",
    "broken": "edited manually: the markers are broken",
}


@dataclass(frozen=True, slots=True)
class SectionReview:
    """Describe what happened to a section, or to a file that is cub's as a whole.

    `before` and `after` are its versions, None if there is none; `line` is where a section begins;
    `diff` is its change; `hand` is what a user wrote in it, as a diff against cub's text.
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
        """Tell whether a person must look: the text is not proven to be cub's."""
        return self.verdict not in _FINE_VERDICTS


class SectionSide(NamedTuple):
    """Hold what one side of a change has of a section: one, none, or broken markers."""

    section: Section | None = None
    fault: CubError | None = None
    document: Document | None = None


def review_section(file: ChangedFile, old: SectionSide, new: SectionSide) -> SectionReview | None:
    """Review a section that has changed; return None for one that has not."""
    before, after = old.section, new.section
    version, diff = before.version if before else None, _diff_sections(file.path, before, after)
    if new.fault:
        if old.fault and old.fault.message == new.fault.message:
            return None  # it was broken in the same way before: the change did not do that
        fault_lines = (new.fault.message, *new.fault.details)
        return SectionReview("broken", version, None, new.fault.line, diff, fault_lines)
    if after is None:
        return SectionReview("removed", version, None, None, diff) if before else None
    if before and _make_key(before) == _make_key(after):
        return None
    verdict, hand_diff = _judge_section(file, before, after)
    list_changes = file.commits.templates.list_changes
    notes = list_changes(version, after.version) if version is not None else ()
    line = after.start + 1
    return SectionReview(verdict, version, after.version, line, diff, hand_diff, notes)


def _judge_section(
    file: ChangedFile, old_section: Section | None, section: Section
) -> tuple[SectionVerdict, tuple[str, ...]]:
    templates, version = file.commits.templates, section.version
    if version > templates.version:
        return "newer", ()
    spec = file.find_section_spec()
    body = render_section(templates, version, spec) if templates.has_version(version) else ""
    if section.is_current(body, version):
        return "verified", ()
    original = recognize_section(templates, version, section.digest, spec)
    hand_diff = tuple(diff_hand_edits(file.path, section, original, body))
    if section.author != "cub":
        return section.author, hand_diff
    if original is not None:
        return "stale", ()
    return ("older", ()) if _may_be_older(old_section, section) else ("unrecognized", hand_diff)


def _may_be_older(old: Section | None, new: Section) -> bool:
    """Tell whether a section with a matching digest may be an older writer's.

    cub reads the older form of a digest and never writes it, so it cannot follow the present one; a
    migration writes the present form for the same text.
    """
    if _is_legacy(new):
        return old is None or not old.digest or _is_legacy(old)
    if old is None or not has_legacy_digest(old):
        return False
    return matches_digest(new.digest, b"".join(old.body))


def _is_legacy(section: Section) -> bool:
    return section.digest.startswith("sha256:")


def _make_key(section: Section) -> tuple[object, ...]:
    """Return a key that is equal for two sections that differ in formatting only."""
    return section.version, section.digest, compute_digest(b"".join(section.body))


def _diff_sections(path: str, old: Section | None, new: Section | None) -> tuple[str, ...]:
    bodies = (b"".join(section.body) if section else b"" for section in (old, new))
    before, after = map(decode_with_lf, bodies)
    return tuple(diff_texts(before, after, path, "section before", "section after"))


def review_managed_file(managed: ManagedFile, file: ChangedFile) -> SectionReview | None:
    """Review one of cub's own files; return None if its new text is a user's."""
    old, new = (parse_file_header(data) if data is not None else None for data in file.versions)
    old_version, new_version = (header.version if header else None for header in (old, new))
    diff = file.format_diff()
    if file.versions[1] is None:
        return SectionReview("removed", old_version, None, diff=diff, whole=True) if old else None
    if new is None or (not new.is_intact and managed is not CURSOR_RULE):
        return None
    if not new.is_intact:  # an instruction file: nothing in it is the user's
        return SectionReview("edited", old_version, new_version, diff=diff, whole=True)
    verdict = _judge_whole_file(managed, new, file)
    return SectionReview(verdict, old_version, new_version, diff=diff, whole=True)


def review_constitution(file: ChangedFile) -> SectionReview | None:
    """Review the constitution as cub installs it; return None if a user has written in it."""
    before, after = file.versions
    old, new = (_find_installed_version(data, file.commits.templates) for data in file.versions)
    if (old is None and before is not None) or (new is None and after is not None):
        return None
    verdict: SectionVerdict = "removed" if after is None else "verified"
    return SectionReview(verdict, old, new, diff=file.format_diff(), whole=True)


def _find_installed_version(data: bytes | None, templates: TemplateSet) -> int | None:
    for version in range(templates.version, 0, -1) if data is not None else ():
        text = templates.read_file("constitution.md", version)
        if compute_digest(text.encode()) == compute_digest(data or b""):
            return version
    return None


def _judge_whole_file(
    managed: ManagedFile, header: FileHeader, file: ChangedFile
) -> SectionVerdict:
    """Judge a whole file; its digest must be that of a text of its version."""
    templates, version = file.commits.templates, header.version
    if version > (MAP_FORMAT if managed is MAP_FILE else templates.version):
        return "newer"
    if managed is MAP_FILE:
        return "drawn"
    if not templates.has_version(version):
        return "unrecognized"
    specs = {} if managed.template else file.commits.load_state(file.project_folder).specs
    spec = specs.get(file.local_path)
    for number, body in enumerate(_iter_possible_bodies(managed, templates, version, spec)):
        if header.matches(body.encode(), managed.front_matter.encode()):
            stale = not managed.template and (number or not spec)
            return "stale" if stale else "verified"
    return "unrecognized"


def _iter_possible_bodies(
    file: ManagedFile, templates: TemplateSet, version: int, spec: SectionSpec | None
) -> Iterator[str]:
    """Yield what the file may say: first what it should, then what it would in another project."""
    if file.template:
        for lines in product(((), MAP_LINES), ((), LEDGER_LINES), ((), TASKS_LINES)):
            yield render_managed_file(file, templates, version, [*chain(*lines)])
        return
    base = spec or SectionSpec("rule")
    for candidate in (base, replace(base, map_text="", constitution_text="")):
        yield render_section(templates, version, candidate)
        for constitution, map_ in product((True, False), repeat=2):
            variant = replace(candidate, constitution=constitution, map=map_)
            yield render_section(templates, version, variant)
