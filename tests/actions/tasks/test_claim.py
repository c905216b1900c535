"""Claims: one owner at a time, until the lease is over or its process is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.task_queries import list_ready_tasks
from cub.actions.tasks.transitions import claim_task, reopen_tasks
from cub.errors import CubError
from cub.store.record_merge import update_record
from tests.actions.tasks.bakery import added, events, opened, record, stored
from tests.store.records import day


def leased(root: Path, **lease: Any) -> str:
    """A task that bob's run has claimed."""
    key = added(root)
    with opened(root).transaction() as work:
        values = {"status": "in_progress", "assignee": "bob", "lease": lease}
        work.store.put_record(update_record(work.tasks.read_record(key), values, day(1)))
    return key


def dead_process() -> int:
    """The number of a process that has been, and is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def ready(root: Path, on: int = 2) -> list[str]:
    return [row.id for row in list_ready_tasks(opened(root, on)).summaries]


def test_a_claim_names_the_owner_the_host_and_the_end(project: Path) -> None:
    key = added(project)
    claim_task(opened(project, on=2), key[:-1])
    found = record(project, key)
    assert (found["status"], found["assignee"]) == ("in_progress", "ida")
    assert found["lease"] == {"host": socket.gethostname(), "expires": day(3)}
    assert ready(project) == []
    assert [event["status"] for event in events(project)] == ["in_progress"]


def test_what_somebody_has_claimed_is_nobody_else_s(project: Path) -> None:
    key = added(project)
    claim_task(opened(project), key)
    before = stored(project)
    with pytest.raises(CubError) as error:
        claim_task(opened(project, who="bob"), key)
    assert error.value.message == f"{key} is claimed by ida until {day(3)}"
    assert f"run `cub task reopen {key}` to release it" in error.value.hint
    assert stored(project) == before


def test_the_owner_claims_again_for_another_day(project: Path) -> None:
    key = added(project)
    for on in (2, 3):
        assert claim_task(opened(project, on), key).messages == []
    assert record(project, key)["lease"]["expires"] == day(4)


def test_after_a_day_without_a_word_a_task_is_free_again(project: Path) -> None:
    key = added(project)
    claim_task(opened(project, on=2), key)
    assert (ready(project, on=2), ready(project, on=3)) == ([], [key])
    outcome = claim_task(opened(project, on=3, who="bob"), key)
    assert outcome.messages == ["The claim of ida had expired."]
    assert record(project, key)["assignee"] == "bob"


def test_a_run_s_lease_ends_with_its_process_on_this_host(project: Path) -> None:
    gone = {"run": "r", "pid": dead_process(), "expires": day(9)}
    mine = leased(project, host=socket.gethostname(), **gone)
    theirs = leased(project, host="elsewhere", **gone)
    assert ready(project) == [mine]
    assert claim_task(opened(project), mine).messages == ["The claim of bob had expired."]
    with pytest.raises(CubError, match="is claimed by bob"):
        claim_task(opened(project), theirs)


def test_a_run_that_lives_keeps_its_lease(project: Path) -> None:
    own = {"run": "r", "host": socket.gethostname(), "pid": os.getpid()}
    key, late = leased(project, **own, expires=day(9)), leased(project, **own, expires=day(1))
    assert ready(project) == [late]
    with pytest.raises(CubError, match="is claimed by bob"):
        claim_task(opened(project), key)


def test_a_claim_that_nobody_can_outlive_is_given_back_by_hand(project: Path) -> None:
    key = leased(project, host="elsewhere")
    with pytest.raises(CubError, match=f"{key} is claimed by bob$"):
        claim_task(opened(project, on=28), key)
    reopen_tasks(opened(project), [key])
    found = record(project, key)
    assert (found["status"], "lease" in found, "assignee" in found) == ("open", False, False)


def test_a_claim_of_what_waits_is_a_warning(project: Path) -> None:
    flour = added(project)
    key = added(project, depends_on=[flour])
    (warning,) = claim_task(opened(project), key).warnings
    assert warning.message == f"{key} waits for {flour}"
