"""What `cub repair` means to do: numbered choices over all broken files, and the plan of each.

Repair of a project: the broken files, and the plan of one choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from cub.actions.broken_files import BrokenFile, list_broken_files, warn_other_faults
from cub.actions.project_state import ProjectState, load_project_state, with_planned_files
from cub.actions.section_edits import SectionWriteOptions, plan_section
from cub.edit.document import Document
from cub.edit.merge_conflicts import find_conflicts
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.sections import Section
from cub.errors import UsageError
from cub.project.instruction_files import read_instruction_files
from cub.project.project import Project
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class NumberedChoice:
    """A choice as it is offered: its number in the whole project, and the change that it is."""

    n: int
    file: BrokenFile
    why: str
    edit: FileEdit

    @property
    def title(self) -> str:
        """What it does."""
        return self.edit.reason


@dataclass(frozen=True, slots=True)
class RepairReport:
    """All broken files, their choices in order, and warnings about what is not broken."""

    broken_files: tuple[BrokenFile, ...] = ()
    choices: tuple[NumberedChoice, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()

    def filter_paths(self, paths: Sequence[str]) -> RepairReport:
        """The part that is about `paths`; all of it where none are given."""
        if not paths:
            return self
        broken = tuple(file for file in self.broken_files if {*file.names} & {*paths})
        choices = (choice for choice in self.choices if choice.file in broken)
        warnings = (warning for warning in self.warnings if warning.path in paths)
        return RepairReport(broken, tuple(choices), tuple(warnings))


def make_repair_report(
    project: Project, paths: Sequence[str] = (), templates: TemplateSet | None = None
) -> RepairReport:
    """Look at the instruction files of the project, and at `paths` besides.

    Numbers run on across all files, so that they mean the same whatever `paths` are.
    """
    seen = load_project_state(project, templates=templates)
    files = {
        **seen.files,
        **read_instruction_files(seen.tree, [path for path in paths if path not in seen.files]),
    }
    for path in paths:
        if not files[path].is_present:
            raise UsageError("there is no such file", where=path)
    broken = list_broken_files(seen, files.values(), paths)
    # What a file needs depends on the other ones: each is taken to be repaired the first way.
    whole = {file.real: file.choices[0].data for file in broken if file.choices}
    numbers = count(1)
    choices = (
        NumberedChoice(next(numbers), file, why, edit)
        for file in broken
        for why, edit in _changes(seen, file, whole)
    )
    # Whatever is no target may be anything.
    asked = [
        file for path, file in files.items() if path in (*seen.targets, *paths) or file.section
    ]
    return RepairReport(tuple(broken), tuple(choices), tuple(warn_other_faults(seen, asked)))


def plan_repair(
    project: Project, number: int, paths: Sequence[str] = (), templates: TemplateSet | None = None
) -> Plan:
    """The plan of one choice."""
    offered = {choice.n: choice for choice in make_repair_report(project, paths, templates).choices}
    if number not in offered:
        there = f"the choices are 1 to {len(offered)}" if offered else "there is none"
        raise UsageError(f"there is no choice {number}: {there}", hint="`cub repair` lists them")
    return Plan((offered[number].edit,))


def describe_repair_next_step(
    project: Project, plan: Plan, templates: TemplateSet | None = None
) -> str:
    """What to do once `plan`, one choice, is carried out; "" if there is nothing to do."""
    seen = load_project_state(project, templates=templates)
    (edit,) = plan.edits
    before, now = (find_conflicts(Document(data or b"")) for data in (edit.before, edit.after))
    if now:
        return f"Conflicts are left in {edit.path}, from line {now[0].start + 1} on."
    if before:
        return f"`git add {edit.path}` marks the conflict as resolved."
    for path in seen.specs:
        file = seen.files[path]
        if file.real_path == edit.path and not seen.find_fault(file):
            return _describe_section_step(seen, path, file.section)
    return ""


def _describe_section_step(state: ProjectState, path: str, section: Section | None) -> str:
    if section is None:
        return "`cub init` adds a new section."
    if section.author == "edited":
        return ""  # a warning says so
    current = section.is_current(state.render_body(path), state.templates.version)
    return "" if current else "`cub update` brings the section up to date."


def _changes(
    state: ProjectState, file: BrokenFile, whole: Mapping[str, bytes]
) -> Iterator[tuple[str, FileEdit]]:
    """The choices of a file that change anything, as edits, and why each loses nothing."""
    for choice in file.choices:
        data, why = _render_choice(state, file, choice, whole), choice.reason
        if data != choice.data:
            why += (
                "; the section is rendered anew"
                if choice.needs_render
                else "; a new section is added"
            )
        if data != file.document.data:
            yield why, FileEdit(file.real, file.document.data, data, choice.title)


def _render_choice(
    state: ProjectState, file: BrokenFile, choice: RepairChoice, whole: Mapping[str, bytes]
) -> bytes:
    """The bytes of a choice, its section rendered for what the file needs then.

    Where cub's text stays as a person's, word for word, a new section tells that it is no section.
    """
    then = with_planned_files(state, {**whole, file.real: choice.data})
    need = next((then.specs[name] for name in file.names if name in then.specs), None)
    mended = then.files.get(file.names[0])
    if need is None or mended is None or mended.error:
        return choice.data
    fault = then.find_fault(mended)
    is_due = choice.needs_render and not fault if mended.section else fault
    if not is_due:
        return choice.data
    plan = plan_section(
        SectionWriteOptions(then.tree, then.templates, then.adds_at_top), mended, need
    )
    return next((edit.after for edit in plan.edits if edit.after), choice.data)
