"""List where instructions for agents are: paths in a project, above it, and in the home folder.

The order of the rows is the order in which `cub context` puts the texts together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cub.agent_profiles.agent_profile import AgentProfile, RuleScope
from cub.agent_profiles.claude import CLAUDE
from cub.agent_profiles.codex import CODEX_OVERRIDE
from cub.agent_profiles.gemini import GEMINI
from cub.agent_profiles.other_agents import (
    AUGMENT,
    CLINE,
    COPILOT,
    CURSOR,
    GEMINI_CODE_ASSIST,
    JUNIE,
    KIRO,
    WINDSURF,
)
from cub.agent_profiles.profiles import PROFILES
from cub.project.targets import AGENTS_MD, list_titles

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

    def contains(self, path: str) -> bool:
        """Return whether a file is at this location, at the root or in a folder of the project."""
        if not self.is_folder:
            return f"/{path}".endswith(f"/{self.path}")
        _, found, inner = f"/{path}".partition(f"/{self.path}")
        is_rule = bool(found) and inner.endswith(RULE_SUFFIXES)
        return is_rule and not (self.is_flat and "/" in inner)


# A file without an agent of its own, and those of agents. The project's texts come in this order.
_PROJECT_ORDER: tuple[str | AgentProfile, ...] = (
    ".agents/rules/", CURSOR, COPILOT, CLAUDE, AGENTS_MD.path, GEMINI, GEMINI_CODE_ASSIST,
    ".opencode/rules/", WINDSURF, AUGMENT, CLINE, KIRO, JUNIE,
)  # fmt: skip
_ORDERS: Mapping[RuleScope, tuple[str | AgentProfile, ...]] = {
    "project": _PROJECT_ORDER,
    "parent": (AGENTS_MD.path, *PROFILES),
    "user": (".agents/rules/", *PROFILES),
}


def _list_rows(scope: RuleScope) -> Iterator[RuleLocation]:
    placed = {each for each in _ORDERS[scope] if isinstance(each, str)}
    for each in _ORDERS[scope]:
        paths = [each] if isinstance(each, str) else each.list_files(scope)
        for path in paths:
            if isinstance(each, str) or path not in placed:
                is_flat = path.endswith("/*")
                agents = list_titles(scope, path)
                yield RuleLocation(scope, path.removesuffix("*"), agents, is_flat=is_flat)


RULE_LOCATIONS = tuple(row for scope in _ORDERS for row in _list_rows(scope))
TASK_FOLDER = ".agents/tasks"  # in the project, and in the home folder


def list_rule_locations(scope: RuleScope) -> list[RuleLocation]:
    """Return the rows of a scope, in their order."""
    return [row for row in RULE_LOCATIONS if row.scope == scope]


def is_instruction_file(path: str) -> bool:
    """Return whether agents read a file of the project as instructions, by its path."""
    is_override = path.rpartition("/")[2] == CODEX_OVERRIDE
    return is_override or any(row.contains(path) for row in list_rule_locations("project"))


def list_rule_agents() -> list[str]:
    """Return the names of all agents in the table, as `is_read_by` takes them."""
    titles = dict.fromkeys(agent for row in RULE_LOCATIONS for agent in row.agents)
    return list(dict.fromkeys(title.split()[0].casefold() for title in titles))


def is_read_by(location: RuleLocation, agent: str) -> bool:
    """Return whether an agent, by the first word of its name in lower case, reads a location."""
    return any(title.split()[0].casefold() == agent for title in location.agents)
