"""The instruction files that cub writes to, as rows of one table: who reads which."""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """An instruction file by name, and the clients that read it at the root by themselves."""

    name: str
    clients: tuple[str, ...]


AGENTS = Target(
    "AGENTS.md",
    ("Codex", "Copilot", "Cursor", "opencode", "Amp", "Zed", "Windsurf", "Cline", "Junie", "Kiro"),
)
CLAUDE = Target("CLAUDE.md", ("Claude Code",))
TARGETS = (AGENTS, CLAUDE)


def clients_of(path: str) -> tuple[str, ...]:
    """The clients that read `path`, by its name."""
    name = path.rsplit("/", 1)[-1]
    return next((target.clients for target in TARGETS if target.name == name), ())
