"""One project, one text: which section each instruction file needs, so that a reader who loads
them gets the shared text exactly once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cub.actions.root_needs import AGENTS, ROOTS, root_needs
from cub.errors import CubError
from cub.project import targets as table
from cub.project.survey import InstructionFile
from cub.prompt.instructions import Need


@dataclass(frozen=True, slots=True)
class Known:
    """What exists in the project once the plan is applied, and can be referred to.

    `map_text`, `constitution_text`: what stands in the sections themselves instead; `gemini`:
    the names of the files that Gemini CLI loads.
    """

    constitution: bool
    map: bool
    skills: bool
    map_text: str = ""
    constitution_text: str = ""
    gemini: tuple[str, ...] = ()


def needs(
    files: Mapping[str, InstructionFile], targets: tuple[str, ...], known: Known
) -> dict[str, Need]:
    """The need of every target that cub writes to, by path; one entry for each real file.

    `files` holds every row of the table of targets in any case, and all `targets`.
    """
    base = Need(
        "agents",
        constitution=known.constitution and not known.constitution_text,
        map=known.map and not known.map_text,
        map_text=known.map_text,
        constitution_text=known.constitution_text,
    )
    asked = {files[path].key for path in targets}
    roots = tuple(path for path in ROOTS if path in targets or files[path].key in asked)
    wanted = root_needs(files, roots, base, known.skills, known.gemini)
    taken = {files[path].key for path in wanted}
    for path in targets:
        file = files[path]
        alone = path not in ROOTS and not table.is_nested(path) and not file.misnamed
        if alone and file.key not in taken:
            wanted[path] = replace(base, template="rule" if table.is_whole(path) else "agents")
            taken.add(file.key)
    for path in filter(table.is_nested, targets):
        file = files[path]
        passed = file.misnamed or file.homeless or _covered(path, files, targets)
        if not passed and file.key not in taken:
            wanted[path] = Need("nested", root=_up_to_root(file, files, wanted))
            taken.add(file.key)
    return wanted


def _covered(path: str, files: Mapping[str, InstructionFile], targets: tuple[str, ...]) -> bool:
    """Whether the AGENTS.md beside a file of one client brings the pointer to its readers."""
    folder, name = posixpath.split(path)
    other = files.get(posixpath.join(folder, AGENTS))
    if name == AGENTS or other is None or other.path not in targets:
        return False
    return other.key == files[path].key or AGENTS in files[path].imported


def _up_to_root(
    nested: InstructionFile, files: Mapping[str, InstructionFile], wanted: Mapping[str, Need]
) -> str:
    """The root's instruction file, as seen from `nested`."""
    there = [name for name in ROOTS if name in wanted or files[name].stands]
    if not there:
        raise CubError(
            "there is no file at the root that this one could point to",
            where=nested.path,
            hint=f"add {AGENTS} to the targets",
        )
    return posixpath.relpath(there[0], posixpath.dirname(nested.real))
