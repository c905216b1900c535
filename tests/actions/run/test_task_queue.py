"""Whose a task is when its attempt ends."""

from __future__ import annotations

from typing import Any

import pytest

from cub.actions.run.task_queue import is_claimed_by
from cub.store.task_index import summarize_task


@pytest.mark.parametrize(
    ("fields", "is_ours"),
    [
        ({"lease": {"run": "r-1"}}, True),
        ({}, True),
        ({"lease": {"run": "r-2"}}, False),
        ({"lease": {"host": "here"}}, False),
        ({"status": "open"}, False),
        ({"status": "parked", "lease": {"run": "r-1"}}, False),
    ],
)
def test_a_claim_is_the_runs_until_somebody_changes_it(
    fields: dict[str, Any], is_ours: bool
) -> None:
    task = summarize_task({"id": "s-1", "status": "in_progress", **fields})
    assert is_claimed_by(task, "r-1") == is_ours
