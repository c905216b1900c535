"""Plan `cub init` and `cub update`: all that they write in one plan, or a refusal."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cub.actions import managed_files, plan_warnings
from cub.actions.agent_settings import list_agent_targets, plan_agent_settings, plan_inlining
from cub.actions.managed_files import CURSOR_RULE, MANAGED_FILES
from cub.actions.migration.migrate import list_due_migrations, plan_migrations
from cub.actions.project_map import plan_fresh_map
from cub.actions.project_state import (
    ProjectState,
    list_targets,
    load_project_state,
    with_planned_files,
)
from cub.actions.remove import plan_managed_file_removal, plan_section_removals
from cub.actions.section_edits import merge_plans, plan_section
from cub.agent_profiles.claude import CLAUDE_LOCAL_FILE
from cub.edit.plan import EditedPolicy, FileEdit, Plan
from cub.errors import CubError, raise_all
from cub.files.file_tree import PlannedTree
from cub.files.internal_files import ScheduleWrite, write_now
from cub.project.agent_reading import find_claude_above, find_claude_files
from cub.project.checkout_state import STATE_FILE, CheckoutState
from cub.project.config import CONFIG_FILE
from cub.project.config_writer import set_targets
from cub.project.instruction_files import InstructionFile
from cub.project.project import Project, find_home, resolve_target
from cub.project.targets import is_fully_managed, is_nested_target
from cub.prompt.templates import TemplateSet
from cub.repomap.map_types import ProgressCallback, ignore_progress

# One round that moves lines, one that follows what they change, one to see that it settled.
_MAX_MOVE_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Hold what `cub init` is asked for.

    `paths` are nested targets, relative to the root. Targets that `targets` leaves out lose their
    sections; None keeps the configured ones, and adds those that `agents` need. The settings files
    of `agents`, or the configuration, get what they need to read the same text as the others;
    `left_out_agents` are those that `all` does not include here.
    `templates` and `migrations` replace the shipped ones.
    """

    paths: Sequence[str] = ()
    targets: Sequence[str] | None = None
    agents: Sequence[str] = ()
    left_out_agents: Sequence[str] = ()
    edited_policy: EditedPolicy = "refuse"
    prune: bool = False
    progress: ProgressCallback = ignore_progress
    schedule_write: ScheduleWrite = write_now
    templates: TemplateSet | None = None
    migrations: Path | None = None


INIT_DEFAULTS = InitOptions()


def plan_init(project: Project, options: InitOptions = INIT_DEFAULTS) -> Plan:
    """Plan everything that `cub init` writes; migrate an older layout first."""
    migrated, project = plan_migrations(project, prune=options.prune, folder=options.migrations)
    inlining, project = plan_inlining(project, options.agents)
    map_plan, project = plan_fresh_map(project, options.progress, options.schedule_write)
    default, targets = _choose_targets(project, options)
    state = _load_init_state(project, targets, options.templates)
    _require_writable_names(state, options)
    settings = plan_agent_settings(state, options.agents)
    if settings.edits:  # what an agent reads may decide what a file has to say
        planned = PlannedTree(project.tree, settings.contents)
        state = _load_init_state(replace(project, tree=planned), targets, options.templates)
    orphans = plan_warnings.list_orphaned_sections(state) if options.targets else []
    dropped = [file for file in orphans if file.path in project.config.targets]
    removed = _plan_dropped_targets(state, dropped, options.edited_policy)
    if removed.edits:  # no file may point to one that goes
        state = with_planned_files(state, removed.contents)
    sections = merge_plans([_plan_sections(state, options.edited_policy, add=True), removed])
    parts = [
        sections,
        _plan_constitution(state, {file.path for file in dropped}),
        map_plan,
        _plan_managed_files(state, _with_nested_sections(state), add=True),
        _plan_targets(project, targets, default, options),
        settings,
        Plan((), tuple(plan_warnings.warn_unread_files(state, sections))),
        Plan((), tuple(plan_warnings.warn_left_out_agents(options.left_out_agents))),
    ]
    before = migrated.append_plan(inlining, both_reasons=True)
    plan = before.append_plan(merge_plans(parts), both_reasons=True)
    return plan_warnings.add_flag_warnings(project, plan)


