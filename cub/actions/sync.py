"""What `cub init` and `cub update` mean to do: all of it in one plan, or a refusal."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cub import git
from cub.actions import own_files
from cub.actions.needs import Known, needs
from cub.actions.own_files import CONSTITUTION, OWN_FILES
from cub.actions.section_edits import Edited, Editor, merged, refresh
from cub.edit.owned import unseal
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, UsageError, raise_all
from cub.files import names_in, read
from cub.project.config import CONFIG, DEFAULT_TARGETS, target_problem, with_targets
from cub.project.project import Project
from cub.project.state import STATE, State
from cub.project.survey import InstructionFile, distinct, look
from cub.prompt.instructions import Need
from cub.prompt.templates import TemplateSet, shipped

MAP = ".cub/map.md"


@dataclass(frozen=True, slots=True)
class View:
    """A project as a command sees it: its files, and the section that each of them needs."""

    project: Project
    templates: TemplateSet
    targets: tuple[str, ...]
    state: State
    files: dict[str, InstructionFile]
    needs: dict[str, Need]

    @property
    def root(self) -> Path:
        """The project's root folder."""
        return self.project.root

    @property
    def initialized(self) -> bool:
        """Whether `cub init` has been here, in this checkout or in another one."""
        own = (read(self.root, file.path) for file in OWN_FILES)
        return any(data and unseal(data) for data in own) or any(
            file.section for file in self.files.values()
        )

    def faults(self) -> list[CubError]:
        """Why targets can't be written: broken, unreadable, or a newer cub's."""
        found = ((path, fault_of(f, self.templates.version)) for path, f in self.files.items())
        return [fault for path, fault in found if fault and path in self.targets]


def view(
    project: Project,
    *,
    targets: Sequence[str] | None = None,
    constitution: bool = False,
    templates: TemplateSet | None = None,
) -> View:
    """Look at a project. `constitution`: count it as there, because the plan will install it."""
    templates = templates or shipped()
    root, wanted = project.root, tuple(targets or project.config.targets)
    files = look(root, dict.fromkeys((*DEFAULT_TARGETS, *wanted)))
    known = Known(
        constitution=constitution or read(root, CONSTITUTION) is not None,
        map=read(root, MAP) is not None,
        skills=_has_skills(root),
    )
    state = State.parse(read(root, STATE), templates.version)
    return View(project, templates, wanted, state, files, needs(files, wanted, known))


