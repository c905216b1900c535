"""Choose the section that each instruction file needs.

Whoever loads AGENTS.md, CLAUDE.md, or GEMINI.md at the root, with what it imports, gets the shared
text exactly once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cub.actions.text_matching import contains_text
from cub.errors import CubError
from cub.project import targets as table
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import SectionSpec

AGENTS, CLAUDE, GEMINI = table.AGENTS_MD.path, table.CLAUDE_MD.path, table.GEMINI_MD.path
ROOT_FILES = (AGENTS, CLAUDE, GEMINI)
_Files = Mapping[str, InstructionFile]
_Keys = frozenset[Hashable]  # of real files


@dataclass(frozen=True, slots=True)
class AvailableFiles:
    """Hold what sections can refer to after the plan is applied, and the texts that they inline.

    `has_claude_folder_file`: Claude Code has instructions in `.claude/`.
    """

    constitution: bool
    map: bool
    skills: bool
    map_text: str = ""
    constitution_text: str = ""
    gemini_files: tuple[str, ...] = ()
    has_claude_folder_file: bool = False


def assign_section_specs(
    files: _Files, targets: tuple[str, ...], available: AvailableFiles
) -> dict[str, SectionSpec]:
    """Return the spec of every target that cub writes to, by path; one for each real file.

    `files` contains every row of the table of targets, and all `targets`.
    """
    base = SectionSpec(
        "agents",
        constitution=available.constitution and not available.constitution_text,
        map=available.map and not available.map_text,
        map_text=available.map_text,
        constitution_text=available.constitution_text,
    )
    target_keys = {files[path].identity_key for path in targets}
    roots = [path for path in ROOT_FILES if files[path].identity_key in target_keys]
    specs = _assign_root_specs(files, roots, base, available)
    keys = {files[path].identity_key for path in specs}
    for path in targets:
        file = files[path]
        is_shared = path in ROOT_FILES or table.is_nested_target(path)
        if not is_shared and not file.case_variant and file.identity_key not in keys:
            is_rule = table.is_fully_managed(path)
            specs[path] = replace(base, template="rule" if is_rule else "agents")
            keys.add(file.identity_key)
    for path in filter(table.is_nested_target, targets):
        file = files[path]
        is_skipped = file.case_variant or file.lacks_folder or _is_covered(path, files, targets)
        if not is_skipped and file.identity_key not in keys:
            specs[path] = SectionSpec("nested", root=_find_root_file(file, files, specs))
            keys.add(file.identity_key)
    return specs


def _is_covered(path: str, files: _Files, targets: tuple[str, ...]) -> bool:
    """Tell whether the AGENTS.md beside a file of one agent brings the pointer to its readers."""
    folder, name = posixpath.split(path)
    other = files.get(posixpath.join(folder, AGENTS))
    if name == AGENTS or other is None or other.path not in targets:
        return False
    return other.identity_key == files[path].identity_key or AGENTS in files[path].imported_paths


def _find_root_file(
    nested: InstructionFile, files: _Files, specs: Mapping[str, SectionSpec]
) -> str:
    names = [name for name in ROOT_FILES if name in specs or files[name].is_present]
    if not names:
        message = "the root has no instruction file that this one can point to"
        raise CubError(message, where=nested.path, hint=f"add {AGENTS} to `targets`")
    return posixpath.relpath(names[0], posixpath.dirname(nested.real_path))


def _assign_root_specs(
    files: _Files, targets: Sequence[str], base: SectionSpec, available: AvailableFiles
) -> dict[str, SectionSpec]:
    for_claude = replace(base, claude=True, skills=available.skills)
    is_hidden = CLAUDE in targets or files[CLAUDE].is_present or available.has_claude_folder_file
    specs = _assign_shared_spec(files, targets, base if is_hidden else for_claude, for_claude)
    imports = {path: _collect_keys(files, path, files[path].imported_paths) for path in ROOT_FILES}
    gemini_loads = imports[GEMINI] | _collect_keys(files, GEMINI, available.gemini_files)
    loads = {**imports, GEMINI: gemini_loads}
    covered = _spread_imports(frozenset(files[path].identity_key for path in specs), files, imports)
    for path in _order_importers(files, loads):
        is_taken = any(files[other].identity_key == files[path].identity_key for other in specs)
        if path not in targets or is_taken or _is_skipped(files, path):
            continue
        spec = for_claude if path == CLAUDE else base
        agent_spec = replace(spec, template="claude" if path == CLAUDE else "gemini")
        chosen = _choose_importer_spec(files, path, agent_spec, loads[path], covered)
        if chosen:
            specs[path] = chosen
        if chosen and (chosen.shared or chosen.imports):
            covered = _spread_imports(covered | {files[path].identity_key}, files, imports)
    return specs


def _assign_shared_spec(
    files: _Files, targets: Sequence[str], base: SectionSpec, for_claude: SectionSpec
) -> dict[str, SectionSpec]:
    """Return the spec of AGENTS.md, with Claude's additions if CLAUDE.md is the same file."""
    agents, claude = files[AGENTS], files[CLAUDE]
    if agents.identity_key == claude.identity_key:
        return {AGENTS: for_claude} if {AGENTS, CLAUDE} & {*targets} else {}
    if AGENTS not in targets or agents.case_variant:
        return {}
    return {AGENTS: replace(base, read_first=_hides_claude(agents, claude))}


