"""The instruction files that cub writes to, as rows of one table: who reads which, and how cub
writes it.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple


class Target(NamedTuple):
    """An instruction file by its path at the root, and the clients that read it by themselves.

    `nested`: a file of this name in a folder is read there, too. `whole`: the file is cub's from
    its first byte, instead of a section in the user's text. `also`: the clients that read
    AGENTS.md as well, and so would get the same text twice.
    """

    path: str
    clients: tuple[str, ...]
    nested: bool = False
    whole: bool = False
    also: str = ""


CODEX = "Codex"
CODEX_BYTES = 32 * 1024  # its `project_doc_max_bytes`, as long as nobody sets it
AGENTS = Target(
    "AGENTS.md",
    (CODEX, "Copilot", "Cursor", "opencode", "Amp", "Zed", "Windsurf", "Cline", "Junie", "Kiro"),
    nested=True,
)
CLAUDE = Target("CLAUDE.md", ("Claude Code",), nested=True)
GEMINI = Target("GEMINI.md", ("Gemini CLI",), nested=True)
COPILOT = Target(".github/copilot-instructions.md", ("Copilot",), also="Copilot")
CURSOR = Target(".cursor/rules/cub.mdc", ("Cursor",), whole=True, also="Cursor")
TARGETS = (AGENTS, CLAUDE, GEMINI, COPILOT, CURSOR)
DEFAULT_TARGETS = (AGENTS.path, CLAUDE.path)


def target_of(path: str) -> Target | None:
    """The row for `path`: by the whole path at the root, by its name in a folder."""
    name = posixpath.basename(path)
    return next((t for t in TARGETS if path == t.path or (t.nested and name == t.path)), None)


def is_nested(path: str) -> bool:
    """Whether `path` is an instruction file of a folder below the root."""
    return "/" in path and all(path != target.path for target in TARGETS)


def is_whole(path: str) -> bool:
    """Whether the file at `path` is cub's as a whole."""
    target = target_of(path)
    return target is not None and target.whole


def clients_of(path: str) -> tuple[str, ...]:
    """The clients that read `path`, by its name."""
    target = target_of(path)
    return target.clients if target else ()


def normal(path: str) -> str:
    """A target's path in the one form in which it is compared: no `./`, no doubled `/`."""
    return posixpath.normpath(path)


def target_problem(path: str) -> str:
    """Why `path` can't be a target ("" if it can)."""
    folders = path.casefold().split("/")[:-1]
    if path.startswith("/") or "\\" in path or ".." in folders:
        return "is not a path inside the project, written with /"
    if ".git" in folders or ".cub" in folders:
        return "is in a folder of git's or cub's own"
    if not path.isprintable():
        return "is not a printable name"
    if target_of(normal(path)) is None or path.endswith("/"):
        nested = ", ".join(target.path for target in TARGETS if target.nested)
        others = ", ".join(target.path for target in TARGETS if not target.nested)
        return f"is not a file that cub manages ({nested}, here or in a folder; {others})"
    return ""
