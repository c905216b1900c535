"""What `cub repair` means to do: numbered choices over all broken files, and the plan of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from cub.actions.repair.broken import Broken, broken_among, not_broken
from cub.actions.section_edits import Editor, refresh
from cub.actions.view import View, after, view
from cub.edit.conflicts import conflicts
from cub.edit.document import Document
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.edit.repair.choice import Choice
from cub.edit.sections import Section
from cub.errors import UsageError
from cub.project.project import Project
from cub.project.survey import look
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class Numbered:
    """A choice as it is offered: its number in the whole project, and the change that it is."""

    n: int
    file: Broken
    why: str
    edit: Edit

    @property
    def title(self) -> str:
        """What it does."""
        return self.edit.reason


@dataclass(frozen=True, slots=True)
class Findings:
    """All broken files, their choices in order, and warnings about what is not broken."""

    broken: tuple[Broken, ...] = ()
    choices: tuple[Numbered, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()

    def of(self, paths: Sequence[str]) -> Findings:
        """The part that is about `paths`; all of it where none are given."""
        if not paths:
            return self
        broken = tuple(file for file in self.broken if {*file.names} & {*paths})
        choices = (choice for choice in self.choices if choice.file in broken)
        warnings = (warning for warning in self.warnings if warning.path in paths)
        return Findings(broken, tuple(choices), tuple(warnings))


def find_broken(
    project: Project, paths: Sequence[str] = (), templates: TemplateSet | None = None
) -> Findings:
    """Look at the instruction files of the project, and at `paths` besides.

    Numbers run on across all files, so that they mean the same whatever `paths` are.
    """
    seen = view(project, templates=templates)
    files = {**seen.files, **look(seen.tree, [path for path in paths if path not in seen.files])}
    for path in paths:
        if not files[path].stands:
            raise UsageError("there is no such file", where=path)
    broken = broken_among(seen, files.values(), paths)
    # What a file needs depends on the other ones: each is taken to be repaired the first way.
    whole = {file.real: file.choices[0].data for file in broken if file.choices}
    numbers = count(1)
    choices = (
        Numbered(next(numbers), file, why, edit)
        for file in broken
        for why, edit in _changes(seen, file, whole)
    )
    # Whatever is no target may be anything.
    asked = [
        file for path, file in files.items() if path in (*seen.targets, *paths) or file.section
    ]
    return Findings(tuple(broken), tuple(choices), tuple(not_broken(seen, asked)))


def plan_repair(
    project: Project,
    number: int,
    paths: Sequence[str] = (),
    templates: TemplateSet | None = None,
) -> Plan:
    """The plan of one choice."""
    offered = {choice.n: choice for choice in find_broken(project, paths, templates).choices}
    if number not in offered:
        there = f"the choices are 1 to {len(offered)}" if offered else "there is none"
        raise UsageError(f"there is no choice {number}: {there}", hint="`cub repair` lists them")
    return Plan((offered[number].edit,))


def next_step(project: Project, plan: Plan, templates: TemplateSet | None = None) -> str:
    """What to do once `plan`, one choice, is carried out; "" if there is nothing to do."""
    seen = view(project, templates=templates)
    (edit,) = plan.edits
    before, now = (conflicts(Document(data or b"")) for data in (edit.before, edit.after))
    if now:
        return f"Conflicts are left in {edit.path}, from line {now[0].start + 1} on."
    if before:
        return f"`git add {edit.path}` marks the conflict as resolved."
    for path in seen.needs:
        file = seen.files[path]
        if file.real == edit.path and not seen.fault(file):
            return _of_section(seen, path, file.section)
    return ""


def _of_section(seen: View, path: str, section: Section | None) -> str:
    if section is None:
        return "`cub init` adds a new section."
    if section.author == "edited":
        return ""  # a warning says so
    current = section.is_current(seen.body(path), seen.templates.version)
    return "" if current else "`cub update` brings the section up to date."


def _changes(seen: View, file: Broken, whole: Mapping[str, bytes]) -> Iterator[tuple[str, Edit]]:
    """The choices of a file that change anything, as edits, and why each loses nothing."""
    for choice in file.choices:
        data, why = _written(seen, file, choice, whole), choice.why
        if data != choice.data:
            why += "; the section is rendered anew" if choice.anew else "; a new section is added"
        if data != file.document.data:
            yield why, Edit(file.real, file.document.data, data, choice.title)


def _written(seen: View, file: Broken, choice: Choice, whole: Mapping[str, bytes]) -> bytes:
    """The bytes of a choice, its section rendered for what the file needs then.

    Where cub's text stays as a person's, word for word, a new section tells that it is no section.
    """
    then = after(seen, {**whole, file.real: choice.data})
    need = next((then.needs[name] for name in file.names if name in then.needs), None)
    mended = then.files.get(file.names[0])
    if need is None or mended is None or mended.error:
        return choice.data
    fault = then.fault(mended)
    is_due = choice.anew and not fault if mended.section else fault
    if not is_due:
        return choice.data
    plan = refresh(Editor(then.tree, then.templates, then.top), mended, need)
    return next((edit.after for edit in plan.edits if edit.after), choice.data)
