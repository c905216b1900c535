"""The verdict on one section of a commit: exactly what its template renders there, or touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from cub.actions.section_edits import hand_diff
from cub.edit.diffs import text_diff
from cub.edit.document import lf_text
from cub.edit.older import is_older
from cub.edit.sections import Section, digest
from cub.errors import CubError
from cub.prompt.instructions import Need, recognize, render
from cub.prompt.templates import TemplateSet

Verdict = Literal[
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
MEANING: dict[Verdict, str] = {
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


class Found(NamedTuple):
    """What one side of a change has of a section: one, none, or broken markers."""

    section: Section | None = None
    fault: CubError | None = None


def section_review(
    path: str, old: Found, new: Found, templates: TemplateSet, need: Callable[[], Need]
) -> SectionReview | None:
    """The review of a section that has changed; None for one that has not.

    `need` is what the section has to say in the new commit; it is asked for only where it counts.
    """
    was, now = old.section, new.section
    before = was.version if was else None
    if new.fault:
        return _broken(path, old, new.fault)
    if now is None:
        return SectionReview("removed", before, None, None, _diff(path, was, None)) if was else None
    if was and _key(was) == _key(now):
        return None
    verdict, hand = _verdict(path, was, now, templates, need)
    notes = templates.changes(before, now.version) if before is not None else ()
    return SectionReview(
        verdict, before, now.version, now.start + 1, _diff(path, was, now), hand, notes
    )


def _broken(path: str, old: Found, fault: CubError) -> SectionReview | None:
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
    asked: Callable[[], Need],
) -> tuple[Verdict, tuple[str, ...]]:
    version = section.version
    if version > templates.version:
        return "newer", ()
    need = asked()
    body = render(templates, version, need) if templates.has(version) else ""
    if section.is_current(body, version):
        return "verified", ()
    original = recognize(templates, version, section.digest, need)
    hand = tuple(hand_diff(path, section, original, body))
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
    return was is not None and is_older(was) and digest(b"".join(was.body)) == now.digest


def _is_old(section: Section) -> bool:
    return section.digest.startswith("sha256:")


def _key(section: Section) -> tuple[object, ...]:
    """Equal for two sections that differ in formatting alone."""
    return section.version, section.digest, digest(b"".join(section.body))


def _diff(path: str, was: Section | None, now: Section | None) -> tuple[str, ...]:
    before, after = ("" if side is None else lf_text(b"".join(side.body)) for side in (was, now))
    return tuple(text_diff(before, after, path, "section before", "section after"))