def _require_writable_names(state: ProjectState, options: InitOptions) -> None:
    """Refuse names of another case that leave no file for a section, or one that was asked for."""
    asked = {resolve_target(state.project, path) for path in options.paths}
    variants = [path for path in state.targets if state.files[path].case_variant]
    missed = [path for path in variants if path in asked or not state.specs]
    raise_all([_make_name_error(path, state.files[path].case_variant) for path in missed])


def _make_name_error(path: str, name: str) -> CubError:
    folder, right = posixpath.split(path)
    message = f"the section goes in {right}, which this file is on macOS and Windows"
    hint = f"rename it to {right}, then run `cub init`"
    where = posixpath.join(folder, name)
    return CubError(f"{message}; nothing was written", where=where, hint=hint)


def list_new_sections(project: Project, options: InitOptions = INIT_DEFAULTS) -> dict[str, bool]:
    """Return the files to which `cub init` adds a section, and whether each exists."""
    targets = _choose_targets(project, options)[1]
    state = _load_init_state(project, targets, options.templates)
    files = {path: state.files[path] for path in state.specs if not is_fully_managed(path)}
    return {path: file.exists for path, file in files.items() if not file.section}


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
    """Plan everything that `cub update` refreshes; report what a user deleted, don't restore it.

    An older layout is migrated first. With `check`, a stale map is a warning instead of an edit,
    because any commit may make a map stale.
    """
    due_migrations = list_due_migrations(project, migrations)
    migrated, project = plan_migrations(project, prune=prune, folder=migrations)
    state = load_project_state(project, templates=templates)
    if not due_migrations and not state.is_initialized:
        raise CubError("this project has no cub files yet", hint="run `cub init`")
    map_plan, mapped = plan_fresh_map(project, progress, schedule_write, check=check)
    if mapped is not project:
        state = load_project_state(mapped, templates=templates)
    sections = _plan_sections(state, edited_policy, add=False)
    warnings = (
        *plan_warnings.warn_odd_targets(state),
        *plan_warnings.warn_missing_sections(state),
        *plan_warnings.warn_missing_constitution(state),
        *plan_warnings.warn_unread_files(state, sections),
        *plan_warnings.warn_tracked_local_files(project),
    )
    managed = _plan_managed_files(state, state.local_state, add=False)
    rest = merge_plans([sections, map_plan, managed, Plan((), warnings)])
    plan = migrated.append_plan(rest, both_reasons=True)
    return plan_warnings.add_flag_warnings(project, plan)


def _load_init_state(
    project: Project, targets: tuple[str, ...], templates: TemplateSet | None
) -> ProjectState:
    return load_project_state(project, targets=targets, constitution=True, templates=templates)


def _plan_dropped_targets(
    state: ProjectState, dropped: list[InstructionFile], edited_policy: EditedPolicy
) -> Plan:
    sections = plan_section_removals(state, dropped, edited_policy)
    if CURSOR_RULE.path in {*state.project.config.targets} - {*state.targets}:
        return merge_plans([sections, plan_managed_file_removal(state, CURSOR_RULE)])
    return sections


def _plan_constitution(state: ProjectState, removed_paths: Collection[str]) -> Plan:
    """Plan the constitution, with warnings about every file except `removed_paths`."""
    plan = managed_files.plan_constitution(state.tree, state.templates)
    odd = plan_warnings.warn_odd_targets(state)
    warnings = (
        *(warning for warning in odd if warning.path not in removed_paths),
        *plan_warnings.warn_changed_reading(state),
        *plan_warnings.warn_recreated_files(state, plan.contents),
        *plan_warnings.warn_ignored_folder(state),
        *plan_warnings.warn_tracked_local_files(state.project),
    )
    return replace(plan, warnings=warnings)


