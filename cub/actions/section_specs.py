"""One project, one text: which section each instruction file needs, so that a reader who loads
them gets the shared text exactly once.

AGENTS.md, CLAUDE.md and GEMINI.md at the root: whoever loads one of them, with what it imports,
gets the shared text exactly once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from cub.errors import CubError
from cub.project import targets as table
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import SectionSpec


@dataclass(frozen=True, slots=True)
class AvailableFiles:
    """What exists in the project once the plan is applied, and can be referred to.

    `map_text`, `constitution_text`: what stands in the sections themselves instead; `gemini_files`:
    the names of the files that Gemini CLI loads.
    """

    constitution: bool
    map: bool
    skills: bool
    map_text: str = ""
    constitution_text: str = ""
    gemini_files: tuple[str, ...] = ()


def assign_section_specs(
    files: Mapping[str, InstructionFile], targets: tuple[str, ...], available: AvailableFiles
) -> dict[str, SectionSpec]:
    """The need of every target that cub writes to, by path; one entry for each real file.

    `files` holds every row of the table of targets in any case, and all `targets`.
    """
    base = SectionSpec(
        "agents",
        constitution=available.constitution and not available.constitution_text,
        map=available.map and not available.map_text,
        map_text=available.map_text,
        constitution_text=available.constitution_text,
    )
    asked = {files[path].identity_key for path in targets}
    roots = tuple(
        path for path in ROOT_FILES if path in targets or files[path].identity_key in asked
    )
    wanted = assign_root_specs(files, roots, base, available.skills, available.gemini_files)
    taken = {files[path].identity_key for path in wanted}
    for path in targets:
        file = files[path]
        alone = (
            path not in ROOT_FILES and not table.is_nested_target(path) and not file.case_variant
        )
        if alone and file.identity_key not in taken:
            wanted[path] = replace(
                base, template="rule" if table.is_fully_managed(path) else "agents"
            )
            taken.add(file.identity_key)
    for path in filter(table.is_nested_target, targets):
        file = files[path]
        passed = file.case_variant or file.lacks_folder or _is_covered(path, files, targets)
        if not passed and file.identity_key not in taken:
            wanted[path] = SectionSpec("nested", root=_find_root_file(file, files, wanted))
            taken.add(file.identity_key)
    return wanted


def _is_covered(path: str, files: Mapping[str, InstructionFile], targets: tuple[str, ...]) -> bool:
    """Whether the AGENTS.md beside a file of one client brings the pointer to its readers."""
    folder, name = posixpath.split(path)
    other = files.get(posixpath.join(folder, AGENTS))
    if name == AGENTS or other is None or other.path not in targets:
        return False
    return other.identity_key == files[path].identity_key or AGENTS in files[path].imported_paths


def _find_root_file(
    nested: InstructionFile, files: Mapping[str, InstructionFile], wanted: Mapping[str, SectionSpec]
) -> str:
    """The root's instruction file, as seen from `nested`."""
    there = [name for name in ROOT_FILES if name in wanted or files[name].is_present]
    if not there:
        raise CubError(
            "there is no file at the root that this one could point to",
            where=nested.path,
            hint=f"add {AGENTS} to the targets",
        )
    return posixpath.relpath(there[0], posixpath.dirname(nested.real_path))


AGENTS, CLAUDE, GEMINI = table.AGENTS_MD.path, table.CLAUDE_MD.path, table.GEMINI_MD.path
ROOT_FILES = (AGENTS, CLAUDE, GEMINI)
_Files = Mapping[str, InstructionFile]
_Keys = frozenset[Hashable]  # of real files


