"""What `cub status` reports: every file, its owner, its state, its cost and its readers."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace

from cub.actions.own_files import CONSTITUTION, CURSOR_RULE, MAP, OWN_FILES, refresh
from cub.actions.read_limits import bytes_read
from cub.actions.root_needs import ROOTS
from cub.actions.view import View
from cub.edit.owned import unseal
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import Tree
from cub.project.config import CONFIG
from cub.project.survey import InstructionFile
from cub.project.targets import CLAUDE, CODEX, GEMINI, clients_of, is_whole
from cub.prompt.instructions import render
from cub.store.place import LEDGER, TASKS
from cub.tokens import estimate_tokens

_BY_REFERENCE = (*CLAUDE.clients, *GEMINI.clients)  # they resolve imports


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


_STORES = (FileStatus(TASKS, "you + cub", "in place"), FileStatus(LEDGER, "cub", "in place"))


def status(seen: View) -> list[FileStatus]:
    """The rows for the instruction files, then for .cub/."""
    rows = [_instructions(file, seen) for file in seen.files.values() if _shown(file, seen)]
    if CURSOR_RULE.path in seen.needs:
        rows.append(_rule(seen))
    rows.append(_constitution(seen))
    if seen.tree.read(MAP) is not None:
        rows.append(_map(seen))
    rows += [_own(seen, file.path) for file in OWN_FILES]
    here = seen.tree.names(posixpath.dirname(TASKS))
    rows += [row for row in _STORES if posixpath.basename(row.path) in here]
    if seen.tree.read(CONFIG) is not None:
        rows.append(_users(seen.tree, CONFIG, ()))
    return rows


def _shown(file: InstructionFile, seen: View) -> bool:
    if file.error:
        return file.path in seen.targets
    return bool(file.path in seen.needs or file.section) and not is_whole(file.path)


def _instructions(file: InstructionFile, seen: View) -> FileStatus:
    tokens = _tokens(file.document.data) if file.document else None
    fault, read = seen.fault(file), bytes_read(seen, file.path)
    return FileStatus(
        file.path,
        "you + cub" if file.own or file.error else "cub",
        _section_state(file, seen, fault),
        tokens,
        clients_of(file.path),
        fault.line if fault else None,
        {} if read is None else {CODEX: read},
    )


def _section_state(file: InstructionFile, seen: View, fault: CubError | None) -> str:
    version = seen.templates.version
    if file.error:
        line = file.error.line
        return f"broken at line {line}" if line else f"unusable: {file.error.message}"
    if file.section is None:
        return _absent(file, fault)
    if fault:
        return f"newer than this cub (v{file.section.version})"
    if file.section.author == "cub" and (cause := _blocking_target(file, seen)):
        return f"not known until {cause} is repaired"
    need = seen.need_of(file.key)
    if need and file.section.is_current(render(seen.templates, version, need), version):
        return f"current (v{version})"
    return _outdated(file.section, version)


def _absent(file: InstructionFile, fault: CubError | None) -> str:
    """Why a file has no section: git keeps it out, or the markers are gone, or there is none."""
    if file.missing and file.missing.is_withheld:
        return "not in this checkout"
    return f"unmarked at line {fault.line}" if fault else "missing"


def _blocking_target(file: InstructionFile, seen: View) -> str:
    """The broken target beside `file`, whose text decides what `file` has to say; "" if none."""
    folder, name = posixpath.split(file.path)
    for path in seen.targets if name in ROOTS else ():
        other = seen.files[path]
        beside = posixpath.dirname(path) == folder and posixpath.basename(path) in ROOTS
        if beside and other.key != file.key and (other.error or _is_unmarked(other, seen)):
            return path
    return ""


def _is_unmarked(file: InstructionFile, seen: View) -> bool:
    return file.section is None and seen.fault(file) is not None


def _outdated(section: Section, version: int) -> str:
    if section.author == "edited":
        return "edited inside"
    if section.author == "unknown":
        return "stale, author unknown"
    return f"stale v{section.version} → v{version}" if section.version != version else "stale"


def _rule(seen: View) -> FileStatus:
    """The row of an instruction file that is cub's as a whole."""
    path = CURSOR_RULE.path
    row = replace(_own(seen, path), clients=clients_of(path))
    if not row.state.startswith("current"):
        return row
    outcome = refresh(CURSOR_RULE, seen.tree, seen.templates, seen.state, seen.body(path))
    return replace(row, state="stale") if outcome.edit else row


def _own(seen: View, path: str) -> FileStatus:
    data = seen.tree.read(path)
    if data is None:
        return FileStatus(path, "cub", "missing")
    found, version = unseal(data), seen.templates.version
    tokens = _tokens(data) if path.endswith((".md", ".mdc")) else None
    if found is None or not found.intact:
        return FileStatus(path, "you", "edited, kept", tokens)
    if found.version > version:
        state = f"newer than this cub (v{found.version})"
    elif found.version < version:
        state = f"stale v{found.version} → v{version}"
    else:
        state = f"current (v{version})"
    return FileStatus(path, "cub", state, tokens)


def _map(seen: View) -> FileStatus:
    """The row of the map; whether it still fits the files, `cub map --check` tells."""
    row = replace(_own(seen, MAP), clients=_BY_REFERENCE)
    if row.owner == "you":
        return replace(row, owner="cub", state="edited, will be replaced")
    return row if row.state.startswith("newer") else replace(row, state="in place")


def _constitution(seen: View) -> FileStatus:
    row = _users(seen.tree, CONSTITUTION, _BY_REFERENCE)
    fault = next((e for e in seen.unfit if e.where.startswith(CONSTITUTION)), None)
    return replace(row, state=f"unusable: {fault.message}", line=fault.line) if fault else row


def _users(tree: Tree, path: str, clients: tuple[str, ...]) -> FileStatus:
    data = tree.read(path)
    if data is None:
        return FileStatus(path, "you", "missing", clients=clients)
    return FileStatus(path, "you", "yours", _tokens(data) if clients else None, clients)


def _tokens(data: bytes) -> int:
    return estimate_tokens(data.decode("utf-8", "replace"))
