"""List where instructions for agents are: paths in a project, above it, and in the home folder.

The rows are in the order in which `cub context` puts the texts together: that of the profiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cub.agent_profiles.agent_profile import RuleScope
from cub.agent_profiles.codex import CODEX_OVERRIDE
from cub.agent_profiles.profiles import PROFILES
from cub.project.targets import list_titles

RULE_SCOPES: tuple[RuleScope, ...] = ("project", "parent", "user")
RULE_SUFFIXES = (".md", ".mdc")


class RuleLocation(NamedTuple):
    """Describe a file, or a folder (with `/` at its end) whose Markdown files are rules.

    The path is relative to the project's folder, to a folder above it, or to the home folder.
    `agents` read it by themselves; none stands for files that no agent reads unasked. Of a folder
    that `is_flat`, only the files right in it count.
    """

    scope: RuleScope
    path: str
    agents: tuple[str, ...]
    is_flat: bool = False

    @property
    def is_folder(self) -> bool:
        """Return whether the path is a folder's."""
        return self.path.endswith("/")

    @property
    def readers(self) -> frozenset[str]:
        """Return the first words of the agents' names, in lower case."""
        return frozenset(title.split()[0].casefold() for title in self.agents)

    def contains(self, path: str) -> bool:
        """Return whether a file is at this location, at the root or in a folder of the project."""
        if not self.is_folder:
            return f"/{path}".endswith(f"/{self.path}")
        _, found, inner = f"/{path}".partition(f"/{self.path}")
        is_rule = bool(found) and inner.endswith(RULE_SUFFIXES)
        return is_rule and not (self.is_flat and "/" in inner)


def _list_rows(scope: RuleScope) -> Iterator[RuleLocation]:
    """Yield a row for each path, at its place: that of a profile without a title, if one has it."""
    placed = {path for one in PROFILES if not one.title for path in one.list_files(scope)}
    for profile in PROFILES:
        for path in profile.list_files(scope):
            if not profile.title or path not in placed:
                agents, is_flat = list_titles(scope, path), path.endswith("/*")
                yield RuleLocation(scope, path.removesuffix("*"), agents, is_flat=is_flat)


RULE_LOCATIONS = tuple(row for scope in RULE_SCOPES for row in _list_rows(scope))
TASK_FOLDER = ".agents/tasks"  # in the project, and in the home folder


def list_rule_locations(scope: RuleScope, agent: str = "") -> list[RuleLocation]:
    """Return the rows of a scope, in their order: all, or those that an agent reads by itself."""
    rows = (row for row in RULE_LOCATIONS if row.scope == scope)
    return [row for row in rows if not agent or agent in row.readers]


def is_instruction_file(path: str) -> bool:
    """Return whether agents read a file of the project as instructions, by its path."""
    is_override = path.rpartition("/")[2] == CODEX_OVERRIDE
    return is_override or any(row.contains(path) for row in list_rule_locations("project"))
