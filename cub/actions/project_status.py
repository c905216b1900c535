"""What `cub status` reports: every file, its owner, its state, its cost and its readers."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from cub.actions.managed_files import (
    CONSTITUTION,
    CURSOR_RULE,
    MANAGED_FILES,
    MAP,
    refresh_managed_file,
)
from cub.actions.plan_warnings import find_read_limit
from cub.actions.project_state import ProjectState
from cub.actions.section_specs import ROOT_FILES
from cub.edit.file_header import parse_file_header
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import FileTree
from cub.project.config import CONFIG_FILE
from cub.project.instruction_files import InstructionFile
from cub.project.targets import CLAUDE_MD, CODEX, GEMINI_MD, is_fully_managed, list_reading_agents
from cub.prompt.section_text import render_section
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.tokens import estimate_tokens

_BY_REFERENCE = (*CLAUDE_MD.agents, *GEMINI_MD.agents)  # they resolve imports


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One row. `tokens` is what reading the whole file costs; `line` is where it is broken.

    `read_in_part`: how many bytes those of `clients` read that do not read all of it.
    """

    path: str
    owner: str
    state: str
    tokens: int | None = None
    clients: tuple[str, ...] = ()
    line: int | None = None
    read_in_part: dict[str, int] = field(default_factory=dict)


_STORES = (
    FileStatus(TASKS_FILE, "you + cub", "in place"),
    FileStatus(LEDGER_FILE, "cub", "in place"),
)


def list_file_statuses(state: ProjectState) -> list[FileStatus]:
    """The rows for the instruction files, then for .cub/."""
    rows = [_instructions(file, state) for file in state.files.values() if _is_listed(file, state)]
    if CURSOR_RULE.path in state.specs:
        rows.append(_rule(state))
    rows.append(_constitution(state))
    if state.tree.read(MAP) is not None:
        rows.append(_map(state))
    rows += [_managed_file_status(state, file.path) for file in MANAGED_FILES]
    here = state.tree.list_names(posixpath.dirname(TASKS_FILE))
    rows += [row for row in _STORES if posixpath.basename(row.path) in here]
    if state.tree.read(CONFIG_FILE) is not None:
        rows.append(_user_file_status(state.tree, CONFIG_FILE, ()))
    return rows


def _is_listed(file: InstructionFile, state: ProjectState) -> bool:
    if file.error:
        return file.path in state.targets
    return bool(file.path in state.specs or file.section) and not is_fully_managed(file.path)


def _instructions(file: InstructionFile, state: ProjectState) -> FileStatus:
    tokens = _tokens(file.document.data) if file.document else None
    fault, read = state.find_fault(file), find_read_limit(state, file.path)
    return FileStatus(
        file.path,
        "you + cub" if file.user_bytes or file.error else "cub",
        _section_state(file, state, fault),
        tokens,
        list_reading_agents(file.path),
        fault.line if fault else None,
        {} if read is None else {CODEX: read},
    )


def _section_state(file: InstructionFile, state: ProjectState, fault: CubError | None) -> str:
    version = state.templates.version
    if file.error:
        line = file.error.line
        return f"broken at line {line}" if line else f"unusable: {file.error.message}"
    if file.section is None:
        return _absent(file, fault)
    if fault:
        return f"newer than this cub (v{file.section.version})"
    if file.section.author == "cub" and (cause := _blocking_target(file, state)):
        return f"not known until {cause} is repaired"
    need = state.find_spec(file.identity_key)
    if need and file.section.is_current(render_section(state.templates, version, need), version):
        return f"current (v{version})"
    return _describe_outdated(file.section, version)


def _absent(file: InstructionFile, fault: CubError | None) -> str:
    """Why a file has no section: git keeps it out, or the markers are gone, or there is none."""
    if file.missing and file.missing.is_outside_checkout:
        return "not in this checkout"
    return f"unmarked at line {fault.line}" if fault else "missing"


def _blocking_target(file: InstructionFile, state: ProjectState) -> str:
    """The broken target beside `file`, whose text decides what `file` has to say; "" if none."""
    folder, name = posixpath.split(file.path)
    for path in state.targets if name in ROOT_FILES else ():
        other = state.files[path]
        beside = posixpath.dirname(path) == folder and posixpath.basename(path) in ROOT_FILES
        if (
            beside
            and other.identity_key != file.identity_key
            and (other.error or _is_unmarked(other, state))
        ):
            return path
    return ""


def _is_unmarked(file: InstructionFile, state: ProjectState) -> bool:
    return file.section is None and state.find_fault(file) is not None


def _describe_outdated(section: Section, version: int) -> str:
    if section.author == "edited":
        return "edited inside"
    if section.author == "unknown":
        return "stale, author unknown"
    return f"stale v{section.version} → v{version}" if section.version != version else "stale"


def _rule(state: ProjectState) -> FileStatus:
    """The row of an instruction file that is cub's as a whole."""
    path = CURSOR_RULE.path
    row = replace(_managed_file_status(state, path), clients=list_reading_agents(path))
    if not row.state.startswith("current"):
        return row
    outcome = refresh_managed_file(
        CURSOR_RULE, state.tree, state.templates, state.local_state, state.render_body(path)
    )
    return replace(row, state="stale") if outcome.edit else row


def _managed_file_status(seen: ProjectState, path: str) -> FileStatus:
    data = seen.tree.read(path)
    if data is None:
        return FileStatus(path, "cub", "missing")
    found, version = parse_file_header(data), seen.templates.version
    tokens = _tokens(data) if path.endswith((".md", ".mdc")) else None
    if found is None or not found.is_intact:
        return FileStatus(path, "you", "edited, kept", tokens)
    if found.version > version:
        state = f"newer than this cub (v{found.version})"
    elif found.version < version:
        state = f"stale v{found.version} → v{version}"
    else:
        state = f"current (v{version})"
    return FileStatus(path, "cub", state, tokens)


def _map(state: ProjectState) -> FileStatus:
    """The row of the map; whether it still fits the files, `cub map --check` tells."""
    row = replace(_managed_file_status(state, MAP), clients=_BY_REFERENCE)
    if row.owner == "you":
        return replace(row, owner="cub", state="edited, will be replaced")
    return row if row.state.startswith("newer") else replace(row, state="in place")


def _constitution(state: ProjectState) -> FileStatus:
    row = _user_file_status(state.tree, CONSTITUTION, _BY_REFERENCE)
    fault = next((e for e in state.inline_errors if e.where.startswith(CONSTITUTION)), None)
    return replace(row, state=f"unusable: {fault.message}", line=fault.line) if fault else row


def _user_file_status(tree: FileTree, path: str, clients: tuple[str, ...]) -> FileStatus:
    data = tree.read(path)
    if data is None:
        return FileStatus(path, "you", "missing", clients=clients)
    return FileStatus(path, "you", "yours", _tokens(data) if clients else None, clients)


def _tokens(data: bytes) -> int:
    return estimate_tokens(data.decode("utf-8", "replace"))
