"""The verdict on one section of a commit: exactly what its template renders there, or touched."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from cub.actions.own_files import OwnFile
from cub.actions.section_edits import hand_diff
from cub.actions.view import View
from cub.edit.document import lf_text
from cub.edit.owned import Seal, digest_of, unseal
from cub.edit.plan import text_diff
from cub.edit.sections import Section, digest
from cub.errors import CubError
from cub.project.targets import is_nested
from cub.prompt.instructions import Need, recognize, render

Verdict = Literal[
    "verified", "stale", "older", "removed", "edited", "unknown", "unrecognized", "newer", "broken"
]
_FINE = ("verified", "stale", "older", "removed")
MEANING: dict[Verdict, str] = {
    "verified": "verified: exactly what its template renders for this commit",
    "stale": "cub's own text, though not the one that this commit asks for: run `cub update`",
    "older": "an older writer's text; its digest fits, and no template can prove it",
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

    verdict: Verdict
    before: int | None
    after: int | None
    line: int | None = None
    diff: tuple[str, ...] = ()
    hand: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    whole: bool = False

    @property
    def touched(self) -> bool:
        """Whether a person must look: the text is not proven to be cub's."""
        return self.verdict not in _FINE


def section_review(
    path: str,
    was: Section | None,
    now: Section | None,
    fault: CubError | None,
    seen: Callable[[], View],
) -> SectionReview | None:
    """The review of a section that has changed; None for one that has not.

    `seen` is the project of the new commit; it is asked for only where it is needed.
    """
    before = was.version if was else None
    if fault:
        line = fault.where.rpartition(":")[2]
        at = int(line) if line.isdigit() else None
        said = (fault.message, *fault.details)
        return SectionReview("broken", before, None, at, _diff(path, was, None), said)
    if now is None:
        return SectionReview("removed", before, None, None, _diff(path, was, None)) if was else None
    if was and _key(was) == _key(now):
        return None
    project = seen()
    verdict, hand = _verdict(path, now, project)
    notes = project.templates.changes(before, now.version) if before is not None else ()
    return SectionReview(
        verdict, before, now.version, now.start + 1, _diff(path, was, now), hand, notes
    )


def whole_review(
    file: OwnFile, seen: View, before: bytes | None, after: bytes | None
) -> SectionReview | None:
    """The review of one of cub's own files; None where its new text is a person's."""
    old, new = (unseal(data) if data is not None else None for data in (before, after))
    was, now = (seal.version if seal else None for seal in (old, new))
    diff = tuple(
        text_diff(lf_text(before or b""), lf_text(after or b""), file.path, "before", "after")
    )
    if after is None:
        return SectionReview("removed", was, None, diff=diff, whole=True)
    if new is None or not new.intact:
        return None
    return SectionReview(_of_whole(file, new, seen), was, now, diff=diff, whole=True)


def _of_whole(file: OwnFile, seal: Seal, seen: View) -> Verdict:
    """Whole files ship in their newest version only, so an older one proves itself alone."""
    if seal.version != seen.templates.version:
        return "newer" if seal.version > seen.templates.version else "older"
    if not file.template and file.path not in seen.needs:
        return "stale"
    body = seen.templates.file(file.template) if file.template else seen.body(file.path)
    fresh = digest_of(body.encode(), file.front.encode())
    return "verified" if seal.digest == fresh else "unrecognized"


def _verdict(path: str, section: Section, seen: View) -> tuple[Verdict, tuple[str, ...]]:
    version, templates = section.version, seen.templates
    if version > templates.version:
        return "newer", ()
    need = _need(path, seen)
    body = _rendered(seen, version, need)
    if section.is_current(body, version):
        return "verified", ()
    original = recognize(templates, version, section.digest, need)
    hand = tuple(hand_diff(path, section, original, body))
    if section.author != "cub":
        return section.author, hand
    if original is not None:
        return "stale", ()
    if section.digest.startswith("sha256:"):
        return "older", ()
    return "unrecognized", hand


def _need(path: str, seen: View) -> Need:
    """What the file at `path` needs, or would need if it were a target."""
    key = seen.files[path].key if path in seen.files else None
    same = (need for name, need in seen.needs.items() if seen.files[name].key == key)
    other = Need("agents")
    if is_nested(path):
        other = Need("nested", root=posixpath.relpath("AGENTS.md", posixpath.dirname(path)))
    return next(same, other)


def _rendered(seen: View, version: int, need: Need) -> str:
    """The body of a version that may never have been: then there is nothing to compare with."""
    try:
        return render(seen.templates, version, need)
    except LookupError:
        return ""


def _key(section: Section) -> tuple[object, ...]:
    """Equal for two sections that differ in formatting alone."""
    return section.version, section.digest, digest(b"".join(section.body))


def _diff(path: str, was: Section | None, now: Section | None) -> tuple[str, ...]:
    before, after = ("" if side is None else lf_text(b"".join(side.body)) for side in (was, now))
    return tuple(text_diff(before, after, path, "section before", "section after"))
