"""Agents that change the stores themselves, by hand or by command; the run's checks decide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cub.actions.tasks.task_edits import delete_tasks
from cub.actions.tasks.transitions import reopen_tasks
from cub.store.events import Event
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import CHECK, Done, Shop
from tests.actions.run.sound import require_told, seen
from tests.examples import keep_few

_CUB = '"$PYTHON" -m cub'
_MAKE = "echo made > made.txt"


def _prepare(bakery: Shop) -> None:
    bakery.task()
    bakery.task("s-2", status="parked", notes="by hand")
    bakery.write(".cub/constitution.md", "# Ours\n")
    bakery.write(".cub/agents/mine.md", "an agent\n")
    bakery.add_git_files()
    history = {"v": 1, "ev": "task_state", "ts": "2026-01-01T08:00:00.000Z", "task": "s-2"}
    bakery.write(".cub/ledger.jsonl", json.dumps({**history, "status": "parked"}) + "\n")


@pytest.fixture
def stocked(copy_shop: CopyShop) -> Shop:
    """With all of cub's own files committed, a constitution, and a ledger with a history."""
    return copy_shop(_prepare)


def _work(shop: Shop, shell: str, **asked: Any) -> Done:
    """One attempt at s-1 of an agent that does this; the client is committed before."""
    shop.client(f"cat > /dev/null; {{ {shell}; }}")
    shop.commit("stock")
    return shop.run(once=True, **asked)


def _require_history(shop: Shop) -> None:
    first = shop.ledger("task_state")[0]
    assert (first["ts"], first["task"]) == ("2026-01-01T08:00:00.000Z", "s-2")


_CLOSES = "sed -i 's/in_progress/closed/' .cub/tasks.jsonl"
_DELETES = """sed -i 's/"rev"/"deleted_at":"2026-01-01T09:00:00.000Z","rev"/' .cub/tasks.jsonl"""


@pytest.mark.parametrize(
    ("more", "outcome", "status"),
    [
        ("echo 'a.py:1:1: F821 x' > wrong", "checks_failed", "retry"),
        ("true", "no_changes", "retry"),
        (_MAKE, "ok", "closed"),
    ],
)
def test_a_task_that_an_agent_closes_by_hand_is_decided_by_the_run(
    stocked: Shop, more: str, outcome: str, status: str
) -> None:
    done = _work(stocked, f"{_CLOSES}; {more}", checks=CHECK)
    assert (done.outcomes, stocked.status()) == ([outcome], status)
    require_told(stocked, done)


@pytest.mark.parametrize("end", ["", "; exit 1"])
@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            *(f"{way} .cub/{name}.jsonl" for way in ("rm", "echo >", "sed -i 1d", "chmod 0")
              for name in ("tasks", "ledger")),
            _DELETES, "rm -rf .cub/runs || true", "rm .cub/tasks.jsonl; mkfifo .cub/tasks.jsonl",
            "git checkout -q HEAD -- .cub",
            *(f"printf '{garbage}' >> .cub/{name}.jsonl" for name in ("tasks", "ledger")
              for garbage in (r"{broken\n", r"\377\000\n[]\n", r'{"id": 7, "ev": 7}\n', "none")),
            "echo '<<<<<<< ours' >> .cub/tasks.jsonl",
        ],
        5,
    ),
)  # fmt: skip
def test_whatever_becomes_of_the_copies_the_stores_stay(
    stocked: Shop, shell: str, end: str
) -> None:
    done = _work(stocked, f"{_MAKE}; {shell}{end}", checks=CHECK)
    require_told(stocked, done)
    assert done.outcomes == ["harness_exit" if end else "ok"]
    assert (stocked.status(), stocked.status("s-2")) == ("retry" if end else "closed", "parked")
    assert stocked.record("s-2")["notes"] == "by hand"
    _require_history(stocked)
    assert ("in its copy of the tasks: not taken over" in done.notices) == (shell == _DELETES)


def test_edits_of_the_stores_alone_are_no_work(stocked: Shop) -> None:
    done = _work(stocked, f"{_CUB} task add 'More of it'; sed -i s/hand/me/ .cub/tasks.jsonl")
    assert done.outcomes == ["no_changes"]