def _plan_sections(state: ProjectState, edited_policy: EditedPolicy, *, add: bool) -> Plan:
    """Plan the sections of all files, new ones only with `add`; or raise all faults of all files.

    Lines that are moved out of a section become the user's own text, which may change what the
    files need: plan again until the plan settles.
    """
    plan = _plan_sections_once(state, edited_policy, add=add)
    for _ in range(_MAX_MOVE_ROUNDS if edited_policy == "move" else 0):
        more = _plan_sections_once(with_planned_files(state, plan.contents), edited_policy, add=add)
        plan = plan.append_plan(more)
        if more.is_empty:
            break
    return replace(plan, warnings=(*state.project.config.warnings, *plan.warnings))


def _plan_sections_once(state: ProjectState, edited_policy: EditedPolicy, *, add: bool) -> Plan:
    plans, faults = [], [*state.list_faults(), *state.inline_errors]
    for path in state.specs:
        file = state.files[path]
        if add and file.missing and file.missing.is_outside_checkout:
            faults.append(file.missing.make_error())
        elif (add or file.section) and not state.find_fault(file) and not is_fully_managed(path):
            try:
                plans.append(plan_section(state, file, edited_policy))
            except CubError as error:
                faults.append(error)
    raise_all(faults)
    return merge_plans(plans)


def _plan_managed_files(state: ProjectState, local_state: CheckoutState, *, add: bool) -> Plan:
    plans, project, templates = [], state.project, state.templates
    has_rule = CURSOR_RULE.path in state.specs and (add or state.files[CURSOR_RULE.path].exists)
    for file in (*MANAGED_FILES, *[CURSOR_RULE] * has_rule):
        body = "" if file.template else state.render_spec(state.specs[file.path])
        plan, local_state = managed_files.refresh_managed_file(
            file, project, templates, local_state, body
        )
        plans.append(plan)
    return merge_plans([*plans, _plan_state_file(state, local_state)])


def _plan_state_file(state: ProjectState, local_state: CheckoutState) -> Plan:
    """Plan the checkout's state file; `update` writes it only if there is something new in it."""
    before = state.tree.read(STATE_FILE)
    if before is None and local_state == state.local_state and state.is_initialized:
        return Plan()
    new_state = replace(local_state, templates=state.templates.version)
    if before is not None and new_state == state.local_state:
        return Plan()  # whatever a formatter did to its bytes
    reason = "local state of this checkout"
    return Plan((FileEdit(STATE_FILE, before, new_state.to_bytes(), reason, is_local=True),))


def _with_nested_sections(state: ProjectState) -> CheckoutState:
    """Return the checkout's state with the empty files and nested sections of this project."""
    empty = {f.real_path for f in state.files.values() if f.document and not f.document.data}
    nested = set(filter(is_nested_target, state.specs))
    return replace(
        state.local_state,
        empty_files=tuple(sorted({*state.local_state.empty_files, *empty})),
        nested_sections=tuple(sorted({*state.local_state.nested_sections, *nested})),
    )


def _choose_targets(
    project: Project, options: InitOptions
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the project's default targets, and those to write."""
    # Files outside of commits may hide AGENTS.md from Claude Code.
    is_hidden = find_claude_above(project.root, find_home()) is not None
    is_hidden = is_hidden or CLAUDE_LOCAL_FILE in find_claude_files(project.tree)
    default = list_targets(project, is_hidden=is_hidden)
    for_agents = list_agent_targets(project, options.agents, is_hidden=is_hidden)
    nested = (resolve_target(project, path) for path in options.paths)
    asked = options.targets or (*default, *for_agents)
    return default, tuple(dict.fromkeys((*asked, *nested)))


def _plan_targets(
    project: Project, targets: tuple[str, ...], default: tuple[str, ...], options: InitOptions
) -> Plan:
    known = [default, project.config.targets] if options.targets else [default]
    if all(set(targets) == set(paths) for paths in known):
        return Plan()
    before = project.tree.read(CONFIG_FILE)
    edit = FileEdit(CONFIG_FILE, before, set_targets(before, targets), "record the targets")
    return Plan((edit,))
