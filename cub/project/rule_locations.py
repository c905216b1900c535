"""List where instructions for agents are: paths in a project, above it, and in the home folder.

The order of the rows is the order in which `cub context` puts the texts together.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cub.project.targets import (
    AGENTS_MD,
    CLAUDE_MD,
    CODEX,
    CODEX_OVERRIDE,
    COPILOT_INSTRUCTIONS,
    GEMINI_MD,
)

RuleScope = Literal["project", "parent", "user"]
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


_CLAUDE, _GEMINI = CLAUDE_MD.agents, GEMINI_MD.agents
_COPILOT, _CURSOR, _WINDSURF = ("Copilot",), ("Cursor",), ("Windsurf",)
_OPENCODE, _JUNIE, _KIRO, _CLINE = ("opencode",), ("Junie",), ("Kiro",), ("Cline",)


def _list_rows(scope: RuleScope, *rows: tuple[str, tuple[str, ...]]) -> tuple[RuleLocation, ...]:
    return tuple(RuleLocation(scope, path, agents) for path, agents in rows)


RULE_LOCATIONS = (
    *_list_rows(
        "project",
        (".agents/rules/", ()),
        (".cursor/rules/", _CURSOR),
        (".cursorrules", _CURSOR),
        (COPILOT_INSTRUCTIONS.path, COPILOT_INSTRUCTIONS.agents),
        (".github/instructions/", _COPILOT),
        (".claude/rules/", _CLAUDE),
        (CLAUDE_MD.path, CLAUDE_MD.agents),
        (".claude/CLAUDE.md", _CLAUDE),
        ("CLAUDE.local.md", _CLAUDE),
        (AGENTS_MD.path, AGENTS_MD.agents),
        (GEMINI_MD.path, GEMINI_MD.agents),
        (".gemini/styleguide.md", ("Gemini Code Assist",)),
        (".opencode/rules/", ()),
        (".windsurf/rules/", _WINDSURF),
        (".windsurfrules", _WINDSURF),
        (".augment/rules/", ("Augment",)),
        (".augment/guidelines.md", ("Augment",)),
        (".clinerules", _CLINE),
        (".clinerules/", _CLINE),
        (".kiro/steering/", _KIRO),
    ),
    RuleLocation("project", ".junie/", _JUNIE, is_flat=True),  # it has other things below
    *_list_rows(
        "parent",
        (AGENTS_MD.path, ("Amp",)),
        (CLAUDE_MD.path, CLAUDE_MD.agents),
    ),
    *_list_rows(
        "user",
        (".agents/rules/", ()),
        (".claude/CLAUDE.md", _CLAUDE),
        (".claude/rules/", _CLAUDE),
        (".codex/AGENTS.md", (CODEX,)),
        (".gemini/GEMINI.md", _GEMINI),
        (".config/opencode/AGENTS.md", _OPENCODE),
        (".copilot/copilot-instructions.md", _COPILOT),
        (".copilot/instructions/", _COPILOT),
        (".config/amp/AGENTS.md", ("Amp",)),
        (".config/zed/AGENTS.md", ("Zed",)),
        (".junie/AGENTS.md", _JUNIE),
        (".kiro/steering/", _KIRO),
        ("Documents/Cline/Rules/", _CLINE),
    ),
)
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