def _choose_importer_spec(
    files: _Files, path: str, agent_spec: SectionSpec, loads: _Keys, covered: _Keys
) -> SectionSpec | None:
    """Return a file's spec if its agent replaces imports; None if there is nothing to say.

    `loads` is what the agent loads with the file; `covered` is what has the shared text with it.
    """
    file = files[path]
    if loads & covered:
        names = [name for name in ROOT_FILES if files[name].identity_key in covered]
        stubs = {f"{at}{name}".encode() for name in names for at in ("@", "@./")}
        is_needed = file.section or (agent_spec.claude and file.user_bytes.strip() not in stubs)
        return replace(agent_spec, shared=False) if is_needed else None
    can_import = not file.user_bytes or file.section_mentions(f"@{AGENTS}")
    if contains_text(file.user_bytes, files[AGENTS].user_bytes):  # it would arrive twice
        can_import = False
    if can_import and files[AGENTS].identity_key in covered:
        return replace(agent_spec, shared=False, imports=True)
    return agent_spec


def _collect_keys(files: _Files, path: str, names: Iterable[str]) -> _Keys:
    """Return the keys of those of the three files, except `path`, that are among `names`."""
    keys = frozenset(files[name].identity_key for name in names if name in ROOT_FILES)
    return keys - {files[path].identity_key}


def _spread_imports(covered: _Keys, files: _Files, imports: Mapping[str, _Keys]) -> _Keys:
    for _ in ROOT_FILES:
        importers = (path for path in ROOT_FILES if imports[path] & covered)
        covered = covered | {files[path].identity_key for path in importers}
    return covered


def _order_importers(files: _Files, loads: Mapping[str, _Keys]) -> tuple[str, ...]:
    claude, gemini = files[CLAUDE].identity_key, files[GEMINI].identity_key
    is_reversed = gemini in loads[CLAUDE] and claude not in loads[GEMINI]
    return (GEMINI, CLAUDE) if is_reversed else (CLAUDE, GEMINI)


def _is_skipped(files: _Files, path: str) -> bool:
    """Tell whether a new CLAUDE.md would hide an agents.md of another case from Claude."""
    hides = path == CLAUDE and files[AGENTS].case_variant and not files[path].exists
    return bool(files[path].case_variant or hides)


def _hides_claude(agents: InstructionFile, claude: InstructionFile) -> bool:
    """Tell whether AGENTS.md keeps opencode and Amp from a CLAUDE.md that has rules of its own.

    If cub made AGENTS.md, the line stays whatever people add to that file.
    """
    if not claude.user_bytes or AGENTS in claude.imported_paths:
        return False
    if contains_text(agents.user_bytes, claude.user_bytes):
        return False
    return not agents.user_bytes or agents.section_mentions(CLAUDE)
