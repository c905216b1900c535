"""Report every file for `cub status`: its owner, its state, its cost, and its readers."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from cub.actions.agent_readers import list_reader_names
from cub.actions.managed_files import (
    CONSTITUTION,
    CURSOR_RULE,
    MANAGED_FILES,
    MAP,
    refresh_managed_file,
)
from cub.actions.plan_warnings import find_cut_file
from cub.actions.project_state import ProjectState
from cub.actions.section_specs import ROOT_FILES
from cub.agent_profiles.codex import CODEX
from cub.edit.file_header import parse_file_header
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files.file_tree import FileTree
from cub.project.config import CONFIG_FILE
from cub.project.instruction_files import InstructionFile
from cub.project.targets import is_fully_managed, list_reading_agents
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class FileStatus:
    """Describe one row: `tokens` is what the whole file costs, `line` is where it is broken.

    `read_in_part` is how many bytes those of `clients` read that do not read all of it.
    """

    path: str
    owner: str
    state: str
    tokens: int | None = None
    clients: tuple[str, ...] = ()
    line: int | None = None
    read_in_part: dict[str, int] = field(default_factory=dict)


_STORE_ROWS = (
    FileStatus(TASKS_FILE, "you + cub", "in place"),
    FileStatus(LEDGER_FILE, "cub", "in place"),
)


def list_file_statuses(state: ProjectState) -> list[FileStatus]:
    """Return the rows of the instruction files, then those of .cub/."""
    listed = [file for file in state.files.values() if _is_listed(file, state)]
    readers = list_reader_names(state, [file.path for file in listed])
    rows = [_make_instruction_row(file, state, readers[file.path]) for file in listed]
    if CURSOR_RULE.path in state.specs:
        rows.append(_make_rule_row(state))
    rows.append(_make_constitution_row(state, readers[CONSTITUTION]))
    if state.tree.read(MAP) is not None:
        rows.append(_make_map_row(state, readers[MAP]))
    rows += [_make_managed_file_row(state, file.path) for file in MANAGED_FILES]
    names = state.tree.list_names(posixpath.dirname(TASKS_FILE))
    rows += [row for row in _STORE_ROWS if posixpath.basename(row.path) in names]
    if state.tree.read(CONFIG_FILE) is not None:
        rows.append(_make_user_file_row(state.tree, CONFIG_FILE, ()))
    return rows


def _is_listed(file: InstructionFile, state: ProjectState) -> bool:
    if file.error:
        return file.path in state.targets
    return bool(file.path in state.specs or file.section) and not is_fully_managed(file.path)


def _make_instruction_row(
    file: InstructionFile, state: ProjectState, readers: tuple[str, ...]
) -> FileStatus:
    tokens = _count_tokens(file.document.data) if file.document else None
    fault, read = state.find_fault(file), find_cut_file(state.tree, file.path)
    owner = "you + cub" if file.user_bytes or file.error else "cub"
    row = FileStatus(file.path, owner, _describe_section(file, state, fault), tokens)
    row = replace(row, clients=readers, line=fault.line if fault else None)
    return replace(row, read_in_part={CODEX.title: read.max_bytes or 0}) if read else row


def _describe_section(file: InstructionFile, state: ProjectState, fault: CubError | None) -> str:
    version = state.templates.version
    if file.error:
        line = file.error.line
        return f"broken at line {line}" if line else f"unusable: {file.error.message}"
    if file.section is None:
        is_outside = file.missing and file.missing.is_outside_checkout
        absent = f"unmarked at line {fault.line}" if fault else "missing"
        return "not in this checkout" if is_outside else absent
    if fault:
        return f"newer than this cub (v{file.section.version})"
    if file.section.author == "cub" and (blocking_path := _find_blocking_target(file, state)):
        return f"not known until {blocking_path} is repaired"
    spec = state.find_spec(file.identity_key)
    if spec and state.is_current(file.section, spec):
        return f"current (v{version})"
    return _describe_outdated(file.section, version)


def _find_blocking_target(file: InstructionFile, state: ProjectState) -> str:
    """Return the broken target whose text decides what `file` has to say; "" if none."""
    folder, name = posixpath.split(file.path)
    for path in state.targets if name in ROOT_FILES else ():
        other = state.files[path]
        is_beside = posixpath.dirname(path) == folder and posixpath.basename(path) in ROOT_FILES
        is_same = other.identity_key == file.identity_key
        is_unmarked = other.section is None and state.find_fault(other) is not None
        if is_beside and not is_same and (other.error or is_unmarked):
            return path
    return ""


def _describe_outdated(section: Section, version: int) -> str:
    if section.author == "edited":
        return "edited inside"
    if section.author == "unknown":
        return "stale, author unknown"
    return f"stale v{section.version} → v{version}" if section.version != version else "stale"


def _make_rule_row(state: ProjectState) -> FileStatus:
    path = CURSOR_RULE.path
    row = replace(_make_managed_file_row(state, path), clients=list_reading_agents(path))
    if not row.state.startswith("current"):
        return row
    body, local_state = state.render_spec(state.specs[path]), state.local_state
    plan, _ = refresh_managed_file(CURSOR_RULE, state.project, state.templates, local_state, body)
    return row if plan.is_empty else replace(row, state="stale")


def _make_managed_file_row(project_state: ProjectState, path: str) -> FileStatus:
    data = project_state.tree.read(path)
    if data is None:
        return FileStatus(path, "cub", "missing")
    header, version = parse_file_header(data), project_state.templates.version
    tokens = _count_tokens(data) if path.endswith((".md", ".mdc")) else None
    if header is None or not header.is_intact:
        return FileStatus(path, "you", "edited, kept", tokens)
    if header.version > version:
        state = f"newer than this cub (v{header.version})"
    elif header.version < version:
        state = f"stale v{header.version} → v{version}"
    else:
        state = f"current (v{version})"
    return FileStatus(path, "cub", state, tokens)


def _make_map_row(state: ProjectState, readers: tuple[str, ...]) -> FileStatus:
    """Return the row of the map; `cub map --check` tells whether it is up to date."""
    row = replace(_make_managed_file_row(state, MAP), clients=readers)
    if row.owner == "you":
        return replace(row, owner="cub", state="edited, will be replaced")
    return row if row.state.startswith("newer") else replace(row, state="in place")


def _make_constitution_row(state: ProjectState, readers: tuple[str, ...]) -> FileStatus:
    row = _make_user_file_row(state.tree, CONSTITUTION, readers)
    fault = next((e for e in state.inline_errors if e.where.startswith(CONSTITUTION)), None)
    return replace(row, state=f"unusable: {fault.message}", line=fault.line) if fault else row


def _make_user_file_row(tree: FileTree, path: str, clients: tuple[str, ...]) -> FileStatus:
    data = tree.read(path)
    if data is None:
        return FileStatus(path, "you", "missing", clients=clients)
    tokens = _count_tokens(data) if path == CONSTITUTION else None
    return FileStatus(path, "you", "yours", tokens, clients)


def _count_tokens(data: bytes) -> int:
    return estimate_tokens(data.decode("utf-8", "replace"))
