"""List the instruction files that cub writes to: which agents read each, and how cub writes it."""

from __future__ import annotations

import posixpath
from typing import NamedTuple


class Target(NamedTuple):
    """Describe an instruction file by its path at the root, and the agents that read it on their
    own.

    `can_be_nested`: a file of this name in a folder is read there, too. `is_fully_managed`: the
    whole file is cub's, instead of a section in the user's text. `also_reads_agents_md`: the agents
    that read AGENTS.md as well, and so would get the same text twice.
    """

    path: str
    agents: tuple[str, ...]
    can_be_nested: bool = False
    is_fully_managed: bool = False
    also_reads_agents_md: str = ""


CODEX = "Codex"
CODEX_OVERRIDE = "AGENTS.override.md"  # it takes the place of AGENTS.md
CODEX_MAX_BYTES = 32 * 1024  # its `project_doc_max_bytes`, unless set
AGENTS_MD = Target(
    "AGENTS.md",
    (CODEX, "Copilot", "Cursor", "opencode", "Amp", "Zed", "Windsurf", "Cline", "Junie", "Kiro"),
    can_be_nested=True,
)
CLAUDE_MD = Target("CLAUDE.md", ("Claude Code",), can_be_nested=True)
GEMINI_MD = Target("GEMINI.md", ("Gemini CLI",), can_be_nested=True)
COPILOT_INSTRUCTIONS = Target(
    ".github/copilot-instructions.md", ("Copilot",), also_reads_agents_md="Copilot"
)
CURSOR_RULE_FILE = Target(
    ".cursor/rules/cub.mdc", ("Cursor",), is_fully_managed=True, also_reads_agents_md="Cursor"
)
TARGETS = (AGENTS_MD, CLAUDE_MD, GEMINI_MD, COPILOT_INSTRUCTIONS, CURSOR_RULE_FILE)
DEFAULT_TARGETS = (AGENTS_MD.path, CLAUDE_MD.path)


def find_target(path: str) -> Target | None:
    """Return the row for `path`: by the whole path at the root, by its name in a folder."""
    name = posixpath.basename(path)
    return next(
        (t for t in TARGETS if path == t.path or (t.can_be_nested and name == t.path)), None
    )


def is_nested_target(path: str) -> bool:
    """Return whether `path` is an instruction file of a folder below the root."""
    return "/" in path and all(path != target.path for target in TARGETS)


def is_fully_managed(path: str) -> bool:
    """Return whether the file at `path` is cub's as a whole."""
    target = find_target(path)
    return target is not None and target.is_fully_managed


def list_reading_agents(path: str) -> tuple[str, ...]:
    """Return the agents that read `path`, by its name."""
    target = find_target(path)
    return target.agents if target else ()


def normalize_target(path: str) -> str:
    """Return the form in which targets are compared: no `./`, no doubled `/`."""
    return posixpath.normpath(path)


def find_target_problem(path: str) -> str:
    """Return why `path` can't be a target, "" if it can."""
    folders = path.casefold().split("/")[:-1]
    if path.startswith("/") or "\\" in path or ".." in folders:
        return "is not a path inside the project, written with /"
    if ".git" in folders or ".cub" in folders:
        return "is in .git or .cub"
    if not path.isprintable():
        return "is not a printable name"
    if find_target(normalize_target(path)) is None or path.endswith("/"):
        nested = ", ".join(target.path for target in TARGETS if target.can_be_nested)
        others = ", ".join(target.path for target in TARGETS if not target.can_be_nested)
        return f"is not a file that cub manages ({nested}, here or in a subdirectory; {others})"
    return ""
