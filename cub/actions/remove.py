"""What `cub remove` means to do: give every file back as it would be without cub."""

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
from cub.actions.project_map import CACHE_FILES, CACHE_FOLDER
from cub.actions.project_state import ProjectState, load_project_state
from cub.actions.section_edits import (
    BACKUP_FOLDER,
    EditedPolicy,
    SectionWriteOptions,
    make_backup_path,
    merge_plans,
    plan_section_removal,
)
from cub.edit.file_header import parse_file_header
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files import JOURNAL_FILE, LOCK_FILE
from cub.project.checkout_state import STATE_FILE
from cub.project.instruction_files import InstructionFile, remove_duplicates
from cub.project.project import Project
from cub.prompt.section_text import SectionSpec
from cub.prompt.templates import TemplateSet

_BUSY = (LOCK_FILE, JOURNAL_FILE)


def plan_remove(
    project: Project,
    *,
    purge: bool = False,
    edited_policy: EditedPolicy = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Sections out, cub's own unedited files deleted; with `purge`, all of .cub/."""
    seen = load_project_state(project, templates=templates)
    sections = plan_section_removals(seen, remove_duplicates(seen.files.values()), edited_policy)
    # What this very plan relies on as a backup stays, whatever else goes.
    kept = {
        make_backup_path(f) for f in seen.files.values() if f.section and f.section.author != "cub"
    }
    rest = _plan_purge(seen, kept) if purge else _plan_managed_files(seen, sections)
    plan = merge_plans([sections, _plan_rule_removal(seen), rest])
    gone = {edit.path for edit in plan.edits if edit.after is None}
    plan = merge_plans([plan, Plan((), tuple(warn_dangling_settings(seen.tree, gone)))])
    if plan.is_empty and not seen.tree.list_names(".cub") - {Path(LOCK_FILE).name}:
        raise CubError("there is no cub in this project")
    return plan


def plan_section_removals(
    state: ProjectState, files: Iterable[InstructionFile], edited_policy: EditedPolicy
) -> Plan:
    """`files` without their sections; or every fault of every target at once."""
    editor = SectionWriteOptions(state.tree, state.templates, state.adds_at_top, edited_policy)
    plans, faults = [], state.list_faults()
    for file in files:
        if not file.section or state.find_fault(file):
            continue
        need = state.find_spec(file.identity_key) or SectionSpec("agents", claude=True)
        try:
            plans.append(plan_section_removal(editor, file, need, _is_kept(file, state)))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return merge_plans(plans)


def _is_kept(file: InstructionFile, state: ProjectState) -> bool:
    """Whether the file remains when nothing is left in it: it was empty before, or is linked to."""
    names = [state.root / f.path for f in state.files.values() if f.identity == file.identity]
    linked = any(name.is_symlink() or name.stat().st_nlink > 1 for name in names)
    return file.real_path in state.local_state.empty_files or linked


def plan_managed_file_removal(state: ProjectState, file: ManagedFile) -> Plan:
    """One of cub's own files deleted, unless a person edited it; its offer too."""
    edits, warnings = [], []
    data = state.tree.read(file.path)
    found = (
        parse_known_header(data, file.path, state.templates.version) if data is not None else None
    )
    if link := _link_to(state, file.path):
        warnings.append(PlanWarning(f"kept, because {link} is a link to it", file.path))
    elif found and found.is_intact:
        edits.append(FileEdit(file.path, data, None, f"delete: {file.purpose}"))
    elif data is not None:
        warnings.append(PlanWarning("kept, because it is not as cub wrote it", file.path))
    offered = state.tree.read(file.offer_path) if file.offer else None
    if offered is not None and is_intact(offered):
        edits.append(
            FileEdit(file.offer_path, offered, None, "delete: an offer of cub's", is_local=True)
        )
    elif offered is not None:
        warnings.append(PlanWarning("kept, because it is not as cub wrote it", file.offer_path))
    return Plan(tuple(edits), tuple(warnings))


def _link_to(state: ProjectState, path: str) -> str:
    """The instruction file that is a link to `path`; "" if none is."""
    real = state.tree.resolve_path(path)
    links = (name for name, f in state.files.items() if f.real_path == real and f.is_present)
    return next((name for name in links if name not in (path, real)), "")


def _plan_rule_removal(state: ProjectState) -> Plan:
    """The instruction file that is cub's as a whole, unless it was never asked for."""
    rule = state.files[CURSOR_RULE.path].document
    ours = rule and (CURSOR_RULE.path in state.specs or parse_file_header(rule.data))
    return plan_managed_file_removal(state, CURSOR_RULE) if ours else Plan()


def _plan_managed_files(seen: ProjectState, sections: Plan) -> Plan:
    """Files of cub's own, except edited ones, and the one that hides backups from git."""
    backups = any((seen.root / BACKUP_FOLDER).glob("*")) or any(
        edit.path.startswith(BACKUP_FOLDER) for edit in sections.edits
    )
    plans = []
    for file in MANAGED_FILES:
        if file.path == GITIGNORE and backups:
            message = f"kept, because it hides {BACKUP_FOLDER}/ from git"
            plans.append(Plan((), (PlanWarning(message, file.path),)))
        else:
            plans.append(plan_managed_file_removal(seen, file))
    if seen.tree.read(MAP) is not None:
        plans.append(plan_managed_file_removal(seen, MAP_FILE))
    plans.append(Plan(tuple(_plan_cache_removal(seen))))
    if (state := seen.tree.read(STATE_FILE)) is not None:
        reason = "delete: what this checkout alone remembers"
        plans.append(Plan((FileEdit(STATE_FILE, state, None, reason, is_local=True),)))
    return merge_plans(plans)


def _plan_cache_removal(state: ProjectState) -> Iterator[FileEdit]:
    """What cub caches, by name: whatever else lies there, or behind a link, is a person's."""
    folder = state.root / CACHE_FOLDER
    torn = sorted(path.name for path in folder.glob(".*.json*.tmp"))  # a crash leaves them
    for name in () if folder.is_symlink() else (*CACHE_FILES, *torn):
        if (folder / name).is_file() and not (folder / name).is_symlink():
            path = f"{CACHE_FOLDER}/{name}"
            yield FileEdit(path, state.tree.read(path), None, "delete: a cache", is_local=True)


def _plan_purge(state: ProjectState, kept: set[str]) -> Plan:
    """Everything in .cub/, except the backups in `kept`."""
    edits, warnings = [], []
    for path in _below(state.root / ".cub"):
        name = path.relative_to(state.root).as_posix()
        if name in _BUSY or name in kept:
            continue
        if path.is_symlink() or not path.is_file():
            warnings.append(PlanWarning("left: this is not a regular file", name))
        elif link := _link_to(state, name):
            warnings.append(PlanWarning(f"left: {link} is a link to it", name))
        else:
            local = name.startswith(f"{CACHE_FOLDER}/")
            edits.append(
                FileEdit(name, state.tree.read(name), None, "delete: --purge", is_local=local)
            )
    return Plan(tuple(edits), tuple(warnings))


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        else:
            yield path