def assign_root_specs(
    files: _Files,
    targets: tuple[str, ...],
    base_spec: SectionSpec,
    skills: bool,
    gemini_files: Iterable[str],
) -> dict[str, SectionSpec]:
    """The needs of those three that are targets, by path; one entry for each real file.

    `gemini_files`: the files that Gemini CLI loads beside GEMINI.md.
    """
    for_claude = replace(base_spec, claude=True, skills=skills)
    for_gemini = replace(base_spec, template="gemini")
    wanted = _for_all(files, targets, base_spec, for_claude)
    imports = {path: _keys(files, path, files[path].imported_paths) for path in ROOT_FILES}
    loads = {**imports, GEMINI: imports[GEMINI] | _keys(files, GEMINI, gemini_files)}
    brought = _spread(frozenset(files[path].identity_key for path in wanted), files, imports)
    for path in _in_order(files, loads):
        taken = any(files[other].identity_key == files[path].identity_key for other in wanted)
        if path not in targets or taken or _is_passed(files, path):
            continue
        own = replace(for_claude, template="claude") if path == CLAUDE else for_gemini
        need = _of_importer(files, path, own, loads[path], brought)
        if need:
            wanted[path] = need
        if need and (need.shared or need.imports):
            brought = _spread(brought | {files[path].identity_key}, files, imports)
    return wanted


def _for_all(
    files: _Files, targets: tuple[str, ...], base_spec: SectionSpec, for_claude: SectionSpec
) -> dict[str, SectionSpec]:
    """What every client reads: AGENTS.md, with Claude's additions if CLAUDE.md is the same file."""
    agents, claude = files[AGENTS], files[CLAUDE]
    if agents.identity_key == claude.identity_key:
        return {AGENTS: for_claude} if {AGENTS, CLAUDE} & {*targets} else {}
    if AGENTS not in targets or agents.case_variant:
        return {}
    return {AGENTS: replace(base_spec, read_first=_hides(agents, claude))}


def _of_importer(
    files: _Files, path: str, own: SectionSpec, loads: _Keys, brought: _Keys
) -> SectionSpec | None:
    """A file's need if its client replaces imports; None where there is nothing to say.

    `loads`: what the client loads with the file; `brought`: what has the shared text with it.
    """
    file = files[path]
    if loads & brought:
        names = [name for name in ROOT_FILES if files[name].identity_key in brought]
        stub = file.contains_only(*(f"{at}{name}" for name in names for at in ("@", "@./")))
        says = own.claude or file.section
        return replace(own, shared=False) if says and not stub else None
    if files[AGENTS].identity_key in brought and (
        not file.user_bytes or file.section_mentions(f"@{AGENTS}")
    ):
        return replace(own, shared=False, imports=True)
    return own


def _keys(files: _Files, path: str, names: Iterable[str]) -> _Keys:
    """Those of the three files, `path` apart, that are among `names`."""
    found = frozenset(files[name].identity_key for name in names if name in ROOT_FILES)
    return found - {files[path].identity_key}


def _spread(brought: _Keys, files: _Files, imports: Mapping[str, _Keys]) -> _Keys:
    """`brought`, and the files that import one of those, by however many steps."""
    for _ in ROOT_FILES:
        brought = brought | {
            files[path].identity_key for path in ROOT_FILES if imports[path] & brought
        }
    return brought


def _in_order(files: _Files, loads: Mapping[str, _Keys]) -> tuple[str, ...]:
    """The file first that the other one loads."""
    turned = (
        files[GEMINI].identity_key in loads[CLAUDE]
        and files[CLAUDE].identity_key not in loads[GEMINI]
    )
    return (GEMINI, CLAUDE) if turned else (CLAUDE, GEMINI)


def _is_passed(files: _Files, path: str) -> bool:
    """Beside an agents.md of another case, a new CLAUDE.md would hide that file from Claude."""
    hides = path == CLAUDE and files[AGENTS].case_variant and not files[path].exists
    return bool(files[path].case_variant or hides)


def _hides(agents: InstructionFile, claude: InstructionFile) -> bool:
    """Whether AGENTS.md keeps clients from a CLAUDE.md that has rules of its own.

    opencode and Amp read CLAUDE.md only while there is no AGENTS.md. Where cub made AGENTS.md,
    the line stays whatever people add to that file.
    """
    if not claude.user_bytes or AGENTS in claude.imported_paths:
        return False
    return not agents.user_bytes or agents.section_mentions(CLAUDE)
