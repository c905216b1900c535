"""How far a client reads into an instruction file: what is behind that, it never sees."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from cub.actions.view import View
from cub.edit.document import Document
from cub.edit.plan import Plan, PlanWarning
from cub.edit.repair.choice import section_in
from cub.project.survey import InstructionFile
from cub.project.targets import AGENTS, CODEX, CODEX_BYTES, clients_of, is_nested

_Planned = Mapping[str, bytes | None]


def bytes_read(seen: View, path: str, planned: _Planned | None = None) -> int | None:
    """How many bytes of a file Codex reads; None where it reads all of it, or none by itself.

    Its limit is on all AGENTS.md files together, from the root down to the folder that it works in.
    `planned` are bytes by real path that are going to be written.
    """
    if CODEX not in clients_of(path):
        return None
    folder, above = posixpath.dirname(path), 0
    while folder:
        folder = posixpath.dirname(folder)
        above += len(_data(seen, posixpath.join(folder, AGENTS.path), planned or {}))
    room = max(0, CODEX_BYTES - above)
    return room if len(_data(seen, path, planned or {})) > room else None


def unread_sections(seen: View, plan: Plan = Plan()) -> Iterator[PlanWarning]:  # noqa: B008 - frozen
    """The sections that Codex does not read to their end once `plan` is carried out."""
    planned = {edit.path: edit.after for edit in plan.edits}
    for path in seen.needs:
        room = bytes_read(seen, path, planned)
        document = Document(_data(seen, path, planned), path)
        section = section_in(document) if room is not None else None
        if room is not None and section and len(document.before(section.end)) > room:
            yield _warning(seen.files[path], section.start + 1)


def _warning(file: InstructionFile, line: int) -> PlanWarning:
    limit = f"{CODEX_BYTES // 1024} KiB"
    if is_nested(file.path):
        message = f"Codex reads {limit} of AGENTS.md files from the root down, not this section"
        return PlanWarning(message, file.path, line, "shorten the AGENTS.md files above it")
    message = f"Codex reads the first {limit} of this file only, and the section ends behind them"
    if file.section:
        hint = "move the section, with its markers, to the top of the file, or split the file"
    else:
        hint = (
            "after `cub remove` and `cub config set placement top`, `cub init` puts it first; "
            "or split the file"
        )
    return PlanWarning(message, file.path, line, hint)


def _data(seen: View, path: str, planned: _Planned) -> bytes:
    """The bytes of a file, b"" where there is none."""
    file = seen.files.get(path)
    real = file.real if file else path
    if real in planned:
        return planned[real] or b""
    if file:
        return file.document.data if file.document else b""
    there = posixpath.basename(path) in seen.tree.names(posixpath.dirname(path))
    return (seen.tree.read(path) if there else None) or b""
