"""The verdict on a whole file of cub's own in a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, product

from cub.actions.own_files import (
    CURSOR_RULE,
    LEDGER_LINES,
    MAP_FILE,
    MAP_FORMAT,
    MAP_LINES,
    TASKS_LINES,
    OwnFile,
    text_of,
)
from cub.actions.review.differences import difference
from cub.actions.review.verdict import SectionReview, Verdict
from cub.edit.document import normalized
from cub.edit.owned import Seal, digest_of, unseal
from cub.prompt.instructions import Need, render
from cub.prompt.templates import TemplateSet


def whole_review(
    file: OwnFile,
    path: str,
    before: bytes | None,
    after: bytes | None,
    templates: TemplateSet,
    wanted: Callable[[], Need | None],
) -> SectionReview | None:
    """The review of one of cub's own files; None where its new text is a person's.

    `wanted` is what it has to say if its text depends on the project, None if it is no target.
    """
    old, new = (unseal(data) if data is not None else None for data in (before, after))
    was, now = (seal.version if seal else None for seal in (old, new))
    diff = difference(path, before, after)
    if after is None:
        return SectionReview("removed", was, None, diff=diff, whole=True) if old else None
    if new is None or (not new.intact and file is not CURSOR_RULE):
        return None
    if not new.intact:  # an instruction file: nothing in it is a person's
        return SectionReview("edited", was, now, diff=diff, whole=True)
    verdict = _of_whole(file, new, templates, wanted)
    return SectionReview(verdict, was, now, diff=diff, whole=True)


def constitution_review(
    path: str, before: bytes | None, after: bytes | None, templates: TemplateSet
) -> SectionReview | None:
    """The review of the constitution as cub installs it; None where a person has written in it."""
    was, now = (_installed_version(data, templates) for data in (before, after))
    if (was is None and before is not None) or (now is None and after is not None):
        return None
    verdict: Verdict = "removed" if after is None else "verified"
    return SectionReview(verdict, was, now, diff=difference(path, before, after), whole=True)


def _installed_version(data: bytes | None, templates: TemplateSet) -> int | None:
    """The newest version that installs this text."""
    if data is None:
        return None
    texts = ((v, templates.file("constitution.md", v)) for v in range(templates.version, 0, -1))
    return next((v for v, text in texts if normalized(text.encode()) == normalized(data)), None)


def _of_whole(
    file: OwnFile, seal: Seal, templates: TemplateSet, wanted: Callable[[], Need | None]
) -> Verdict:
    """A digest alone proves nothing: it must be that of a text of its version."""
    if seal.version > (MAP_FORMAT if file is MAP_FILE else templates.version):
        return "newer"
    if file is MAP_FILE:
        return "drawn"
    if not templates.has(seal.version):
        return "unrecognized"
    need = None if file.template else wanted()
    for number, body in enumerate(_bodies(file, templates, seal.version, need)):
        if seal.digest == digest_of(body.encode(), file.front.encode()):
            stale = not file.template and (number or not need)
            return "stale" if stale else "verified"
    return "unrecognized"


def _bodies(
    file: OwnFile, templates: TemplateSet, version: int, need: Need | None
) -> Iterator[str]:
    """What the file may say: first what it should, then what it would in another project."""
    if file.template:
        for lines in product(((), MAP_LINES), ((), LEDGER_LINES), ((), TASKS_LINES)):
            yield text_of(file, templates, version, [*chain(*lines)])
        return
    asked = need or Need("rule")
    for other in (asked, replace(asked, map_text="", constitution_text="")):
        yield render(templates, version, other)
        for constitution, map_ in product((True, False), repeat=2):
            said = replace(other, constitution=constitution, map=map_)
            yield render(templates, version, said)
