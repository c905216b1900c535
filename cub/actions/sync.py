"""What `cub init` and `cub update` mean to do: all of it in one plan, or a refusal."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cub import git
from cub.actions import notes, own_files
from cub.actions.leave import file_taken_out, taken_out
from cub.actions.own_files import CURSOR_RULE, OWN_FILES
from cub.actions.section_edits import Edited, Editor, merged, refresh
from cub.actions.view import View, after, view
from cub.edit.plan import Edit, Plan
from cub.errors import CubError, UsageError, raise_all
from cub.files import names_in
from cub.project.config import CONFIG
from cub.project.config_edit import with_targets
from cub.project.project import Project
from cub.project.state import STATE, State
from cub.project.targets import is_nested, is_whole, normal, target_of, target_problem
from cub.prompt.templates import TemplateSet

_ROUNDS = 3  # one that moves lines, one that follows what they change, one to see that it settled


def plan_init(
    project: Project,
    *,
    paths: Sequence[str] = (),
    targets: Sequence[str] | None = None,
    edited: Edited = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Everything that `cub init` writes; `paths` are nested targets, relative to the root.

    Targets that `targets` leaves out lose their sections.
    """
    base = tuple(targets or project.config.targets)
    wanted = tuple(dict.fromkeys((*base, *(_nested(project.root, path) for path in paths))))
    seen = view(project, targets=wanted, constitution=True, templates=templates)
    dropped = [f for f in notes.leftover(seen) if targets and f.path in project.config.targets]
    rule = CURSOR_RULE.path in set(project.config.targets) - set(wanted)
    sections = merged(
        [
            _sections(seen, edited, add=True),
            taken_out(seen, dropped, edited),
            file_taken_out(seen, CURSOR_RULE) if rule else Plan(),
        ]
    )
    install = own_files.install_constitution(seen.tree, seen.templates)
    gone = {file.path for file in dropped}
    odd = (warning for warning in notes.oddities(seen) if warning.path not in gone)
    installed = Plan((install,) if install else (), (*odd, *notes.hidden(seen)))
    own = _own_files(seen, _remembering(seen), add=True)
    return merged([sections, installed, own, _configured(project, wanted)])


def plan_update(
    project: Project, *, edited: Edited = "refuse", templates: TemplateSet | None = None
) -> Plan:
    """Everything that `cub update` refreshes; what a person deleted is reported, not restored."""
    seen = view(project, templates=templates)
    if not seen.initialized:
        raise CubError("there is no cub in this project yet", hint="run `cub init`")
    sections = _sections(seen, edited, add=False)
    odd = Plan((), (*notes.oddities(seen), *notes.missing(seen)))
    return merged([sections, _own_files(seen, seen.state, add=False), odd])


def _sections(seen: View, edited: Edited, *, add: bool) -> Plan:
    """The sections of all files, new ones only to `add`; or every fault of every file at once.

    Lines that are moved out of a section become the user's own text, and that may change what
    the files need: planned again until it settles.
    """
    plan = _one_round(seen, edited, add=add)
    for _ in range(_ROUNDS if edited == "move" else 0):
        planned = {edit.path: edit.after for edit in plan.edits}
        more = _one_round(after(seen, planned), edited, add=add)
        plan = _followed(plan, more)
        if more.empty:
            break
    return replace(plan, warnings=(*seen.project.config.warnings, *plan.warnings))


def _one_round(seen: View, edited: Edited, *, add: bool) -> Plan:
    editor = Editor(seen.tree, seen.templates, seen.top, edited)
    plans, faults = [], seen.faults()
    for path, need in seen.needs.items():
        file = seen.files[path]
        if (add or file.section) and not seen.fault(file) and not is_whole(path):
            try:
                plans.append(refresh(editor, file, need))
            except CubError as error:
                faults.append(error)
    raise_all(faults)
    return merged(plans)


def _followed(first: Plan, then: Plan) -> Plan:
    """One plan of two, the second of which was made for what the first one writes."""
    edits = {edit.path: edit for edit in first.edits}
    for edit in then.edits:
        known = edits.get(edit.path)
        edits[edit.path] = replace(known, after=edit.after) if known else edit
    return Plan(tuple(edits.values()), (*first.warnings, *then.warnings))


def _own_files(seen: View, state: State, *, add: bool) -> Plan:
    edits, warnings = [], []
    wanted = [(file, "") for file in OWN_FILES]
    if CURSOR_RULE.path in seen.needs and (add or seen.files[CURSOR_RULE.path].exists):
        wanted.append((CURSOR_RULE, seen.body(CURSOR_RULE.path)))
    for file, body in wanted:
        outcome = own_files.refresh(file, seen.tree, seen.templates, state, body)
        state = outcome.state
        edits += [outcome.edit] if outcome.edit else []
        warnings += [outcome.warning] if outcome.warning else []
    return Plan((*edits, *_state(seen, state)), tuple(warnings))


def _state(seen: View, state: State) -> list[Edit]:
    """The local memory, written by `init`, and by `update` only where there is something new."""
    before = seen.tree.read(STATE)
    if before is None and state == seen.state and seen.initialized:
        return []
    known = replace(state, templates=seen.templates.version)
    if before is not None and known == seen.state:
        return []  # whatever a formatter did to its bytes
    reason = "what this checkout alone remembers"
    return [Edit(STATE, before, known.dump(), reason, local=True)]


def _remembering(seen: View) -> State:
    """The state with what is only known now: files that are there, empty; nested sections."""
    empty = {f.real for f in seen.files.values() if f.document and not f.document.data}
    nested = set(filter(is_nested, seen.needs))
    return replace(
        seen.state,
        empty=tuple(sorted({*seen.state.empty, *empty})),
        sections=tuple(sorted({*seen.state.sections, *nested})),
    )


def _configured(project: Project, targets: tuple[str, ...]) -> Plan:
    if set(targets) == set(project.config.targets):
        return Plan()
    before = project.tree.read(CONFIG)
    return Plan((Edit(CONFIG, before, with_targets(before, targets), "remember the targets"),))


def _nested(root: Path, path: str) -> str:
    """A PATH of the command line as a target: the file itself, or the one in a folder."""
    full = root / path
    if full.is_dir():
        names = names_in(full)
        only_claude = "CLAUDE.md" in names and "AGENTS.md" not in names
        path = posixpath.join(path, "CLAUDE.md" if only_claude else "AGENTS.md")
    elif not full.parent.is_dir() or target_of(path) is None:
        raise UsageError("no such folder or instruction file", where=path)
    if problem := target_problem(path):
        raise UsageError(f"this {problem}", where=path)
    for folder in (root / path).parents:
        if folder == root:
            break
        if git.top_level(folder) == folder:
            raise UsageError(
                "this belongs to another git repository",
                where=path,
                hint=f"run cub there: cub -C {folder.relative_to(root).as_posix()} init",
            )
    return normal(path)
