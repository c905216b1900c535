"""Store the permission rules that a person has agreed to for good, for each project.

They are outside of the project: nobody else gets them, and no repository can bring its own.
"""

from __future__ import annotations

from pathlib import Path

from cub.files.signed_state import find_project_state, read_signed, write_signed

_FILE = "allowed_rules.json"


def load_allowed_rules(root: Path) -> list[str]:
    """Return the rules for the built-in agent in the project at `root`, as they are written."""
    rules = read_signed(find_project_state(root) / _FILE).get("rules", [])
    return [*map(str, rules)]


def save_allowed_rules(root: Path, rules: list[str]) -> None:
    """Store these rules instead of the others. Raises CubError if that fails."""
    unique = list(dict.fromkeys(rules))
    write_signed(find_project_state(root) / _FILE, {"v": 1, "rules": unique})


def add_allowed_rule(root: Path, rule: str) -> None:
    """Store a rule in addition to the others. Raises CubError if that fails."""
    save_allowed_rules(root, [*load_allowed_rules(root), rule])
