"""Ctrl-C while several attempts run: once, and twice."""

from __future__ import annotations

import json
import signal

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.tasks.current_attempt import RUN_VARIABLE
from cub.processes.orphans import kill_by_environment
from cub.store.events import Event
from tests.actions.run.shop import Shop
from tests.actions.run.test_parallel_attempts import assert_nothing_is_left
from tests.cli.commands.run.started import StartedRun, start_run

JOBS = 3
TASKS = {f"s-{number}" for number in range(JOBS)}
HALF = 'cat > /dev/null; echo half > "half-$CUB_TASK"; echo begun; '


def _start(bakery: Shop, client: str) -> StartedRun:
    """A run with all of its attempts at work."""
    bakery.client(client)
    for task in [*sorted(TASKS), "s-9"]:
        bakery.task(task)
    run = start_run(bakery, "--no-checks", "--json", "--jobs", str(JOBS))
    begun = set[str]()
    while begun != TASKS:
        line = run.stdout.readline()
        assert line, run.communicate()
        event = json.loads(line)
        if event["ev"] == "client" and "begun" in str(event.get("text")):
            begun.add(event["task"])
    return run


def _find_attempts(events: list[Event]) -> dict[str, Event]:
    return {event["task"]: event for event in events if event["ev"] == "attempt_end"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_all_attempts_and_keeps_their_changes(
    bakery: Shop, number: signal.Signals
) -> None:
    run = _start(bakery, f"{HALF} exec sleep 1000")
    run.send_signal(number)
    out, err = run.communicate()
    ends = _find_attempts([json.loads(line) for line in out.splitlines()])
    assert (run.returncode, err.count("stopping the agent")) == (130, 0)
    assert {key: end["fail"]["class"] for key, end in ends.items()} == dict.fromkeys(
        TASKS, "interrupted"
    )
    for key, end in ends.items():
        assert f"+++ b/half-{key}\n" in (bakery.root / end["git"]["patch"]).read_text()
    assert _find_attempts(bakery.ledger()).keys() == TASKS
    assert {task.status for task in bakery.tasks()} == {"open"}
    assert (bakery.log(), bakery.dirt()) == (["start"], "")
    assert_nothing_is_left(bakery)


def test_two_signals_end_at_once_and_the_next_run_recovers_all_attempts(bakery: Shop) -> None:
    run = _start(bakery, f"trap '' INT TERM; {HALF} while :; do sleep 1; done")
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)
    run.communicate()
    assert run.returncode == 130
    (folder,) = RunFolder.list_all(bakery.root)
    assert kill_by_environment((RUN_VARIABLE, folder.id)) == 0
    bakery.client(f"{HALF} rm half-*; echo whole > whole-$CUB_TASK")
    done = bakery.run(no_checks=True, jobs=JOBS)
    assert {event["task"] for event in done.of("recovered")} == TASKS
    for key in TASKS:
        patch = bakery.attempt(folder.id, task=key) / "changes.patch"
        assert f"+++ b/half-{key}\n" in patch.read_text()
    assert {task.status for task in bakery.tasks()} == {"closed"}
    assert (len(done.outcomes), bakery.dirt()) == (JOBS + 1, "")
    assert_nothing_is_left(bakery)
