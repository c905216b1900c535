"""What `cub init` and `cub update` mean to do: all of it in one plan, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cub.actions import managed_files, plan_warnings
from cub.actions.agent_settings import plan_agent_settings
from cub.actions.managed_files import CURSOR_RULE, MANAGED_FILES
from cub.actions.migration.migrate import list_due_migrations, plan_migrations
from cub.actions.plan_warnings import warn_unread_sections
from cub.actions.project_map import plan_fresh_map
from cub.actions.project_state import ProjectState, load_project_state, with_planned_files
from cub.actions.remove import plan_managed_file_removal, plan_section_removals
from cub.actions.section_edits import EditedPolicy, SectionWriteOptions, merge_plans, plan_section
from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, raise_all
from cub.files import PlannedTree
from cub.files.internal_files import ScheduleWrite, write_now
from cub.project.checkout_state import STATE_FILE, CheckoutState
from cub.project.config import CONFIG_FILE
from cub.project.config_writer import set_targets
from cub.project.instruction_files import InstructionFile
from cub.project.project import Project, resolve_target
from cub.project.targets import is_fully_managed, is_nested_target
from cub.prompt.templates import TemplateSet
from cub.repomap.map_types import ProgressCallback, ignore_progress

_ROUNDS = 3  # one that moves lines, one that follows what they change, one to see that it settled


def plan_init(
    project: Project,
    *,
    paths: Sequence[str] = (),
    targets: Sequence[str] | None = None,
    agents: Sequence[str] = (),
    edited_policy: EditedPolicy = "refuse",
    prune: bool = False,
    templates: TemplateSet | None = None,
    migrations: Path | None = None,
    progress: ProgressCallback = ignore_progress,
    schedule_write: ScheduleWrite = write_now,
) -> Plan:
    """Everything that `cub init` writes; `paths` are nested targets, relative to the root.

    Targets that `targets` leaves out lose their sections. The settings of `agents` get what
    those need to read the same as the others. An older layout is migrated first.
    """
    migrated, project = plan_migrations(project, prune=prune, folder=migrations)
    drawn, project = plan_fresh_map(project, progress, schedule_write)
    base = tuple(targets or project.config.targets)
    wanted = tuple(dict.fromkeys((*base, *(resolve_target(project, path) for path in paths))))
    seen = load_project_state(project, targets=wanted, constitution=True, templates=templates)
    settings = plan_agent_settings(seen, agents)
    if settings.edits:  # what a client reads may decide what a file has to say
        planned = PlannedTree(project.tree, {edit.path: edit.after for edit in settings.edits})
        changed = replace(project, tree=planned)
        seen = load_project_state(changed, targets=wanted, constitution=True, templates=templates)
    dropped = [
        f
        for f in plan_warnings.list_orphaned_sections(seen)
        if targets and f.path in project.config.targets
    ]
    left_out = _plan_dropped_targets(seen, dropped, edited_policy)
    if left_out.edits:  # no file may point to one that goes
        seen = with_planned_files(seen, {edit.path: edit.after for edit in left_out.edits})
    sections = merge_plans([_sections(seen, edited_policy, add=True), left_out])
    own = _plan_managed_files(seen, _with_nested_sections(seen), add=True)
    installed = _plan_constitution(seen, {file.path for file in dropped})
    unread = Plan((), tuple(warn_unread_sections(seen, sections)))
    configured = _plan_targets(project, wanted)
    rest = merge_plans([sections, installed, drawn, own, configured, settings, unread])
    return migrated.append_plan(rest, both_reasons=True)


def plan_update(
    project: Project,
    *,
    edited_policy: EditedPolicy = "refuse",
    prune: bool = False,
    check: bool = False,
    templates: TemplateSet | None = None,
    migrations: Path | None = None,
    progress: ProgressCallback = ignore_progress,
    schedule_write: ScheduleWrite = write_now,
) -> Plan:
    """Everything that `cub update` refreshes; what a person deleted is reported, not restored.

    An older layout is migrated first. To `check`, a stale map is a warning and no edit: any
    commit may make one.
    """
    older = list_due_migrations(project, migrations)
    migrated, project = plan_migrations(project, prune=prune, folder=migrations)
    seen = load_project_state(project, templates=templates)
    if not older and not seen.is_initialized:
        raise CubError("there is no cub in this project yet", hint="run `cub init`")
    drawn, mapped = plan_fresh_map(project, progress, schedule_write, check=check)
    if mapped is not project:
        seen = load_project_state(mapped, templates=templates)
    sections = _sections(seen, edited_policy, add=False)
    gone = (
        *plan_warnings.warn_missing_sections(seen),
        *plan_warnings.warn_missing_constitution(seen),
    )
    unread = warn_unread_sections(seen, sections)
    tracked = plan_warnings.warn_tracked_local_files(project)
    odd = Plan((), (*plan_warnings.warn_odd_targets(seen), *gone, *unread, *tracked))
    rest = merge_plans(
        [sections, drawn, _plan_managed_files(seen, seen.local_state, add=False), odd]
    )
    return migrated.append_plan(rest, both_reasons=True)


def _plan_dropped_targets(
    state: ProjectState, dropped: list[InstructionFile], edited_policy: EditedPolicy
) -> Plan:
    """What leaves the files that are targets no more."""
    sections = plan_section_removals(state, dropped, edited_policy)
    if CURSOR_RULE.path in {*state.project.config.targets} - {*state.targets}:
        return merge_plans([sections, plan_managed_file_removal(state, CURSOR_RULE)])
    return sections


def _plan_constitution(state: ProjectState, gone: set[str]) -> Plan:
    """The constitution, and warnings about every file but those that are `gone`."""
    install = managed_files.plan_constitution(state.tree, state.templates)
    odd = (warning for warning in plan_warnings.warn_odd_targets(state) if warning.path not in gone)
    anew = plan_warnings.warn_recreated_files(state, (edit.path for edit in (install,) if edit))
    warnings = (
        *odd,
        *anew,
        *plan_warnings.warn_ignored_folder(state),
        *plan_warnings.warn_tracked_local_files(state.project),
    )
    return Plan((install,) if install else (), warnings)


def _sections(state: ProjectState, edited_policy: EditedPolicy, *, add: bool) -> Plan:
    """The sections of all files, new ones only to `add`; or every fault of every file at once.

    Lines that are moved out of a section become the user's own text, and that may change what
    the files need: planned again until it settles.
    """
    plan = _one_round(state, edited_policy, add=add)
    for _ in range(_ROUNDS if edited_policy == "move" else 0):
        planned = {edit.path: edit.after for edit in plan.edits}
        more = _one_round(with_planned_files(state, planned), edited_policy, add=add)
        plan = plan.append_plan(more)
        if more.is_empty:
            break
    return replace(plan, warnings=(*state.project.config.warnings, *plan.warnings))


def _one_round(state: ProjectState, edited_policy: EditedPolicy, *, add: bool) -> Plan:
    editor = SectionWriteOptions(state.tree, state.templates, state.adds_at_top, edited_policy)
    plans, faults = [], [*state.list_faults(), *state.inline_errors]
    for path, need in state.specs.items():
        file = state.files[path]
        if add and file.missing and file.missing.is_outside_checkout:
            faults.append(file.missing.make_error())
        elif (add or file.section) and not state.find_fault(file) and not is_fully_managed(path):
            try:
                plans.append(plan_section(editor, file, need))
            except CubError as error:
                faults.append(error)
    raise_all(faults)
    return merge_plans(plans)


def _plan_managed_files(state: ProjectState, local_state: CheckoutState, *, add: bool) -> Plan:
    edits, warnings = [], []
    templates, local = state.templates, managed_files.list_gitignore_lines(state.project.config)
    wanted = [
        (file, managed_files.render_managed_file(file, templates, templates.version, local))
        for file in MANAGED_FILES
    ]
    if CURSOR_RULE.path in state.specs and (add or state.files[CURSOR_RULE.path].exists):
        wanted.append((CURSOR_RULE, state.render_body(CURSOR_RULE.path)))
    for file, body in wanted:
        outcome = managed_files.refresh_managed_file(
            file, state.tree, state.templates, local_state, body
        )
        local_state = outcome.state
        edits += [outcome.edit] if outcome.edit else []
        warnings += [outcome.warning] if outcome.warning else []
    return Plan((*edits, *_plan_state_edit(state, local_state)), tuple(warnings))


def _plan_state_edit(state: ProjectState, local_state: CheckoutState) -> list[FileEdit]:
    """The local memory, written by `init`, and by `update` only where there is something new."""
    before = state.tree.read(STATE_FILE)
    if before is None and local_state == state.local_state and state.is_initialized:
        return []
    known = replace(local_state, templates=state.templates.version)
    if before is not None and known == state.local_state:
        return []  # whatever a formatter did to its bytes
    reason = "what this checkout alone remembers"
    return [FileEdit(STATE_FILE, before, known.to_bytes(), reason, is_local=True)]


def _with_nested_sections(state: ProjectState) -> CheckoutState:
    """The state with what is only known now: files that are there, empty; nested sections."""
    empty = {f.real_path for f in state.files.values() if f.document and not f.document.data}
    nested = set(filter(is_nested_target, state.specs))
    return replace(
        state.local_state,
        empty_files=tuple(sorted({*state.local_state.empty_files, *empty})),
        nested_sections=tuple(sorted({*state.local_state.nested_sections, *nested})),
    )


def _plan_targets(project: Project, targets: tuple[str, ...]) -> Plan:
    if set(targets) == set(project.config.targets):
        return Plan()
    before = project.tree.read(CONFIG_FILE)
    return Plan(
        (FileEdit(CONFIG_FILE, before, set_targets(before, targets), "remember the targets"),)
    )
