"""What `cub remove` means to do: give every file back as it would be without cub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cub.actions.own_files import OWN_FILES, known_seal
from cub.actions.section_edits import Edited, Editor, merged, take_out
from cub.actions.sync import View, fault_of, view
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files import read
from cub.project.project import Project
from cub.project.state import STATE
from cub.project.survey import InstructionFile, distinct
from cub.prompt.instructions import Need
from cub.prompt.templates import TemplateSet

_BUSY = (".cub/lock", ".cub/journal.jsonl")


def plan_remove(
    project: Project,
    *,
    purge: bool = False,
    edited: Edited = "refuse",
    templates: TemplateSet | None = None,
) -> Plan:
    """Sections out, cub's own unedited files deleted; with `purge`, all of .cub/."""
    seen = view(project, templates=templates)
    plan = merged([_sections(seen, edited), _all_of_cub(seen.root) if purge else _own(seen)])
    if plan.empty and not seen.initialised:
        raise CubError("there is no cub in this project", where=".")
    return plan


def _sections(seen: View, edited: Edited) -> Plan:
    editor = Editor(seen.root, seen.templates, seen.project.config.placement == "top", edited)
    plans: list[Plan] = []
    faults: list[CubError] = []
    for file in distinct(seen.files.values()):
        if fault := fault_of(file, seen.templates.version):
            faults.append(fault)
            continue
        need = seen.needs.get(file.path, Need("agents", claude=True))
        try:
            plans.append(take_out(editor, file, need, _stays(file, seen)))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return merged(plans)


def _stays(file: InstructionFile, seen: View) -> bool:
    """Whether the file remains when nothing is left in it: it was empty before, or is a link's."""
    linked = (seen.root / file.path).is_symlink() or file.path != file.real
    return file.real in seen.state.empty or linked


def _own(seen: View) -> Plan:
    edits, warnings = [], []
    for file in OWN_FILES:
        data = read(seen.root, file.path)
        found = known_seal(data, file.path, seen.templates.version) if data is not None else None
        if found and found.intact:
            edits.append(Edit(file.path, data, None, f"delete: {file.purpose}"))
        elif data is not None:
            warnings.append(PlanWarning("kept, because it is not as cub wrote it", file.path))
        if (beside := read(seen.root, f"{file.path}.new")) is not None:
            edits.append(Edit(f"{file.path}.new", beside, None, "delete", local=True))
    if (state := read(seen.root, STATE)) is not None:
        reason = "delete: what this checkout alone remembers"
        edits.append(Edit(STATE, state, None, reason, local=True))
    return Plan(tuple(edits), tuple(warnings))


def _all_of_cub(root: Path) -> Plan:
    edits, warnings = [], []
    for path in _below(root, root / ".cub"):
        name = path.relative_to(root).as_posix()
        if name in _BUSY:
            continue
        if path.is_symlink() or not path.is_file():
            warnings.append(PlanWarning("left: this is not a regular file", name))
        else:
            edits.append(Edit(name, read(root, name), None, "delete: --purge"))
    return Plan(tuple(edits), tuple(warnings))


def _below(root: Path, folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield from _below(root, path)
        else:
            yield path
