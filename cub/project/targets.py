"""List the instruction files that cub writes to: which agents read each, and how cub writes it."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from cub.agent_profiles.agent_profile import RuleScope
from cub.agent_profiles.profiles import PROFILES


class Target(NamedTuple):
    """Describe an instruction file by its path at the root, and the agents that read it on their
    own.
    """

    path: str
    agents: tuple[str, ...]

    @property
    def can_be_nested(self) -> bool:
        """Return whether a file of this name in a directory is read there, too."""
        return "/" not in self.path

    @property
    def also_reads_agents_md(self) -> str:
        """Return the agent of this file that reads AGENTS.md as well, and so each text twice."""
        both = {*self.agents} & {*AGENTS_MD.agents} if self.path != AGENTS_MD.path else ()
        return next(iter(both), "")


def list_titles(scope: RuleScope, path: str) -> tuple[str, ...]:
    """Return the agents that read a file, or a directory of rules, of this path on their own."""
    folder = f"{posixpath.dirname(path)}/"
    return tuple(
        profile.title
        for profile in PROFILES
        if profile.title and not {path, folder}.isdisjoint(profile.list_files(scope))
    )


AGENTS_MD, CLAUDE_MD, GEMINI_MD, _, CURSOR_RULE_FILE = TARGETS = tuple(
    Target(path, list_titles("project", path))
    for path in (
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".cursor/rules/cub.mdc",
    )
)
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
    """Return whether the file at `path` is cub's as a whole, not a section in the user's text."""
    return path == CURSOR_RULE_FILE.path


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
