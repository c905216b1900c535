"""`cub run --dry-run`: what a run would do, without doing any of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.lines import parked_lines
from cub.errors import CubError
from cub.masking import masked

if TYPE_CHECKING:
    from cub.actions.run.settings import Asked
    from cub.actions.tasks.stores import Stores
    from cub.store.briefs import Brief
    from cub.store.tasks import Tasks

_SHOWN = 20


def preview(stores: Stores, asked: Asked, profile: str | None, *, json: bool) -> None:
    """The clients, the checks, and the queue in its order."""
    from cub.actions.run.programs import find_missing, require_one
    from cub.actions.run.queue import queue, require_startable
    from cub.actions.run.settings import run_settings
    from cub.actions.run.trust import require_trust
    from cub.harness.choose import harnesses
    from cub.project.effective import effective

    layers = effective(stores.project, os.environ, profile)
    settings = run_settings(layers.values, asked)
    clients = harnesses(settings.harnesses, settings.configured, stores.root)
    tasks = stores.backend.read()
    require_startable(tasks, stores, asked)
    rows = queue(tasks, stores, asked).rows
    missing = find_missing(clients, settings, stores.project, os.environ)
    untrusted = _refusal(lambda: require_trust(stores, settings))
    refusals = [untrusted, _refusal(lambda: require_one(clients, missing))]
    if json:
        tree = {
            "v": 1,
            "root": stores.root.as_posix(),
            "harnesses": [client.name for client in clients],
            "missing": [{"harness": one.harness, "why": one.why} for one in missing],
            "checks": [masked(check) for check in settings.checks],
            "trusted": not untrusted,
            "tasks": [row.id for row in rows],
        }
        output.as_json(tree)
        return
    output.paragraph(f"client: {', '.join(client.name for client in clients)}")
    for check in settings.checks:
        output.paragraph(f"check: {masked(check)}")
    _print_queue(rows, tasks, asked)
    if len(missing) < len(clients):
        for one in missing:
            output.talk(f"{one.told()}.")
    for refusal in filter(None, refusals):
        output.talk(f"It would not begin: {masked(refusal)}.")


def _print_queue(rows: Sequence[Brief], tasks: Tasks, asked: Asked) -> None:
    """Print the tasks that a run would take, the first ones of many, or why there is none."""
    from cub.actions.run.queue import parked

    for row in rows[:_SHOWN]:
        title = str(tasks.record(row.id).get("title"))
        output.paragraph(f"task: {row.id}: {masked(title)}")
    if len(rows) > _SHOWN:
        output.paragraph(f"and {len(rows) - _SHOWN} more")
    if not rows:
        output.paragraph("Nothing is ready.")
        if left := parked(tasks, asked):
            named = [tasks.record(row.id) for row in left[:_SHOWN]]
            for line in parked_lines(named, len(left)):
                output.paragraph(line)


def _refusal(require: Callable[[], object]) -> str:
    """Why a run would be refused; "" if it would not."""
    try:
        require()
    except CubError as error:
        return error.message
    return ""