def test_a_task_that_a_person_deletes_meanwhile_stays_deleted(stocked: Shop) -> None:
    def each(event: Event) -> None:
        if event["ev"] == "attempt_start":
            stores = stocked.stores
            reopen_tasks(stores, ["s-1"])
            delete_tasks(stores, ["s-1", "s-2"])

    stocked.client(_MAKE)
    stocked.commit("stock")
    done = stocked.run(once=True, each=each)
    assert done.outcomes == ["ok"]
    assert (sorted(stocked.tasks().deleted_summaries), stocked.tasks().summaries) == (
        ["s-1", "s-2"],
        {},
    )


def test_a_task_that_an_agent_adds_by_hand_stays(stocked: Shop) -> None:
    line = json.dumps({"id": "s-9", "title": "Found on the way", "status": "open"})
    done = _work(stocked, f"{_MAKE}; echo '{line}' >> .cub/tasks.jsonl")
    assert done.outcomes == ["ok"]
    assert stocked.status("s-9") == "open"


def _said(done: Done) -> str:
    return "".join(event.get("text", "") for event in done.of("client"))


def test_to_close_the_own_task_is_a_wish_and_the_checks_decide(stocked: Shop) -> None:
    closes = f"{_CUB} task close s-1; {_CUB} task show s-1 --json"
    done = _work(stocked, f"{closes}; echo 'a.py:1:1: F821 x' > wrong", checks=CHECK)
    assert (done.outcomes, stocked.status()) == (["checks_failed"], "retry")
    assert "decide" in _said(done)
    assert '"in_progress"' in _said(done)


@pytest.mark.thorough
def test_to_close_it_with_work_that_holds_up_closes_it(stocked: Shop) -> None:
    done = _work(stocked, f"{_MAKE}; {_CUB} task close s-1 -m 'it is baked'", checks=CHECK)
    assert (done.outcomes, stocked.status()) == (["ok"], "closed")


def test_to_close_it_as_done_with_nothing_changed_is_no_change(stocked: Shop) -> None:
    done = _work(stocked, f"{_CUB} task close s-1")
    assert (done.outcomes, stocked.status()) == (["no_changes"], "retry")


@pytest.mark.parametrize("reason", ["wontfix", "duplicate"])
def test_who_asks_to_give_a_task_up_is_stuck(stocked: Shop, reason: str) -> None:
    before = seen(stocked).files
    done = _work(stocked, f"{_MAKE}; {_CUB} task close s-1 --reason {reason} -m 'the oven is cold'")
    (end,) = require_told(stocked, done)
    assert (done.outcomes, stocked.status()) == (["stuck"], "parked")
    assert f"as {reason}: the oven is cold" in end["fail"]["reason"]
    assert seen(stocked).files == before


@pytest.mark.parametrize(
    "words",
    keep_few(["close s-2", "claim s-2", "reopen s-2", "reopen s-1", "park s-2", "park s-1"], 2),
)
def test_what_only_the_run_or_a_person_does_is_refused(stocked: Shop, words: str) -> None:
    done = _work(stocked, f"{_MAKE}; {_CUB} task {words} 2>&1 && echo WORKED; true")
    assert done.outcomes == ["ok"]
    assert "cannot" in _said(done)
    assert "WORKED" not in _said(done)
    assert (stocked.status("s-1"), stocked.status("s-2")) == ("closed", "parked")


@pytest.mark.thorough
def test_tasks_may_be_added_and_read_in_an_attempt(stocked: Shop) -> None:
    adds = f"{_CUB} task add 'Found on the way' && {_CUB} task ready && {_CUB} task list"
    done = _work(stocked, f"{_MAKE}; {adds}")
    assert done.outcomes == ["ok"]
    assert "Found on the way" in _said(done)
    titles = [stocked.record(row.id)["title"] for row in stocked.tasks()]
    assert titles.count("Found on the way") == 1


@pytest.mark.parametrize(
    "way", ["sed -i s/crust/made.txt/ .cub/tasks.jsonl", f"{_CUB} task edit s-1 --check true"]
)
def test_an_agent_can_not_soften_the_checks_of_its_task(stocked: Shop, way: str) -> None:
    (stocked.cub / "tasks.jsonl").unlink()
    stocked.task(checks=["test -f crust"])
    stocked.client(f"cat > /dev/null; {_MAKE}; {way}; true")
    stocked.commit("stock")
    assert stocked.run(iterations=2).outcomes == ["checks_failed", "checks_failed"]
