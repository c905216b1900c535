"""The broken files of a project, each with what can be done about it.

What cub once wrote into a section that is not as it was: known again, or found in git.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cub.actions.project_state import ProjectState, make_unmarked_error, with_planned_files
from cub.edit.document import Document, decode_with_lf
from cub.edit.markers import find_markers
from cub.edit.plan import PlanWarning
from cub.edit.repair.conflict_choices import RecognizeBody
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.sections import Section, compute_digest, find_section, find_section_or_none
from cub.errors import CubError, NewerVersionError
from cub.git import read_merge_stages
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import SectionSpec, list_released_bodies, recognize_section


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A broken file: what is wrong with it, and what can be done, which may be nothing.

    `names` are all that lead to it, the first one first; `real` is the file behind links.
    """

    names: tuple[str, ...]
    real: str
    document: Document
    fault: CubError
    choices: tuple[RepairChoice, ...] = ()


def list_broken_files(
    state: ProjectState, files: Iterable[InstructionFile], paths: Collection[str]
) -> list[BrokenFile]:
    """Those of `files` whose markers are broken or gone, each once.

    In a file that gets no section, gone markers are looked for only if it is one of `paths`.
    """
    found: dict[Hashable, list[InstructionFile]] = {}
    for file in files:
        if _is_broken(state, file) or (file.path in paths and state.find_unmarked_sections(file)):
            found.setdefault(state.tree.get_identity(file.real_path), []).append(file)
    return [_inspect_file(state, names) for names in found.values()]


def warn_other_faults(
    state: ProjectState, files: Iterable[InstructionFile]
) -> Iterator[PlanWarning]:
    """What is wrong with other files, with the way on."""
    for file in files:
        if not _is_broken(state, file):
            yield from _describe_other_fault(state, file)


def _is_broken(state: ProjectState, file: InstructionFile) -> bool:
    """Whether the fault of a file is in its markers."""
    if file.error:
        return _document(state, file) is not None
    return file.section is None and state.find_fault(file) is not None


def _document(state: ProjectState, file: InstructionFile) -> Document | None:
    """The document of a file that can be read, whatever its markers are."""
    try:
        data = None if file.document else state.tree.read(file.real_path)
        return file.document if data is None else Document.parse(data, file.path)
    except CubError:
        return None


def _describe_other_fault(state: ProjectState, file: InstructionFile) -> Iterator[PlanWarning]:
    """What is wrong with a file that is not broken, with the way on."""
    if fault := state.find_fault(file):
        yield PlanWarning(fault.message, file.path, hint=fault.hint)
    elif file.section and file.section.author == "edited":
        hint = "`cub update` shows the edit; with `--edited move`, its lines go below the section"
        line = file.section.start + 1
        yield PlanWarning("the managed section was edited by hand", file.path, line, hint)


def _inspect_file(state: ProjectState, files: Sequence[InstructionFile]) -> BrokenFile:
    """One broken file, which has all the names of `files`."""
    names, file = tuple(file.path for file in files), files[0]
    document, real = _document(state, file), file.real_path
    assert document is not None
    fault = file.error or make_unmarked_error(document, state.find_unmarked_sections(file))
    need = state.find_spec(file.identity_key) or SectionSpec("agents", claude=True)
    released = list_released_bodies(state.templates, need)
    try:
        found = list_repair_choices(document, make_recognizer(state, names[0], real), released)
        return BrokenFile(names, real, document, fault, _without_downgrades(state, document, found))
    except CubError as by_hand:
        return BrokenFile(names, real, document, by_hand)


def _without_downgrades(
    state: ProjectState, document: Document, found: Sequence[RepairChoice]
) -> tuple[RepairChoice, ...]:
    """The choices that do not put an older section in place of a newer cub's."""
    version = state.templates.version
    newest = max(find_markers(document), key=lambda m: m.version or 0, default=None)
    if newest is None or (newest.version or 0) <= version:
        return tuple(found)
    sections = (find_section(document.replace_data(choice.data)) for choice in found)
    kept = tuple(
        choice
        for choice, section in zip(found, sections, strict=True)
        if section is None or section.version == newest.version
    )
    if not kept:
        raise NewerVersionError(
            "one side was written",
            f"v{newest.version}",
            f"writes v{version}",
            where=document.format_location(newest.line),
        )
    return kept


def make_recognizer(state: ProjectState, path: str, real: str) -> RecognizeBody:
    """Tells a section's original: from the templates, or else from the sides that git has kept.

    Where the digest line was changed or lost, the body itself may be what cub once wrote.
    """
    need = with_planned_files(state, {real: b""}).specs.get(
        path, SectionSpec("agents", claude=True)
    )
    staged: dict[str, str] | None = None

    def original(section: Section) -> str | None:
        nonlocal staged
        for recorded in filter(None, (section.digest, compute_digest(b"".join(section.body)))):
            body = recognize_section(state.templates, section.version, recorded, need)
            if body is not None:
                return body
        if staged is None:
            staged = dict(_read_merge_bodies(state, real))
        return staged.get(section.digest)

    return original


def _read_merge_bodies(state: ProjectState, real: str) -> Iterator[tuple[str, str]]:
    """The bodies, by digest, of cub's own sections in what an unfinished merge began with."""
    for data in read_merge_stages(state.root, real):
        section = find_section_or_none(Document(data))
        if section and section.author == "cub":
            yield section.digest, decode_with_lf(b"".join(section.body))
