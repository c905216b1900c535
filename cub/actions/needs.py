"""One project, one text: which section each instruction file needs, so that a reader who loads
them gets the shared text exactly once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cub.errors import CubError
from cub.project import targets as table
from cub.project.survey import InstructionFile
from cub.prompt.instructions import Need

AGENTS, CLAUDE, GEMINI = table.AGENTS.path, table.CLAUDE.path, table.GEMINI.path
_ROOTS = (AGENTS, CLAUDE, GEMINI)


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
        skills=known.skills,
        map_text=known.map_text,
        constitution_text=known.constitution_text,
    )
    wanted = _at_root(files[AGENTS], files[CLAUDE], targets, base)
    taken = {files[path].key for path in wanted}
    for path, need in _others(files, targets, replace(base, skills=False), known):
        if files[path].key not in taken:
            wanted[path] = need
            taken.add(files[path].key)
    for path in filter(table.is_nested, targets):
        file = files[path]
        passed = file.misnamed or file.homeless or _covered(path, files, targets)
        if not passed and file.key not in taken:
            wanted[path] = Need("nested", root=_up_to_root(file, files, wanted))
            taken.add(file.key)
    return wanted


def _others(
    files: Mapping[str, InstructionFile], targets: tuple[str, ...], base: Need, known: Known
) -> list[tuple[str, Need]]:
    """What the clients need that have a file of their own at the root."""
    found = []
    for path in (path for path in targets if not table.is_nested(path)):
        if path in (AGENTS, CLAUDE) or files[path].misnamed:
            continue
        need: Need | None = base
        if table.is_whole(path):
            need = replace(base, template="rule")
        elif path == GEMINI:
            shared = AGENTS in targets and not files[AGENTS].misnamed
            need = _of_gemini(files[GEMINI], replace(base, template="gemini"), shared, known)
        if need:
            found.append((path, need))
    return found


def _of_gemini(file: InstructionFile, base: Need, shared: bool, known: Known) -> Need | None:
    """Gemini CLI replaces `@AGENTS.md` by that file, and may load it by itself."""
    if not shared:
        return base
    if file.is_only(AGENTS, f"./{AGENTS}"):
        return None
    if AGENTS in file.imported or AGENTS in known.gemini:
        return replace(base, shared=False) if file.section else None
    if not file.own or file.section_says(f"@{AGENTS}"):
        return replace(base, shared=False, imports=True)
    return base


def _at_root(
    agents: InstructionFile, claude: InstructionFile, targets: tuple[str, ...], base: Need
) -> dict[str, Need]:
    if _one_file(agents, claude):
        # A flattened symlink (a file that holds the other's name) stays as it is.
        keeper = CLAUDE if agents.is_only(CLAUDE, f"./{CLAUDE}") else AGENTS
        if AGENTS in targets or CLAUDE in targets:
            return {keeper: replace(base, claude=True)}
        return {}
    wanted = {}
    shared = AGENTS in targets and not agents.misnamed
    if shared:
        wanted[AGENTS] = replace(base, skills=False, read_first=_hides(agents, claude))
    need = _of_claude(agents, claude, shared, replace(base, template="claude", claude=True))
    if CLAUDE in targets and not claude.misnamed and need:
        wanted[CLAUDE] = need
    return wanted


def _of_claude(
    agents: InstructionFile, claude: InstructionFile, shared: bool, base: Need
) -> Need | None:
    if not shared:
        # Beside an agents.md of another case, a new CLAUDE.md would hide that file from Claude.
        return None if agents.misnamed and not claude.exists else base
    if AGENTS in claude.imported:
        alone = claude.is_only(f"@{AGENTS}", f"@./{AGENTS}")
        return None if alone else replace(base, shared=False)
    if not claude.own or claude.section_says(f"@{AGENTS}"):
        return replace(base, shared=False, imports=True)
    return base


def _one_file(agents: InstructionFile, claude: InstructionFile) -> bool:
    if agents.exists and agents.identity == claude.identity:
        return True
    return claude.is_only(AGENTS, f"./{AGENTS}") or (
        agents.is_only(CLAUDE, f"./{CLAUDE}") and claude.exists
    )


def _hides(agents: InstructionFile, claude: InstructionFile) -> bool:
    """Whether AGENTS.md keeps clients from a CLAUDE.md that has rules of its own.

    opencode and Amp read CLAUDE.md only while there is no AGENTS.md. Where cub made AGENTS.md,
    the line stays whatever people add to that file.
    """
    if not claude.own or AGENTS in claude.imported:
        return False
    return not agents.own or agents.section_says(CLAUDE)


def _covered(path: str, files: Mapping[str, InstructionFile], targets: tuple[str, ...]) -> bool:
    """Whether the AGENTS.md beside a file of one client brings the pointer to its readers."""
    folder, name = posixpath.split(path)
    other = files.get(posixpath.join(folder, AGENTS))
    if name == AGENTS or other is None or other.path not in targets:
        return False
    return _one_file(other, files[path]) or AGENTS in files[path].imported


def _up_to_root(
    nested: InstructionFile, files: Mapping[str, InstructionFile], wanted: Mapping[str, Need]
) -> str:
    """The root's instruction file, as seen from `nested`."""
    there = [name for name in _ROOTS if name in wanted or files[name].stands]
    if not there:
        raise CubError(
            "there is no file at the root that this one could point to",
            where=nested.path,
            hint=f"add {AGENTS} to the targets",
        )
    return posixpath.relpath(there[0], posixpath.dirname(nested.real))
