"""What `cub remove` means to do: give every file back as it would be without cub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cub.actions.own_files import (
    CURSOR_RULE,
    GITIGNORE,
    MAP,
    MAP_FILE,
    OWN_FILES,
    OwnFile,
    is_intact,
    known_seal,
)
from cub.actions.parity import still_named
from cub.actions.project_map import CACHE, CACHES
from cub.actions.section_edits import BACKUPS, Edited, Editor, backup_path, merged, take_out
from cub.actions.view import View, view
from cub.edit.owned import unseal
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files import JOURNAL, LOCK
from cub.project.project import Project
from cub.project.state import STATE
from cub.project.survey import InstructionFile, distinct
from cub.prompt.instructions import Need
from cub.prompt.templates import TemplateSet

_BUSY = (LOCK, JOURNAL)


def plan_remove(
    project: Project,
    *,
    purge: bool = False,
    edited: Edited = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Sections out, cub's own unedited files deleted; with `purge`, all of .cub/."""
    seen = view(project, templates=templates)
    sections = taken_out(seen, distinct(seen.files.values()), edited)
    # What this very plan relies on as a backup stays, whatever else goes.
    kept = {backup_path(f) for f in seen.files.values() if f.section and f.section.author != "cub"}
    rest = _all_of_cub(seen, kept) if purge else _own(seen, sections)
    plan = merged([sections, _rule(seen), rest])
    gone = {edit.path for edit in plan.edits if edit.after is None}
    plan = merged([plan, Plan((), tuple(still_named(seen.tree, gone)))])
    if plan.empty and not seen.tree.names(".cub") - {Path(LOCK).name}:
        raise CubError("there is no cub in this project")
    return plan


def taken_out(seen: View, files: Iterable[InstructionFile], edited: Edited) -> Plan:
    """`files` without their sections; or every fault of every target at once."""
    editor = Editor(seen.tree, seen.templates, seen.top, edited)
    plans, faults = [], seen.faults()
    for file in files:
        if not file.section or seen.fault(file):
            continue
        need = seen.need_of(file.key) or Need("agents", claude=True)
        try:
            plans.append(take_out(editor, file, need, _stays(file, seen)))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return merged(plans)


def _stays(file: InstructionFile, seen: View) -> bool:
    """Whether the file remains when nothing is left in it: it was empty before, or is linked to."""
    names = [seen.root / f.path for f in seen.files.values() if f.identity == file.identity]
    linked = any(name.is_symlink() or name.stat().st_nlink > 1 for name in names)
    return file.real in seen.state.empty or linked


def file_taken_out(seen: View, file: OwnFile) -> Plan:
    """One of cub's own files deleted, unless a person edited it; its offer too."""
    edits, warnings = [], []
    data = seen.tree.read(file.path)
    found = known_seal(data, file.path, seen.templates.version) if data is not None else None
    if link := _link_to(seen, file.path):
        warnings.append(PlanWarning(f"kept, because {link} is a link to it", file.path))
    elif found and found.intact:
        edits.append(Edit(file.path, data, None, f"delete: {file.purpose}"))
    elif data is not None:
        warnings.append(PlanWarning("kept, because it is not as cub wrote it", file.path))
    offered = seen.tree.read(file.beside) if file.offer else None
    if offered is not None and is_intact(offered):
        edits.append(Edit(file.beside, offered, None, "delete: an offer of cub's", local=True))
    elif offered is not None:
        warnings.append(PlanWarning("kept, because it is not as cub wrote it", file.beside))
    return Plan(tuple(edits), tuple(warnings))


def _link_to(seen: View, path: str) -> str:
    """The instruction file that is a link to `path`; "" if none is."""
    real = seen.tree.real(path)
    links = (name for name, f in seen.files.items() if f.real == real and f.stands)
    return next((name for name in links if name not in (path, real)), "")


def _rule(seen: View) -> Plan:
    """The instruction file that is cub's as a whole, unless it was never asked for."""
    rule = seen.files[CURSOR_RULE.path].document
    ours = rule and (CURSOR_RULE.path in seen.needs or unseal(rule.data))
    return file_taken_out(seen, CURSOR_RULE) if ours else Plan()


def _own(seen: View, sections: Plan) -> Plan:
    """Files of cub's own, except edited ones, and the one that hides backups from git."""
    backups = any((seen.root / BACKUPS).glob("*")) or any(
        edit.path.startswith(BACKUPS) for edit in sections.edits
    )
    plans = []
    for file in OWN_FILES:
        if file.path == GITIGNORE and backups:
            message = f"kept, because it hides {BACKUPS}/ from git"
            plans.append(Plan((), (PlanWarning(message, file.path),)))
        else:
            plans.append(file_taken_out(seen, file))
    if seen.tree.read(MAP) is not None:
        plans.append(file_taken_out(seen, MAP_FILE))
    plans.append(Plan(tuple(_caches(seen))))
    if (state := seen.tree.read(STATE)) is not None:
        reason = "delete: what this checkout alone remembers"
        plans.append(Plan((Edit(STATE, state, None, reason, local=True),)))
    return merged(plans)


def _caches(seen: View) -> Iterator[Edit]:
    """What cub caches, by name: whatever else lies there, or behind a link, is a person's."""
    folder = seen.root / CACHE
    torn = sorted(path.name for path in folder.glob(".*.json*.tmp"))  # a crash leaves them
    for name in () if folder.is_symlink() else (*CACHES, *torn):
        if (folder / name).is_file() and not (folder / name).is_symlink():
            path = f"{CACHE}/{name}"
            yield Edit(path, seen.tree.read(path), None, "delete: a cache", local=True)


def _all_of_cub(seen: View, kept: set[str]) -> Plan:
    """Everything in .cub/, except the backups in `kept`."""
    edits, warnings = [], []
    for path in _below(seen.root / ".cub"):
        name = path.relative_to(seen.root).as_posix()
        if name in _BUSY or name in kept:
            continue
        if path.is_symlink() or not path.is_file():
            warnings.append(PlanWarning("left: this is not a regular file", name))
        elif link := _link_to(seen, name):
            warnings.append(PlanWarning(f"left: {link} is a link to it", name))
        else:
            local = name.startswith(f"{CACHE}/")
            edits.append(Edit(name, seen.tree.read(name), None, "delete: --purge", local=local))
    return Plan(tuple(edits), tuple(warnings))


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        else:
            yield path
