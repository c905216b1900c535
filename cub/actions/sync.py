"""What `cub init` and `cub update` mean to do: all of it in one plan, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cub.actions import notes, own_files
from cub.actions.leave import file_taken_out, taken_out
from cub.actions.migration.migrate import due, migrate
from cub.actions.own_files import CURSOR_RULE, OWN_FILES
from cub.actions.parity import plan_parity
from cub.actions.project_map import drawn_map
from cub.actions.read_limits import unread_sections
from cub.actions.section_edits import Edited, Editor, merged, refresh
from cub.actions.view import View, after, view
from cub.edit.plan import Edit, Plan
from cub.errors import CubError, raise_all
from cub.files import Planned
from cub.files.private import Keep, at_once
from cub.project.config import CONFIG
from cub.project.config_edit import with_targets
from cub.project.paths import target_at
from cub.project.project import Project
from cub.project.state import STATE, State
from cub.project.survey import InstructionFile
from cub.project.targets import is_nested, is_whole
from cub.prompt.templates import TemplateSet
from cub.repomap.progress import Progress, no_progress

_ROUNDS = 3  # one that moves lines, one that follows what they change, one to see that it settled


def plan_init(
    project: Project,
    *,
    paths: Sequence[str] = (),
    targets: Sequence[str] | None = None,
    clients: Sequence[str] = (),
    edited: Edited = "refuse",
    prune: bool = False,
    templates: TemplateSet | None = None,
    migrations: Path | None = None,
    progress: Progress = no_progress,
    keep: Keep = at_once,
) -> Plan:
    """Everything that `cub init` writes; `paths` are nested targets, relative to the root.

    Targets that `targets` leaves out lose their sections. The settings of `clients` get what
    those need to read the same as the others. An older layout is migrated first.
    """
    migrated, project = migrate(project, prune=prune, folder=migrations)
    drawn, project = drawn_map(project, progress, keep)
    base = tuple(targets or project.config.targets)
    wanted = tuple(dict.fromkeys((*base, *(target_at(project, path) for path in paths))))
    seen = view(project, targets=wanted, constitution=True, templates=templates)
    settings = plan_parity(seen, clients)
    if settings.edits:  # what a client reads may decide what a file has to say
        planned = Planned(project.tree, {edit.path: edit.after for edit in settings.edits})
        changed = replace(project, tree=planned)
        seen = view(changed, targets=wanted, constitution=True, templates=templates)
    dropped = [f for f in notes.leftover(seen) if targets and f.path in project.config.targets]
    left_out = _left_out(seen, dropped, edited)
    if left_out.edits:  # no file may point to one that goes
        seen = after(seen, {edit.path: edit.after for edit in left_out.edits})
    sections = merged([_sections(seen, edited, add=True), left_out])
    own = _own_files(seen, _remembering(seen), add=True)
    installed = _installed(seen, {file.path for file in dropped})
    unread = Plan((), tuple(unread_sections(seen, sections)))
    configured = _configured(project, wanted)
    rest = merged([sections, installed, drawn, own, configured, settings, unread])
    return migrated.followed_by(rest, both_reasons=True)


def plan_update(
    project: Project,
    *,
    edited: Edited = "refuse",
    prune: bool = False,
    check: bool = False,
    templates: TemplateSet | None = None,
    migrations: Path | None = None,
    progress: Progress = no_progress,
    keep: Keep = at_once,
) -> Plan:
    """Everything that `cub update` refreshes; what a person deleted is reported, not restored.

    An older layout is migrated first. To `check`, a stale map is a warning and no edit: any
    commit may make one.
    """
    older = due(project, migrations)
    migrated, project = migrate(project, prune=prune, folder=migrations)
    seen = view(project, templates=templates)
    if not older and not seen.initialized:
        raise CubError("there is no cub in this project yet", hint="run `cub init`")
    drawn, mapped = drawn_map(project, progress, keep, check=check)
    if mapped is not project:
        seen = view(mapped, templates=templates)
    sections = _sections(seen, edited, add=False)
    gone = (*notes.missing(seen), *notes.lost_constitution(seen))
    unread = unread_sections(seen, sections)
    tracked = notes.still_tracked(project)
    odd = Plan((), (*notes.oddities(seen), *gone, *unread, *tracked))
    rest = merged([sections, drawn, _own_files(seen, seen.state, add=False), odd])
    return migrated.followed_by(rest, both_reasons=True)


def _left_out(seen: View, dropped: list[InstructionFile], edited: Edited) -> Plan:
    """What leaves the files that are targets no more."""
    sections = taken_out(seen, dropped, edited)
    if CURSOR_RULE.path in {*seen.project.config.targets} - {*seen.targets}:
        return merged([sections, file_taken_out(seen, CURSOR_RULE)])
    return sections


def _installed(seen: View, gone: set[str]) -> Plan:
    """The constitution, and warnings about every file but those that are `gone`."""
    install = own_files.install_constitution(seen.tree, seen.templates)
    odd = (warning for warning in notes.oddities(seen) if warning.path not in gone)
    anew = notes.written_anew(seen, (edit.path for edit in (install,) if edit))
    warnings = (*odd, *anew, *notes.hidden(seen), *notes.still_tracked(seen.project))
    return Plan((install,) if install else (), warnings)


def _sections(seen: View, edited: Edited, *, add: bool) -> Plan:
    """The sections of all files, new ones only to `add`; or every fault of every file at once.

    Lines that are moved out of a section become the user's own text, and that may change what
    the files need: planned again until it settles.
    """
    plan = _one_round(seen, edited, add=add)
    for _ in range(_ROUNDS if edited == "move" else 0):
        planned = {edit.path: edit.after for edit in plan.edits}
        more = _one_round(after(seen, planned), edited, add=add)
        plan = plan.followed_by(more)
        if more.empty:
            break
    return replace(plan, warnings=(*seen.project.config.warnings, *plan.warnings))


def _one_round(seen: View, edited: Edited, *, add: bool) -> Plan:
    editor = Editor(seen.tree, seen.templates, seen.top, edited)
    plans, faults = [], [*seen.faults(), *seen.unfit]
    for path, need in seen.needs.items():
        file = seen.files[path]
        if add and file.missing and file.missing.is_withheld:
            faults.append(file.missing.error())
        elif (add or file.section) and not seen.fault(file) and not is_whole(path):
            try:
                plans.append(refresh(editor, file, need))
            except CubError as error:
                faults.append(error)
    raise_all(faults)
    return merged(plans)


def _own_files(seen: View, state: State, *, add: bool) -> Plan:
    edits, warnings = [], []
    templates, local = seen.templates, own_files.local_lines(seen.project.config)
    wanted = [
        (file, own_files.text_of(file, templates, templates.version, local)) for file in OWN_FILES
    ]
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
