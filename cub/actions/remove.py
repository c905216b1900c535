"""Plan `cub remove`: leave every file as it would be without cub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cub.actions.agent_settings import warn_dangling_settings
from cub.actions.managed_files import (
    CURSOR_RULE,
    GITIGNORE,
    MANAGED_FILES,
    MAP,
    MAP_FILE,
    ManagedFile,
    is_intact,
    parse_known_header,
)
from cub.actions.plan_warnings import add_flag_warnings
from cub.actions.project_map import CACHE_FILES, CACHE_FOLDER
from cub.actions.project_state import ProjectState, load_project_state
from cub.actions.section_edits import (
    BACKUP_FOLDER,
    make_backup_path,
    merge_plans,
    plan_section_removal,
)
from cub.edit.file_header import parse_file_header
from cub.edit.plan import EditedPolicy, FileEdit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files.journal import JOURNAL_FILE
from cub.files.lock import LOCK_FILE
from cub.project.checkout_state import STATE_FILE
from cub.project.instruction_files import InstructionFile, remove_duplicates
from cub.project.project import Project
from cub.prompt.templates import TemplateSet

_FILES_IN_USE = (LOCK_FILE, JOURNAL_FILE)


def plan_remove(
    project: Project,
    *,
    purge: bool = False,
    edited_policy: EditedPolicy = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Plan to take sections out and delete cub's own unedited files; with `purge`, all of .cub/."""
    state = load_project_state(project, templates=templates)
    sections = plan_section_removals(state, remove_duplicates(state.files.values()), edited_policy)
    # What this very plan relies on as a backup stays, whatever else goes.
    kept_backups = {
        make_backup_path(f) for f in state.files.values() if f.section and f.section.author != "cub"
    }
    rest = _plan_purge(state, kept_backups) if purge else _plan_managed_files(state, sections)
    plan = merge_plans([sections, _plan_rule_removal(state), rest])
    deleted_paths = {edit.path for edit in plan.edits if edit.after is None}
    plan = merge_plans([plan, Plan((), tuple(warn_dangling_settings(state.tree, deleted_paths)))])
    if plan.is_empty and not state.tree.list_names(".cub") - {Path(LOCK_FILE).name}:
        raise CubError("this project has no cub files")
    return add_flag_warnings(project, plan)


def plan_section_removals(
    state: ProjectState, files: Iterable[InstructionFile], edited_policy: EditedPolicy
) -> Plan:
    """Plan `files` without their sections; or raise every fault of every target at once."""
    plans, faults = [], state.list_faults()
    for file in files:
        if not file.section or state.find_fault(file):
            continue
        stays = _is_kept(file, state)
        try:
            plans.append(plan_section_removal(state, file, edited_policy, stays=stays))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return merge_plans(plans)


def _is_kept(file: InstructionFile, state: ProjectState) -> bool:
    """Tell whether an empty file remains: it was empty before, or a link leads to it."""
    root, files = state.project.root, state.files.values()
    names = [root / other.path for other in files if other.identity == file.identity]
    is_linked = any(name.is_symlink() or name.stat().st_nlink > 1 for name in names)
    return file.real_path in state.local_state.empty_files or is_linked


def plan_managed_file_removal(state: ProjectState, file: ManagedFile) -> Plan:
    """Plan to delete one of cub's own files and its offer, unless a user edited it."""
    edits, warnings = [], []
    data = state.tree.read(file.path)
    version = state.templates.version
    header = None if data is None else parse_known_header(data, file.path, version)
    if link := _find_link(state, file.path):
        warnings.append(PlanWarning(f"kept, because {link} is a link to it", file.path))
    elif header and header.is_intact:
        edits.append(FileEdit(file.path, data, None, f"delete: {file.purpose}"))
    elif data is not None:
        warnings.append(PlanWarning("kept, because it was edited", file.path))
    offer = state.tree.read(file.offer_path) if file.offer else None
    if offer is not None and is_intact(offer):
        reason = "delete: an unused offer"
        edits.append(FileEdit(file.offer_path, offer, None, reason, is_local=True))
    elif offer is not None:
        warnings.append(PlanWarning("kept, because it was edited", file.offer_path))
    return Plan(tuple(edits), tuple(warnings))


def _find_link(state: ProjectState, path: str) -> str:
    """Return the instruction file that is a link to `path`; "" if none is."""
    real_path = state.tree.resolve_path(path)
    links = (name for name, f in state.files.items() if f.real_path == real_path and f.is_present)
    return next((name for name in links if name not in (path, real_path)), "")


def _plan_rule_removal(state: ProjectState) -> Plan:
    rule = state.files[CURSOR_RULE.path].document
    is_cubs = rule and (CURSOR_RULE.path in state.specs or parse_file_header(rule.data))
    return plan_managed_file_removal(state, CURSOR_RULE) if is_cubs else Plan()


def _plan_managed_files(state: ProjectState, sections: Plan) -> Plan:
    planned = any(edit.path.startswith(BACKUP_FOLDER) for edit in sections.edits)
    backups = planned or any((state.project.root / BACKUP_FOLDER).glob("*"))
    plans = []
    for file in MANAGED_FILES:
        if file.path == GITIGNORE and backups:
            message = f"kept, because it hides {BACKUP_FOLDER}/ from git"
            plans.append(Plan((), (PlanWarning(message, file.path),)))
        else:
            plans.append(plan_managed_file_removal(state, file))
    if state.tree.read(MAP) is not None:
        plans.append(plan_managed_file_removal(state, MAP_FILE))
    plans.append(Plan(tuple(_plan_cache_removal(state))))
    if (data := state.tree.read(STATE_FILE)) is not None:
        reason = "delete: local state of this checkout"
        plans.append(Plan((FileEdit(STATE_FILE, data, None, reason, is_local=True),)))
    return merge_plans(plans)


def _plan_cache_removal(state: ProjectState) -> Iterator[FileEdit]:
    """Yield what cub caches, by name: whatever else is there, or behind a link, is the user's."""
    folder = state.project.root / CACHE_FOLDER
    temporary = sorted(path.name for path in folder.glob(".*.json*.tmp"))  # a crash leaves them
    for name in () if folder.is_symlink() else (*CACHE_FILES, *temporary):
        if (folder / name).is_file() and not (folder / name).is_symlink():
            path = f"{CACHE_FOLDER}/{name}"
            yield FileEdit(path, state.tree.read(path), None, "delete: a cache", is_local=True)


def _plan_purge(state: ProjectState, kept_backups: set[str]) -> Plan:
    edits, warnings = [], []
    for path in sorted((state.project.root / ".cub").rglob("*")):
        name, is_folder = path.relative_to(state.project.root).as_posix(), path.is_dir()
        if name in _FILES_IN_USE or name in kept_backups or (is_folder and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file():
            warnings.append(PlanWarning("kept: not a regular file", name))
        elif link := _find_link(state, name):
            warnings.append(PlanWarning(f"kept: {link} is a link to it", name))
        else:
            data, is_local = state.tree.read(name), name.startswith(f"{CACHE_FOLDER}/")
            edits.append(FileEdit(name, data, None, "delete: --purge", is_local=is_local))
    return Plan(tuple(edits), tuple(warnings))
