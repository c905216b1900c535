"""Telling a person by `run.notify`: when, with what, and what if it fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cub.store.events import Event
from tests.actions.run.shop import Done, Shop

_TELL = 'echo "$CUB_EVENT $CUB_TASK" >> ../told; cat >> ../events'


def _run(shop: Shop, client: str, notify: str = _TELL, **asked: Any) -> Done:
    shop.configure(run={"notify": notify, "max_attempts": 2})
    return shop.run_agent(client, **asked)


def _told(shop: Shop) -> tuple[list[str], list[Event]]:
    kinds = (shop.root.parent / "told").read_text().splitlines()
    lines = (shop.root.parent / "events").read_text().splitlines()
    return [line.strip() for line in kinds], [json.loads(line) for line in lines]


def test_the_end_of_a_run_is_told(bakery: Shop) -> None:
    _run(bakery, "echo x > f")
    kinds, (event,) = _told(bakery)
    assert kinds == ["stop"]
    assert (event["ev"], event["end"], event["ok"]) == ("run_end", "done", True)


def test_an_agent_that_is_stuck_is_told(bakery: Shop) -> None:
    _run(bakery, "echo '<stuck>no oven</stuck>'", once=True)
    kinds, events = _told(bakery)
    assert kinds == ["stuck s-1", "stop"]
    assert (events[0]["ev"], events[0]["question"]) == ("task_state", "no oven")


def test_a_parked_task_is_told(bakery: Shop) -> None:
    _run(bakery, "exit 1")
    kinds, events = _told(bakery)
    assert kinds == ["stuck s-1", "stop"]
    assert (events[0]["ev"], events[0]["status"]) == ("task_state", "parked")
    assert "2 attempts" in events[0]["why"]


def test_a_used_up_budget_is_told(bakery: Shop) -> None:
    bakery.add_tasks(2)
    _run(bakery, 'echo x >> f; echo \'{"type": "cost", "usd": 2}\'', usd=1.0)
    kinds, (event,) = _told(bakery)
    assert (kinds, event["end"]) == (["budget"], "budget")


@pytest.mark.parametrize(
    ("notify", "says"),
    [
        ("echo 'no such bell' >&2; exit 4", "exit code 4 no such bell"),
        ("no-such-bell", "127"),
        ("kill -9 $$", ""),
        ("exec 0<&-; exit 1", "exit code 1"),
    ],
)
def test_who_can_not_be_told_is_told_of_here(bakery: Shop, notify: str, says: str) -> None:
    _, notice = [event["text"] for event in _run(bakery, "echo x > f", notify).of("notice")]
    assert notice.startswith("run.notify failed: ")
    assert says in notice
    assert "None" not in notice
    assert bakery.status() == "closed"


def test_without_a_command_nobody_is_told(bakery: Shop) -> None:
    (notice,) = _run(bakery, "exit 1", "").of("notice")
    assert notice["text"].startswith("attempts work in a clone")


def test_hidden_variables_are_hidden_from_it_too(bakery: Shop) -> None:
    bakery.environ |= {"AWS_KEY": "secret"}
    bakery.configure(run={"hide_env": ["AWS_*"], "notify": "env > ../told"})
    bakery.run_agent("echo x > f")
    told = (bakery.root.parent / "told").read_text()
    assert "CUB_EVENT=stop" in told
    assert "secret" not in told


def test_what_it_reads_and_what_it_says_is_masked(bakery: Shop) -> None:
    bakery.environ["S"] = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    notify = f'{_TELL}; yes | head -c 9000; printf "%s" "$S"; exit 1'
    done = _run(bakery, 'echo "<stuck>$S has expired</stuck>"', notify, once=True)
    said = json.dumps([done.events, _told(bakery)])
    assert bakery.environ["S"] not in said
    assert "run.notify failed: exit code 1 [masked]" in said
