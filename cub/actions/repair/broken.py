"""The broken files of a project, each with what can be done about it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cub.actions.repair.originals import recognizer
from cub.actions.view import View, unmarked_fault
from cub.edit.document import Document
from cub.edit.markers import scan
from cub.edit.plan import PlanWarning
from cub.edit.repair.choice import Choice
from cub.edit.repair.choices import choices
from cub.edit.sections import find
from cub.errors import CubError, NewerError
from cub.project.survey import InstructionFile
from cub.prompt.instructions import Need, released_bodies


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken file: what is wrong with it, and what can be done, which may be nothing.

    `names` are all that lead to it, the first one first; `real` is the file behind links.
    """

    names: tuple[str, ...]
    real: str
    document: Document
    fault: CubError
    choices: tuple[Choice, ...] = ()


def broken_among(
    seen: View, files: Iterable[InstructionFile], paths: Collection[str]
) -> list[Broken]:
    """Those of `files` whose markers are broken or gone, each once.

    In a file that gets no section, gone markers are looked for only if it is one of `paths`.
    """
    found: dict[Hashable, list[InstructionFile]] = {}
    for file in files:
        if _is_broken(seen, file) or (file.path in paths and seen.unmarked(file)):
            found.setdefault(seen.tree.identity(file.real), []).append(file)
    return [_broken(seen, names) for names in found.values()]


def not_broken(seen: View, files: Iterable[InstructionFile]) -> Iterator[PlanWarning]:
    """What is wrong with other files, with the way on."""
    for file in files:
        if not _is_broken(seen, file):
            yield from _others(seen, file)


def _is_broken(seen: View, file: InstructionFile) -> bool:
    """Whether the fault of a file is in its markers."""
    if file.error:
        return _document(seen, file) is not None
    return file.section is None and seen.fault(file) is not None


def _document(seen: View, file: InstructionFile) -> Document | None:
    """The document of a file that can be read, whatever its markers are."""
    try:
        data = None if file.document else seen.tree.read(file.real)
        return file.document if data is None else Document.parse(data, file.path)
    except CubError:
        return None


def _others(seen: View, file: InstructionFile) -> Iterator[PlanWarning]:
    """What is wrong with a file that is not broken, with the way on."""
    if fault := seen.fault(file):
        yield PlanWarning(fault.message, file.path, hint=fault.hint)
    elif file.section and file.section.author == "edited":
        hint = "`cub update` shows the edit; with `--edited move`, its lines go below the section"
        line = file.section.start + 1
        yield PlanWarning("the managed section was edited by hand", file.path, line, hint)


def _broken(seen: View, files: Sequence[InstructionFile]) -> Broken:
    """One broken file, which has all the names of `files`."""
    names, file = tuple(file.path for file in files), files[0]
    document, real = _document(seen, file), file.real
    assert document is not None
    fault = file.error or unmarked_fault(document, seen.unmarked(file))
    need = seen.need_of(file.key) or Need("agents", claude=True)
    released = released_bodies(seen.templates, need)
    try:
        found = choices(document, recognizer(seen, names[0], real), released)
        return Broken(names, real, document, fault, _without_downgrades(seen, document, found))
    except CubError as by_hand:
        return Broken(names, real, document, by_hand)


def _without_downgrades(
    seen: View, document: Document, found: Sequence[Choice]
) -> tuple[Choice, ...]:
    """The choices that do not put an older section in place of a newer cub's."""
    version = seen.templates.version
    newest = max(scan(document), key=lambda m: m.version or 0, default=None)
    if newest is None or (newest.version or 0) <= version:
        return tuple(found)
    sections = (find(document.with_data(choice.data)) for choice in found)
    kept = tuple(
        choice
        for choice, section in zip(found, sections, strict=True)
        if section is None or section.version == newest.version
    )
    if not kept:
        raise NewerError(
            "one side was written",
            f"v{newest.version}",
            f"writes v{version}",
            where=document.at(newest.line),
        )
    return kept
