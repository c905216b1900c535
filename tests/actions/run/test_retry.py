"""What comes after a failure: who is charged, who waits, which client goes on, when a run ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cub.actions.tasks.transitions import close_tasks, reopen_tasks
from tests.actions.run.shop import CHECK, Shop
from tests.actions.run.sound import commits, require_told, seen

_MAKE = 'echo x > "made-$CUB_TASK"'
_LIMIT = 'echo \'API Error: 429 {"type":"rate_limit_error"}'
_LOGIN = "echo 'Invalid API key · Please run /login' >&2; exit 1"
_BAD = 'echo "a.py:1:1: F821 $(date +%N | tr 0-9 a-j)" > wrong'


def _limited(rest: str) -> str:
    return f"cat > /dev/null; {_LIMIT} {rest}' >&2; exit 1"


def _at_first(first: str, then: str = _MAKE, times: int = 1) -> str:
    """A client that does one thing so many times, and another one after that."""
    count = "n=$(cat $OUT/count 2> /dev/null || echo 0); echo $((n + 1)) > $OUT/count"
    return f"cat > /dev/null; {count}; if [ $n -lt {times} ]; then {first}; else {then}; fi"


def test_after_a_charged_failure_the_task_goes_back_to_be_tried_again(bakery: Shop) -> None:
    bakery.run_agent("exit 1", once=True)
    done = bakery.run_agent(_LOGIN, once=True)
    assert (done.outcomes, bakery.status()) == (["auth"], "retry")
    assert [event["n"] for event in bakery.ledger("attempt_end")] == [1, 2]


def test_attempts_are_counted_over_runs(bakery: Shop) -> None:
    bakery.client(_BAD)
    bakery.task()
    for expected in ("retry", "retry", "parked"):
        bakery.run(once=True, checks=CHECK)
        assert bakery.status() == expected
    assert bakery.run().end["end"] == "nothing_ready"


@pytest.mark.thorough
def test_what_is_not_charged_costs_no_attempt(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 2})
    bakery.open_folder()
    done = bakery.run_agent(
        _at_first("echo 'API Error: 503 Service' >&2; exit 1", "exit 1", times=2)
    )
    assert done.outcomes == ["service_failed"] * 2 + ["harness_exit"] * 2
    assert bakery.status() == "parked"


@pytest.mark.parametrize("check", ["test -e never", "exit 3", "echo; exit 1"])
def test_a_check_that_says_nothing_fails_in_the_same_way_each_time(
    bakery: Shop, check: str
) -> None:
    bakery.configure(run={"max_attempts": 9})
    bakery.task(checks=[check])
    done = bakery.run_agent('date +%N > made; echo "try $(cat made)"')
    assert done.outcomes == ["checks_failed"] * 2
    assert bakery.status() == "parked"
    assert (
        "2 attempts failed in the same way, and so did the check before them"
        in bakery.record()["notes"]
    )
    assert len({event["fail"]["fp"] for event in done.of("attempt_end")} - {""}) == 1


def test_a_reopened_task_counts_afresh(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 2})
    bakery.run_agent(_BAD, checks=CHECK)
    assert bakery.status() == "parked"
    reopen_tasks(bakery.stores, ["s-1"])
    done = bakery.run(checks=CHECK)
    assert [event["n"] for event in done.of("attempt_end")] == [3, 4]
    assert bakery.status() == "parked"


def test_a_limit_is_waited_for(bakery: Shop) -> None:
    bakery.open_folder()
    start = bakery.clock.now()
    done = bakery.run_agent(_at_first(f"{_LIMIT} resets in 2 hours' >&2; exit 1"))
    assert done.outcomes == ["rate_limited", "ok"]
    (until,) = done.clock.waits
    assert timedelta(hours=2) <= until - start < timedelta(hours=2, minutes=1)
    (waiting,) = done.of("waiting")
    assert waiting["until"].startswith(f"{until:%Y-%m-%dT%H:%M:%S}")
    assert waiting["why"].startswith("mine has reached its limit (")
    assert done.end["end"] == "done"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", [1, 3, 7, 15, 30]),
        pytest.param("try again in 2 seconds", [0, 1, 3, 7, 15], marks=pytest.mark.thorough),
    ],
    ids=["tells no end", "lasts longer than it said"],
)
def test_a_limit_is_tried_again_ever_later(bakery: Shop, rest: str, expected: list[int]) -> None:
    start = bakery.clock.now()
    done = bakery.run_agent(_limited(rest))
    assert done.outcomes == ["rate_limited"] * 6
    assert (done.end["end"], done.end["failures"]) == ("machine", 6)
    minutes = [round((wait - start).total_seconds() / 60) for wait in done.clock.waits]
    assert minutes == expected
    assert bakery.status() == "open"


def test_a_service_that_fails_costs_no_attempt_and_is_tried_again(bakery: Shop) -> None:
    bakery.open_folder()
    fails = """echo '{"type": "service", "text": "HTTP 503"}'; exit 1"""
    done = bakery.run_agent(_at_first(fails))
    assert done.outcomes == ["service_failed", "ok"]
    fail = done.of("attempt_end")[0]["fail"]
    assert (fail["charge"], fail["reason"]) == (False, "HTTP 503")
    assert len(done.clock.waits) == 1
    assert done.of("waiting")[0]["why"] == "the service of mine failed (HTTP 503)"


def test_a_wait_ends_when_it_is_asked_to(bakery: Shop) -> None:
    done = bakery.run_agent(
        _limited("resets in 2 hours"), stop_at=lambda event: event["ev"] == "waiting"
    )
    assert (done.end["end"], done.outcomes) == ("interrupted", ["rate_limited"])
    assert bakery.status() == "open"


def test_another_client_goes_on_while_one_waits(bakery: Shop) -> None:
    bakery.client(_limited("resets in 2 hours"), "first")
    bakery.add_tasks(2)
    done = bakery.run_agent(_MAKE, harness="first,mine")
    assert done.outcomes == ["rate_limited", "ok", "ok"]
    assert [event["harness"] for event in done.of("attempt_end")] == ["first", "mine", "mine"]
    assert done.clock.waits == []


def test_the_client_whose_limit_ends_first_is_waited_for(bakery: Shop) -> None:
    bakery.open_folder()
    bakery.client(_limited("resets in 5 hours"), "first")
    done = bakery.run_agent(
        _at_first(f"{_LIMIT} resets in 1 hour' >&2; exit 1"), harness="first,mine"
    )
    assert done.outcomes == ["rate_limited", "rate_limited", "ok"]
    assert [event["harness"] for event in done.of("attempt_end")] == ["first", "mine", "mine"]
    assert len(done.clock.waits) == 1


def test_the_first_client_comes_back_after_its_limit(bakery: Shop) -> None:
    bakery.open_folder()
    bakery.client(_at_first(f"{_LIMIT} resets in 1 hour' >&2; exit 1"), "first")
    bakery.add_tasks(2)

    def leap(event: dict[str, object]) -> None:
        if event["ev"] == "attempt_end" and event["ok"]:
            bakery.clock.ahead += 7200

    done = bakery.run_agent(_MAKE, harness="first,mine", each=leap)
    assert [event["harness"] for event in done.of("attempt_end")] == ["first", "mine", "first"]


def test_a_client_that_turns_out_to_be_missing_is_left_out(bakery: Shop) -> None:
    bakery.client("exec no-such-agent", "gone")
    bakery.add_tasks(2)
    done = bakery.run_agent(_MAKE, harness="gone,mine")
    assert done.outcomes == ["harness_missing", "ok", "ok"]
    assert [event["harness"] for event in done.of("attempt_end")] == ["gone", "mine", "mine"]
    assert "the agent gone is left out from now on: install the agent" in done.notices
    assert done.end["ok"]


_NO_MODEL = """echo '{"type": "setup", "text": "no such model"}'; exit 1"""


@pytest.mark.parametrize(
    ("shell", "outcome", "hint"),
    [
        (_LOGIN, "auth", "log in"),
        ("exit 127", "harness_missing", "install"),
        (_NO_MODEL, "harness_setup", "--model"),
    ],
)
def test_what_an_agent_can_not_do_ends_a_run_at_once_with_the_remedy(
    bakery: Shop, shell: str, outcome: str, hint: str
) -> None:
    bakery.add_tasks(2)
    done = bakery.run_agent(shell)
    assert done.outcomes == [outcome]
    assert (done.end["end"], done.end["ok"], done.end["failures"]) == ("machine", False, 1)
    assert hint in done.end["hint"]
    assert [bakery.status(key) for key in ("s-1", "s-2")] == ["open", "open"]
    require_told(bakery, done)


def test_failures_of_tasks_in_a_row_end_no_run(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 1})
    bakery.add_tasks(5)
    done = bakery.run_agent("exit 1")
    assert done.outcomes == ["harness_exit"] * 5
    assert done.end["end"] == "done"
    assert done.end["parked"] == [f"s-{number}" for number in range(1, 6)]
    assert done.end["ok"] is False


def test_dollars_end_a_run_before_the_next_attempt(bakery: Shop) -> None:
    bakery.add_tasks(4)
    done = bakery.run_agent(f'{_MAKE}; echo \'{{"type": "cost", "usd": 0.6}}\'', usd=1.0)
    assert done.outcomes == ["ok", "ok"]
    assert (done.end["end"], done.end["ok"], done.end["usd"]) == ("budget", False, 1.2)
    assert "$1.20 of $1.00" in done.end["why"]
    assert done.end["ready"] == 2


def test_tokens_end_a_run_and_reading_from_a_cache_is_free(bakery: Shop) -> None:
    usage = '{"type": "usage", "input": 40, "output": 20, "cache_read": 9000, "cache_write": 5}'
    bakery.configure(run={"budget": {"tokens": 100}})
    bakery.add_tasks(4)
    done = bakery.run_agent(f"{_MAKE}; echo '{usage}'")
    assert (done.outcomes, done.end["end"]) == (["ok", "ok"], "budget")
    assert done.end["tok"] == {"in": 80, "out": 40, "cache_read": 18000, "cache_write": 10}


def test_a_client_that_goes_on_beyond_the_budget_is_ended(bakery: Shop) -> None:
    bakery.client(
        f'{_MAKE}; echo \'{{"type": "cost", "usd": 2}}\'; while echo on; do sleep 0.05; done'
    )
    bakery.task()
    before = seen(bakery)
    done = bakery.run(usd=1.0)
    (end,) = require_told(bakery, done)
    assert (done.outcomes, done.end["end"]) == (["budget"], "budget")
    assert (end["usd"], end["fail"]["charge"], bakery.status()) == (2.0, False, "open")
    assert seen(bakery) == before


def test_who_has_come_to_an_end_when_the_money_is_gone_is_done(bakery: Shop) -> None:
    done = bakery.run_agent(f'{_MAKE}; echo \'{{"type": "cost", "usd": 2}}\'', usd=1.0)
    assert done.outcomes == ["ok"]
    assert bakery.status() == "closed"


def test_no_dollars_at_all_begin_nothing(bakery: Shop) -> None:
    done = bakery.run_agent(_MAKE, usd=0.0)
    assert (done.outcomes, done.end["end"], bakery.status()) == ([], "budget", "open")


def test_so_many_attempts_and_no_more(bakery: Shop) -> None:
    bakery.open_folder()
    bakery.add_tasks(3)
    done = bakery.run_agent(_at_first("exit 1"), iterations=2)
    assert (done.outcomes, done.end["end"]) == (["harness_exit", "ok"], "iterations")
    assert done.end["attempts"] == 2


@pytest.mark.parametrize(("shell", "ok"), [(_MAKE, True), ("exit 1", False)])
def test_once_is_one_attempt(bakery: Shop, shell: str, ok: bool) -> None:
    bakery.add_tasks(2)
    done = bakery.run_agent(shell, once=True)
    assert (len(done.outcomes), done.end["end"], done.end["ok"]) == (1, "once", ok)


def test_a_task_that_others_wait_for_frees_them(bakery: Shop) -> None:
    bakery.task("s-1", depends_on=["s-2"])
    bakery.task("s-2", priority=4)
    bakery.task("s-3", depends_on=["s-4"])
    bakery.task("s-4", status="parked")
    done = bakery.run_agent(_MAKE)
    assert [event["task"] for event in done.of("attempt_end")] == ["s-2", "s-1"]
    assert bakery.status("s-3") == "open"


def test_an_epic_closes_with_its_last_task(bakery: Shop) -> None:
    bakery.task("s-1", issue_type="epic")
    bakery.task("s-1.1", parent="s-1")
    assert bakery.run_agent(_MAKE).outcomes == ["ok"]
    assert bakery.status() == "closed"


def test_stopped_in_the_middle_a_task_is_open_and_its_files_are_back(bakery: Shop) -> None:
    before = seen(bakery)
    done = bakery.run_agent(
        "echo theirs > kept.txt; echo begun; exec sleep 3600",
        stop_at=lambda event: event.get("text") == "begun\n",
    )
    (end,) = require_told(bakery, done)
    assert (done.outcomes, done.end["end"]) == (["interrupted"], "interrupted")
    assert (end["fail"]["charge"], bakery.status()) == (False, "open")
    assert "theirs" in (bakery.root / end["git"]["patch"]).read_text()
    assert seen(bakery) == before


def test_what_a_person_closes_meanwhile_is_not_opened_again(bakery: Shop) -> None:

    def closes(event: dict[str, object]) -> None:
        if event.get("text") == "begun\n":
            close_tasks(bakery.stores, ["s-1"], "wontfix")

    done = bakery.run_agent("echo begun; exit 1", once=True, each=closes)
    assert done.outcomes == ["harness_exit"]
    assert (bakery.status(), bakery.record()["close_reason"]) == ("closed", "wontfix")


def test_what_a_person_reprioritizes_meanwhile_counts_for_the_next_task(bakery: Shop) -> None:
    bakery.task("s-1", priority=0)
    bakery.task("s-2", priority=1)

    def adds(event: dict[str, object]) -> None:
        if event["ev"] == "attempt_end" and event["task"] == "s-1":
            bakery.task("s-3", priority=0)

    done = bakery.run_agent(_MAKE, each=adds)
    assert [event["task"] for event in done.of("attempt_end")] == ["s-1", "s-3", "s-2"]
    assert not any(subject.startswith("chore(cub)") for subject in commits(bakery))