def plan_init(
    project: Project,
    *,
    paths: Sequence[str] = (),
    targets: Sequence[str] | None = None,
    edited: Edited = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Everything that `cub init` writes; `paths` are nested targets, relative to the root."""
    base = tuple(targets or project.config.targets)
    wanted = tuple(dict.fromkeys((*base, *(_nested(project.root, path) for path in paths))))
    seen = view(project, targets=wanted, constitution=True, templates=templates)
    sections = _sections(seen, edited, add=True)
    install = own_files.install_constitution(project.root, seen.templates)
    state = replace(
        seen.state,
        empty=tuple(
            sorted({*seen.state.empty, *(f.real for f in seen.files.values() if _is_empty(f))})
        ),
    )
    return merged(
        [
            sections,
            Plan((install,) if install else (), _hidden(project.root)),
            _own_files(seen, state),
            _remembered(project, wanted),
        ]
    )


def plan_update(
    project: Project, *, edited: Edited = "refuse", templates: TemplateSet | None = None
) -> Plan:
    """Everything that `cub update` refreshes; what a person deleted is reported, not restored."""
    seen = view(project, templates=templates)
    if not seen.initialized:
        raise CubError("there is no cub in this project yet", hint="run `cub init`")
    sections = _sections(seen, edited, add=False)
    return merged([sections, _own_files(seen, seen.state), Plan((), tuple(_missing(seen)))])


def fault_of(file: InstructionFile, version: int) -> CubError | None:
    """Why a file's section can't be written: broken, unreadable, or a newer cub's."""
    if file.error or not file.section or file.section.version <= version:
        return file.error
    found = file.section.version
    return CubError(
        f"this section was written by a newer cub (v{found}, this cub writes v{version})",
        where=f"{file.real}:{file.section.start + 1}",
        hint=f"upgrade cub to one that knows v{found}: pip install --upgrade cub",
    )


def _sections(seen: View, edited: Edited, *, add: bool) -> Plan:
    """The sections of all files, new ones only to `add`; or every fault of every file at once."""
    editor = Editor(seen.root, seen.templates, seen.project.config.placement == "top", edited)
    plans, faults = [], seen.faults()
    for path, need in seen.needs.items():
        file = seen.files[path]
        if (add or file.section) and not fault_of(file, seen.templates.version):
            try:
                plans.append(refresh(editor, file, need))
            except CubError as error:
                faults.append(error)
    raise_all(faults)
    notes = (*seen.project.config.warnings, *_oddities(seen))
    return merged([*plans, Plan((), notes)])


def _own_files(seen: View, state: State) -> Plan:
    edits, warnings = [], []
    for file in OWN_FILES:
        outcome = own_files.refresh(file, seen.root, seen.templates, state)
        state = outcome.state
        edits += [outcome.edit] if outcome.edit else []
        warnings += [outcome.warning] if outcome.warning else []
    return Plan((*edits, *_state(seen, state)), tuple(warnings))


def _state(seen: View, state: State) -> list[Edit]:
    """The local memory, written by `init`, and by `update` only where there is something new."""
    before = read(seen.root, STATE)
    if before is None and state == seen.state and seen.initialized:
        return []
    after = replace(state, templates=seen.templates.version).dump()
    reason = "what this checkout alone remembers"
    return [] if after == before else [Edit(STATE, before, after, reason, local=True)]


def _remembered(project: Project, targets: tuple[str, ...]) -> Plan:
    if targets == project.config.targets:
        return Plan()
    before = read(project.root, CONFIG)
    return Plan((Edit(CONFIG, before, with_targets(before, targets), "remember the targets"),))


def _missing(seen: View) -> Iterable[PlanWarning]:
    hint = "`cub init` puts it back; to go on without it, set `targets` in .cub/config.yaml"
    for path in seen.needs:
        file = seen.files[path]
        if not file.exists:
            yield PlanWarning("this file is gone", path, hint=hint)
        elif file.section is None:
            yield PlanWarning("the managed section is gone", file.real, hint=hint)


def _oddities(seen: View) -> Iterable[PlanWarning]:
    """Files that are left alone, and why."""
    for path, file in seen.files.items():
        if file.misnamed:
            yield PlanWarning(
                f"left alone: on some disks it is the same file as {path}",
                posixpath.join(posixpath.dirname(path), file.misnamed),
                hint=f"rename it to {posixpath.basename(path)}, then run `cub init`",
            )
        elif file.homeless:
            hint = "take it out of `targets` in .cub/config.yaml"
            yield PlanWarning("its folder is gone", path, hint=hint)
    kept = {seen.files[path].identity for path in seen.needs}
    for file in distinct(seen.files.values()):
        if file.section and file.identity not in kept:
            hint = "delete the section, or add the file to `targets` in .cub/config.yaml"
            yield PlanWarning("this section is not kept up to date", file.path, None, hint)


def _hidden(root: Path) -> tuple[PlanWarning, ...]:
    if not git.ignored(root, CONSTITUTION):
        return ()
    return (
        PlanWarning(
            "git ignores this folder: other checkouts will not have what the sections refer to",
            ".cub",
            hint="take .cub out of your .gitignore; cub brings one for its local files",
        ),
    )


def _nested(root: Path, path: str) -> str:
    """A PATH of the command line as a target: the file itself, or the one in a folder."""
    full = root / path
    if full.is_dir():
        names = names_in(full)
        only_claude = "CLAUDE.md" in names and "AGENTS.md" not in names
        path = posixpath.join(path, "CLAUDE.md" if only_claude else "AGENTS.md")
    elif not full.parent.is_dir():
        raise UsageError("no such folder", where=posixpath.dirname(path) or ".")
    path = posixpath.normpath(path)
    if problem := target_problem(path):
        raise UsageError(f"this {problem}", where=path)
    return path


def _is_empty(file: InstructionFile) -> bool:
    return file.document is not None and not file.document.data


def _has_skills(root: Path) -> bool:
    """Whether the project has skills for Claude that other checkouts have too."""
    found = next(iter(sorted((root / ".claude" / "skills").glob("*/SKILL.md"))), None)
    return found is not None and not git.ignored(root, found.relative_to(root).as_posix())
