"""Attempts that were made: which one is meant, what its agent said, and following a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.actions.run.past_attempts import (
    PastAttempt,
    find_newest_attempt,
    follow_run,
    is_run_here,
    list_run_attempts,
    list_task_attempts,
    open_log,
)
from cub.actions.run.run_folders import RunFolder
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.harness.base import AgentEvent
from cub.store.events import Event
from cub.store.ledger import Ledger
from tests.actions.run.shop import Shop
from tests.store.records import day

SAYS = 'echo "I try $CUB_TASK"; echo x >> x; exit 1'


def said(stores: Stores, attempt: PastAttempt) -> list[str]:
    log = open_log(stores, attempt, {})
    return [event.text for event in log.finish()] if log else []


def names(attempts: list[PastAttempt]) -> list[tuple[str, int]]:
    return [(one.event["task"], one.event["n"]) for one in attempts]


@pytest.mark.thorough
def test_attempts_are_found_by_task_and_by_run(bakery: Shop) -> None:
    bakery.add_tasks(2)
    done = bakery.run_agent(SAYS, iterations=3)
    stores, run = bakery.stores, done.end["run"]
    assert names(list_run_attempts(stores, run)) == [("s-1", 1), ("s-2", 1), ("s-1", 2)]
    task = list_task_attempts(stores, "s-1")
    assert (task.task_id, task.title, names(task.attempts)) == (
        "s-1", "Do s-1", [("s-1", 1), ("s-1", 2)],
    )  # fmt: skip
    assert said(stores, task.choose(1)) == ["I try s-1\n"]
    newest = find_newest_attempt(stores)
    assert newest is not None
    assert (newest.event["n"], newest.folder) == (2, task.choose(None).folder)
    assert task.choose_patched() == task.choose(None)
    assert (is_run_here(stores, run), is_run_here(stores, "s-1")) == (True, False)
    with pytest.raises(CubError, match="s-1 has no attempt 7") as refused:
        task.choose(7)
    assert refused.value.hint == "choose from 1, 2"


def test_a_task_without_an_attempt(bakery: Shop) -> None:
    bakery.task()
    stores = bakery.stores
    task = list_task_attempts(stores, "s")
    assert (task.task_id, task.attempts, find_newest_attempt(stores)) == ("s-1", [], None)
    with pytest.raises(CubError, match="no attempt at s-1 yet"):
        task.choose(None)
    with pytest.raises(CubError, match="no attempt at s-1 has left a patch"):
        task.choose_patched()


@pytest.mark.parametrize("facts", [{"run": "../.."}, {"run": ".."}, {"task": "../../x"}])
def test_no_name_in_the_ledger_leads_out_of_the_folder_of_runs(bakery: Shop, facts: Event) -> None:
    (bakery.root.parent / "events.jsonl").write_text("secret")
    (bakery.root / "events.jsonl").write_text("secret")
    start = {"ev": "attempt_start", "ts": day(1), "run": "r", "task": "s-1", "n": 1, **facts}
    Ledger(bakery.root).append_events(start)
    stores = bakery.stores
    (attempt,) = list_run_attempts(stores, str(start["run"]))
    assert find_newest_attempt(stores) == attempt
    assert attempt.has_file("events.jsonl") is False
    assert ".." not in attempt.folder.split("/")
    assert is_run_here(stores, "..") is False


@pytest.mark.parametrize("event", [{"n": "1"}, {"run": None}, {"task": ["x"]}])
def test_nonsense_in_the_ledger_is_no_attempt(bakery: Shop, event: Event) -> None:
    Ledger(bakery.root).append_events({"ev": "attempt_start", "ts": day(1), "run": "r", "n": 1,
                                       "task": "s-1", **event})  # fmt: skip
    assert list_run_attempts(bakery.stores, "r") == []


@pytest.mark.parametrize("place", ["events.jsonl", "", ".."])
def test_a_link_on_the_way_to_a_log_is_not_followed(bakery: Shop, place: str) -> None:
    run = bakery.run_agent(SAYS, once=True).end["run"]
    path = bakery.attempt(run) / place if place != ".." else bakery.attempt(run).parent
    path.rename(bakery.root / "elsewhere")
    path.symlink_to(bakery.root / "elsewhere")
    stores = bakery.stores
    assert said(stores, list_task_attempts(stores, "s-1").choose(None)) == []


def test_an_agent_that_is_configured_no_more_is_read_by_the_protocol(bakery: Shop) -> None:
    bakery.run_agent(SAYS, once=True)
    bakery.configure(harnesses={})
    stores = bakery.stores
    assert said(stores, list_task_attempts(stores, "s-1").choose(None)) == ["I try s-1\n"]


def _new(following: Iterator[PastAttempt | AgentEvent | None]) -> list[str]:
    """What comes until there is nothing new, or the end."""
    found = []
    for item in following:
        if item is None:
            break
        found.append(item.text if isinstance(item, AgentEvent) else item.event["task"])
    return found


@pytest.mark.parametrize(
    ("task", "expected"),
    [("", ["s-1", "I try s-1\n", "s-2", "I try s-2\n"]), ("s-2", ["s-2", "I try s-2\n"])],
)
def test_a_run_is_followed_to_its_end(bakery: Shop, task: str, expected: list[str]) -> None:
    bakery.add_tasks(2)
    stores, found, early = bakery.stores, list[str](), list[str]()
    following: list[Iterator[PastAttempt | AgentEvent | None]] = []

    def each(event: Event) -> None:
        if not following:
            following.append(follow_run(stores, event["run"], task, {}, is_whole=True))
        found.extend(_new(following[0]))
        if event["ev"] == "client":
            early.append(json.dumps(found[-1:]))

    bakery.run_agent(SAYS, iterations=2, each=each)
    # While the agent is at work, not only when it has ended.
    assert early[-1] == json.dumps(expected[-1:])
    assert found + _new(following[0]) == expected
    assert list(following[0]) == []
    (folder,) = RunFolder.list_all(bakery.root)
    assert _new(follow_run(stores, folder.id, task, {}, is_whole=True)) == expected
    last = _new(follow_run(stores, folder.id, task, {}, is_whole=False))
    assert last == expected[-2:]


def test_attempts_at_the_same_time_are_followed_one_after_the_other(bakery: Shop) -> None:
    bakery.client(
        'echo "here $CUB_TASK"; until test -e "$HOME/go-$CUB_TASK"; do sleep 0.01; done; '
        'echo "$CUB_TASK goes on"; echo x > "x-$CUB_TASK"'
    )
    bakery.add_tasks(2)
    home, said = Path(bakery.environ["HOME"]), list[str]()
    following: list[Iterator[PastAttempt | AgentEvent | None]] = []

    def each(event: Event) -> None:
        if not following:
            stores = bakery.stores
            following.append(follow_run(stores, event["run"], "", {}, is_whole=True))
        found.extend(_new(following[0]))
        said.append(str(event.get("text", "")))
        if {"here s-1\n", "here s-2\n"} <= {*said}:
            (home / "go-s-2").touch()
        if "s-2 goes on\n" in said:
            (home / "go-s-1").touch()

    found = list[str]()
    bakery.run(jobs=2, each=each)
    found += _new(following[0])
    first, second = (f"{n}here {n}\n{n} goes on\n" for n in ("s-1", "s-2"))
    assert "".join(found) == first + second
