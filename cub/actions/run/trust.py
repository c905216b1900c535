"""What a repository may have run on this machine: nothing that this person has not agreed to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from cub.actions.run.settings import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.project.config import CONFIG
from cub.project.executes import commands
from cub.project.trust import Trust, add, digest_of, given, keep, trust_of
from cub.store.tasks import Tasks


class Executed(NamedTuple):
    """What would run: keys of the configuration with their values as JSON, and tasks' checks."""

    config: dict[str, str]
    checks: list[str]

    def lines(self) -> list[str]:
        """For a person to read."""
        rows = [f"{key}: {value}" for key, value in self.config.items()]
        return rows + [f"a task's check: {check}" for check in self.checks]


def executed(stores: Stores, tasks: Tasks | None = None) -> Executed:
    """What the project brings along that runs."""
    config = commands(stores.project.tree.read(CONFIG))
    return Executed(config, [*_checks_of(tasks or stores.backend.read())])


def require_trust(stores: Stores, settings: RunSettings) -> None:
    """CubError, with what would run, unless it is the person's own word or was agreed to."""
    if settings.asked.trust:
        return
    found = executed(stores)
    if not settings.own_checks:
        found = found._replace(checks=[])
    if settings.asked.checks or not settings.own_checks:
        found = found._replace(config={k: v for k, v in found.config.items() if not _is_check(k)})
    known = trust_of(stores.root)
    whole = executed(stores).config
    agreed = not found.config or known.config == digest_of(whole)
    missing = known.missing(found.checks)
    if agreed and not missing:
        return
    asked = Executed({} if agreed else found.config, missing)
    again = "changed since you trusted it" if known != Trust() else "is not trusted yet"
    raise CubError(
        f"what this project runs {again}",
        where=CONFIG if asked.config else "",
        hint="read it, then `cub trust`; `cub run --trust` agrees for this one time",
        details=asked.lines(),
    )


def agree(stores: Stores) -> Executed:
    """Remember that all of it may run."""
    found = executed(stores)
    keep(stores.root, given(found.config, found.checks))
    return found


def agree_to(stores: Stores, checks: Iterable[str]) -> None:
    """Remember that these checks of tasks may run; where that can't be kept, a run asks."""
    with suppress(OSError):
        add(stores.root, checks)


def disagree(stores: Stores) -> None:
    """Forget it again."""
    keep(stores.root, None)


def _is_check(key: str) -> bool:
    return key.endswith("run.checks")


def _checks_of(tasks: Tasks) -> Iterable[str]:
    """The checks of tasks that are not closed, each once."""
    found: dict[str, None] = {}
    for row in tasks:
        if not row.closed and b'"checks"' in _line(tasks, row.id):
            found |= dict.fromkeys(tasks.record(row.id).get("checks") or ())
    return list(found)


def _line(tasks: Tasks, key: str) -> bytes:
    """The line of a task, to be searched; of one that has none, what makes it be read."""
    return b'"checks"' if key in tasks.apart else tasks.line(key)
