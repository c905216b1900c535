"""List the broken files of a project, each with its repair choices."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from cub.actions.project_state import ProjectState, make_unmarked_error, with_planned_files
from cub.edit.digests import compute_digest
from cub.edit.document import Document, decode_with_lf
from cub.edit.markers import find_markers
from cub.edit.plan import PlanWarning
from cub.edit.repair.conflict_choices import RecognizeBody
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.sections import Section, find_section, find_section_or_none
from cub.errors import CubError, NewerVersionError
from cub.git import read_merge_stages
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import SectionSpec, list_released_bodies, recognize_section


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """Describe a broken file with its repair choices; `names` all lead to the file `real`."""

    names: tuple[str, ...]
    real: str
    document: Document
    fault: CubError
    choices: tuple[RepairChoice, ...] = ()


def list_broken_files(
    state: ProjectState, files: Iterable[InstructionFile], paths: Collection[str]
) -> list[BrokenFile]:
    """Return those of `files` whose markers are broken or gone, each once.

    In a file that gets no section, gone markers are looked for only if it is one of `paths`.
    """
    files_by_identity: dict[Hashable, list[InstructionFile]] = {}
    for file in files:
        if _is_broken(state, file) or (file.path in paths and state.find_unmarked_sections(file)):
            files_by_identity.setdefault(state.tree.get_identity(file.real_path), []).append(file)
    return [_inspect_file(state, names) for names in files_by_identity.values()]


def warn_other_faults(
    state: ProjectState, files: Iterable[InstructionFile]
) -> Iterator[PlanWarning]:
    """Yield what is wrong with files that are not broken, with a hint for each."""
    for file in files:
        if not _is_broken(state, file):
            yield from _describe_other_fault(state, file)


def _is_broken(state: ProjectState, file: InstructionFile) -> bool:
    if file.error:
        return _read_document(state, file) is not None
    return file.section is None and state.find_fault(file) is not None


def _read_document(state: ProjectState, file: InstructionFile) -> Document | None:
    """Return the document of a file even if its markers are broken; None if it can't be read."""
    try:
        data = None if file.document else state.tree.read(file.real_path)
        return file.document if data is None else Document.parse(data, file.path)
    except CubError:
        return None


def _describe_other_fault(state: ProjectState, file: InstructionFile) -> Iterator[PlanWarning]:
    if fault := state.find_fault(file):
        yield PlanWarning(fault.message, file.path, hint=fault.hint)
    elif file.section and file.section.author == "edited":
        hint = "run `cub update --edited move` to move the edit below the section"
        line = file.section.start + 1
        yield PlanWarning("the managed section was edited manually", file.path, line, hint)


def _inspect_file(state: ProjectState, files: Sequence[InstructionFile]) -> BrokenFile:
    names, file = tuple(file.path for file in files), files[0]
    document, real = _read_document(state, file), file.real_path
    assert document is not None
    fault = file.error or make_unmarked_error(document, state.find_unmarked_sections(file))
    bodies = list_released_bodies(state.templates, state.get_spec(file))
    try:
        recognize = make_recognizer(state, names[0], real)
        choices = list_repair_choices(document, recognize, bodies)
        return BrokenFile(names, real, document, fault, _drop_downgrades(state, document, choices))
    except CubError as error:
        return BrokenFile(names, real, document, error)


def _drop_downgrades(
    state: ProjectState, document: Document, choices: Sequence[RepairChoice]
) -> tuple[RepairChoice, ...]:
    version = state.templates.version
    newest = max(find_markers(document), key=lambda m: m.version or 0, default=None)
    if newest is None or (newest.version or 0) <= version:
        return tuple(choices)
    sections = (find_section(document.replace_data(choice.data)) for choice in choices)
    pairs = zip(choices, sections, strict=True)
    remaining = tuple(c for c, section in pairs if not section or section.version == newest.version)
    if not remaining:
        where = document.format_location(newest.line)
        newer, ours = f"v{newest.version}", f"writes v{version}"
        raise NewerVersionError("one side was written", newer, ours, where=where)
    return remaining


def make_recognizer(state: ProjectState, path: str, real: str) -> RecognizeBody:
    """Return a function that finds a section's original, in the templates or git's merge stages.

    If the digest line was changed or lost, the body itself may be what cub once wrote.
    """
    specs = with_planned_files(state, {real: b""}).specs
    spec = specs.get(path, SectionSpec("agents", claude=True))
    load_merge_bodies = cache(lambda: dict(_read_merge_bodies(state, real)))

    def recognize(section: Section) -> str | None:
        for digest in filter(None, (section.digest, compute_digest(b"".join(section.body)))):
            body = recognize_section(state.templates, section.version, digest, spec)
            if body is not None:
                return body
        return load_merge_bodies().get(section.digest)

    return recognize


def _read_merge_bodies(state: ProjectState, real: str) -> Iterator[tuple[str, str]]:
    for data in read_merge_stages(state.root, real):
        section = find_section_or_none(Document(data))
        if section and section.author == "cub":
            yield section.digest, decode_with_lf(b"".join(section.body))
