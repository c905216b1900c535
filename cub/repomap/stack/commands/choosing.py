"""Which of all commands a newcomer would type.

1. What stands in the root counts first. The commands of a nested folder count for a purpose that
   the root has nothing for, and only if the folder is a member of a workspace, or the root has no
   commands of its own at all.
2. For one purpose and folder, the project's own targets come first, then what one types for the
   tools that it has configured. Steps of the CI count only where there is neither.
3. The first one stays the first. Of the others, those that the CI runs go ahead, then those of
   tools: they take arguments, while further targets are mostly variants of the first.
4. Of two that run the same, the first one stays: `pytest` and `python -m pytest -q`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cub.repomap.stack.commands.command_lines import same_as
from cub.repomap.stack.facts import Command, Purpose

MOST_COMMANDS = 3
_ORDER: tuple[Purpose, ...] = ("install", "build", "test", "lint", "format", "typecheck", "run")
_TRUST = {"target": 0, "tool": 1, "ci": 2}


def choose(commands: Sequence[Command], members: frozenset[str]) -> tuple[Command, ...]:
    """At most `MOST_COMMANDS` for each purpose, those of the root first, the best one first."""
    seen = frozenset(same_as(one.text) for one in commands if one.origin == "ci")
    own = any(one.folder == "" and one.origin != "ci" for one in commands)
    chosen: list[Command] = []
    for purpose in _ORDER:
        found = [one for one in commands if one.purpose == purpose]
        best = _best([one for one in found if one.folder == ""], seen)
        nested = [one for one in found if one.folder in members or (one.folder and not own)]
        chosen += best or _best_nested(nested, seen)
    return tuple(chosen)


def _best(found: Sequence[Command], seen: frozenset[str]) -> list[Command]:
    """The best of one folder and purpose."""
    ranked = sorted(_once(found), key=lambda one: _TRUST[one.origin])  # else in order
    trusted = [one for one in ranked if one.origin != "ci"] or ranked[:1]
    rest = sorted(
        trusted[1:], key=lambda one: (same_as(one.text) not in seen, one.origin != "tool")
    )
    return [*trusted[:1], *rest][:MOST_COMMANDS]


def _best_nested(found: Sequence[Command], seen: frozenset[str]) -> list[Command]:
    """The best command of each of the first folders."""
    folders = sorted({one.folder for one in found}, key=lambda name: (name.count("/"), name))
    return [
        _best([one for one in found if one.folder == folder], seen)[0]
        for folder in folders[:MOST_COMMANDS]
    ]


def _once(found: Iterable[Command]) -> list[Command]:
    """The most trusted of those that run the same."""
    kept: dict[str, Command] = {}
    for one in sorted(found, key=lambda one: _TRUST[one.origin]):
        kept.setdefault(same_as(one.text), one)
    return list(kept.values())
