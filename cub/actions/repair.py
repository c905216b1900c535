"""Plan `cub repair`: the broken files with their choices, numbered, and the plan of each."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from cub.actions.plan_warnings import add_flag_warnings
from cub.actions.project_state import (
    ProjectState,
    load_project_state,
    make_unmarked_error,
    with_planned_files,
)
from cub.actions.section_edits import plan_section
from cub.edit.digests import compute_digest
from cub.edit.document import Document, decode_with_lf
from cub.edit.markers import find_conflicts, find_markers
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.edit.repair.conflict_choices import RecognizeBody
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.sections import Section, find_section, find_section_or_none
from cub.errors import CubError, NewerVersionError, UsageError
from cub.git.objects import read_merge_stages
from cub.project.instruction_files import InstructionFile, read_instruction_files
from cub.project.project import Project
from cub.prompt.section_text import SectionSpec, list_released_bodies, recognize_section
from cub.prompt.templates import TemplateSet


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
        if _is_broken(state, file):
            continue
        if fault := state.find_fault(file):
            yield PlanWarning(fault.message, file.path, hint=fault.hint)
        elif file.section and file.section.author == "edited":
            hint = "run `cub update --edited move` to move the edit below the section"
            line = file.section.start + 1
            yield PlanWarning("the managed section was edited manually", file.path, line, hint)


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


def _inspect_file(state: ProjectState, files: Sequence[InstructionFile]) -> BrokenFile:
    names, file = tuple(file.path for file in files), files[0]
    document, real = _read_document(state, file), file.real_path
    assert document is not None
    fault = file.error or make_unmarked_error(document, state.find_unmarked_sections(file))
    load_bodies = partial(list_released_bodies, state.templates, state.get_spec(file))
    try:
        recognize = make_recognizer(state, names[0], real)
        choices = list_repair_choices(document, recognize, load_bodies)
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
    for data in read_merge_stages(state.project.root, real):
        section = find_section_or_none(Document(data))
        if section and section.author == "cub":
            yield section.digest, decode_with_lf(b"".join(section.body))


@dataclass(frozen=True, slots=True)
class NumberedChoice:
    """Hold a choice as it is offered: its number in the whole project, and its edit.

    The reason of the edit is the title of the choice.
    """

    n: int
    file: BrokenFile
    why: str
    edit: FileEdit


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Hold all broken files, their choices in order, and warnings about what is not broken."""

    broken_files: tuple[BrokenFile, ...] = ()
    choices: tuple[NumberedChoice, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()

    def filter_paths(self, paths: Sequence[str]) -> RepairReport:
        """Return the part about `paths`; all of it if there are none."""
        if not paths:
            return self
        broken = tuple(file for file in self.broken_files if {*file.names} & {*paths})
        choices = (choice for choice in self.choices if choice.file in broken)
        warnings = (warning for warning in self.warnings if warning.path in paths)
        return RepairReport(broken, tuple(choices), tuple(warnings))


def make_repair_report(
    project: Project, paths: Sequence[str] = (), templates: TemplateSet | None = None
) -> RepairReport:
    """Inspect the project's instruction files and `paths`; numbers do not depend on `paths`."""
    state = load_project_state(project, templates=templates)
    more_paths = [path for path in paths if path not in state.files]
    files = {**state.files, **read_instruction_files(state.tree, more_paths)}
    for path in paths:
        if not files[path].is_present:
            raise UsageError("no such file", where=path)
    broken = list_broken_files(state, files.values(), paths)
    # What a file needs depends on the others: assume that each is repaired the first way.
    repaired = {file.real: file.choices[0].data for file in broken if file.choices}
    changes = (
        (file, *change) for file in broken for change in _iter_changes(state, file, repaired)
    )
    choices = (NumberedChoice(number, *change) for number, change in enumerate(changes, 1))
    # A file that is neither a target nor managed may be anything.
    checked = {*state.targets, *paths}
    checked_files = [file for path, file in files.items() if path in checked or file.section]
    warnings = warn_other_faults(state, checked_files)
    return RepairReport(tuple(broken), tuple(choices), tuple(warnings))


def plan_repair(project: Project, number: int, paths: Sequence[str] = ()) -> Plan:
    """Return the plan of one choice."""
    choices = {choice.n: choice for choice in make_repair_report(project, paths).choices}
    if number not in choices:
        available = f"choose from 1 to {len(choices)}" if choices else "nothing to repair"
        message = f"unknown choice {number}: {available}"
        raise UsageError(message, hint="run `cub repair` to list them")
    return add_flag_warnings(project, Plan((choices[number].edit,)))


def describe_repair_next_step(
    project: Project, plan: Plan, templates: TemplateSet | None = None
) -> str:
    """Say what to do after `plan`, one choice, is applied; "" if there is nothing to do."""
    state = load_project_state(project, templates=templates)
    (edit,) = plan.edits
    if conflicts := find_conflicts(Document(edit.after or b"")):
        return f"{edit.path} still has conflicts, from line {conflicts[0].start + 1} on."
    if find_conflicts(Document(edit.before or b"")):
        return f"Run `git add {edit.path}` to mark the conflict as resolved."
    for path in state.specs:
        file = state.files[path]
        if file.real_path == edit.path and not state.find_fault(file):
            return _describe_section_step(state, path, file.section)
    return ""


def _describe_section_step(state: ProjectState, path: str, section: Section | None) -> str:
    if section is None:
        return "Run `cub init` to add a new section."
    if section.author == "edited":
        return ""  # a warning says so
    current = state.is_current(section, state.specs[path])
    return "" if current else "Run `cub update` to bring the section up to date."


def _iter_changes(
    state: ProjectState, file: BrokenFile, repaired: Mapping[str, bytes]
) -> Iterator[tuple[str, FileEdit]]:
    """Yield the choices of a file that change anything: why each loses nothing, and its edit."""
    for choice in file.choices:
        data, why = _render_choice(state, file, choice, repaired), choice.reason
        if data != choice.data:
            again = "the section is regenerated"
            why += f"; {again if choice.needs_render else 'a new section is added'}"
        if data != file.document.data:
            yield why, FileEdit(file.real, file.document.data, data, choice.title)


def _render_choice(
    state: ProjectState, file: BrokenFile, choice: RepairChoice, repaired: Mapping[str, bytes]
) -> bytes:
    """Return the bytes of a choice, its section rendered for what the file needs then.

    If cub's text stays as the user's, word for word, a new section shows that it is not one.
    """
    state = with_planned_files(state, {**repaired, file.real: choice.data})
    spec = next((state.specs[name] for name in file.names if name in state.specs), None)
    result = state.files.get(file.names[0])
    if spec is None or result is None or result.error:
        return choice.data
    fault = state.find_fault(result)
    is_due = choice.needs_render and not fault if result.section else fault
    if not is_due:
        return choice.data
    plan = plan_section(state, result)
    return next((edit.after for edit in plan.edits if edit.after), choice.data)
