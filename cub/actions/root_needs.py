"""AGENTS.md, CLAUDE.md and GEMINI.md at the root: whoever loads one of them, with what it imports,
gets the shared text exactly once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from cub.project import targets as table
from cub.project.survey import InstructionFile
from cub.prompt.instructions import Need

AGENTS, CLAUDE, GEMINI = table.AGENTS.path, table.CLAUDE.path, table.GEMINI.path
ROOTS = (AGENTS, CLAUDE, GEMINI)
_Files = Mapping[str, InstructionFile]
_Keys = frozenset[Hashable]  # of real files


def root_needs(
    files: _Files, targets: tuple[str, ...], base: Need, skills: bool, by_setting: Iterable[str]
) -> dict[str, Need]:
    """The needs of those three that are targets, by path; one entry for each real file.

    `by_setting`: the files that Gemini CLI loads beside GEMINI.md.
    """
    for_claude = replace(base, claude=True, skills=skills)
    for_gemini = replace(base, template="gemini")
    wanted = _for_all(files, targets, base, for_claude)
    imports = {path: _keys(files, path, files[path].imported) for path in ROOTS}
    loads = {**imports, GEMINI: imports[GEMINI] | _keys(files, GEMINI, by_setting)}
    brought = _spread(frozenset(files[path].key for path in wanted), files, imports)
    for path in _in_order(files, loads):
        taken = any(files[other].key == files[path].key for other in wanted)
        if path not in targets or taken or _is_passed(files, path):
            continue
        own = replace(for_claude, template="claude") if path == CLAUDE else for_gemini
        need = _of_importer(files, path, own, loads[path], brought)
        if need:
            wanted[path] = need
        if need and (need.shared or need.imports):
            brought = _spread(brought | {files[path].key}, files, imports)
    return wanted


def _for_all(
    files: _Files, targets: tuple[str, ...], base: Need, for_claude: Need
) -> dict[str, Need]:
    """What every client reads: AGENTS.md, with Claude's additions if CLAUDE.md is the same file."""
    agents, claude = files[AGENTS], files[CLAUDE]
    if agents.key == claude.key:
        return {AGENTS: for_claude} if {AGENTS, CLAUDE} & {*targets} else {}
    if AGENTS not in targets or agents.misnamed:
        return {}
    return {AGENTS: replace(base, read_first=_hides(agents, claude))}


def _of_importer(files: _Files, path: str, own: Need, loads: _Keys, brought: _Keys) -> Need | None:
    """A file's need if its client replaces imports; None where there is nothing to say.

    `loads`: what the client loads with the file; `brought`: what has the shared text with it.
    """
    file = files[path]
    if loads & brought:
        names = [name for name in ROOTS if files[name].key in brought]
        stub = file.is_only(*(f"{at}{name}" for name in names for at in ("@", "@./")))
        says = own.claude or file.section
        return replace(own, shared=False) if says and not stub else None
    if files[AGENTS].key in brought and (not file.own or file.section_says(f"@{AGENTS}")):
        return replace(own, shared=False, imports=True)
    return own


def _keys(files: _Files, path: str, names: Iterable[str]) -> _Keys:
    """Those of the three files, `path` apart, that are among `names`."""
    found = frozenset(files[name].key for name in names if name in ROOTS)
    return found - {files[path].key}


def _spread(brought: _Keys, files: _Files, imports: Mapping[str, _Keys]) -> _Keys:
    """`brought`, and the files that import one of those, by however many steps."""
    for _ in ROOTS:
        brought = brought | {files[path].key for path in ROOTS if imports[path] & brought}
    return brought


def _in_order(files: _Files, loads: Mapping[str, _Keys]) -> tuple[str, ...]:
    """The file first that the other one loads."""
    turned = files[GEMINI].key in loads[CLAUDE] and files[CLAUDE].key not in loads[GEMINI]
    return (GEMINI, CLAUDE) if turned else (CLAUDE, GEMINI)


def _is_passed(files: _Files, path: str) -> bool:
    """Beside an agents.md of another case, a new CLAUDE.md would hide that file from Claude."""
    hides = path == CLAUDE and files[AGENTS].misnamed and not files[path].exists
    return bool(files[path].misnamed or hides)


def _hides(agents: InstructionFile, claude: InstructionFile) -> bool:
    """Whether AGENTS.md keeps clients from a CLAUDE.md that has rules of its own.

    opencode and Amp read CLAUDE.md only while there is no AGENTS.md. Where cub made AGENTS.md,
    the line stays whatever people add to that file.
    """
    if not claude.own or AGENTS in claude.imported:
        return False
    return not agents.own or agents.section_says(CLAUDE)
