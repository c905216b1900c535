"""A run from the first task to the last one."""

from __future__ import annotations

from tests.actions.run.shop import CHECK, Shop

WRITE = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'


def test_tasks_are_worked_off_in_their_order_a_commit_each(bakery: Shop) -> None:
    bakery.client(WRITE)
    bakery.task("s-1", priority=3)
    bakery.task("s-2", priority=1, issue_type="feature", title="Bake\n bread")
    done = bakery.run()
    assert done.outcomes == ["ok", "ok"]
    assert bakery.log() == [
        "chore(cub): record what the run did", "task(s-1): Do s-1", "feature(s-2): Bake bread",
        "start",
    ]  # fmt: skip
    assert [bakery.status(key) for key in ("s-1", "s-2")] == ["closed", "closed"]
    assert done.end["end"] == "done"
    assert done.end["ok"]
    assert not bakery.dirt()


def test_nothing_ready_is_no_failure(bakery: Shop) -> None:
    bakery.client(WRITE)
    bakery.task("s-1", status="parked")
    done = bakery.run()
    assert (done.end["end"], done.end["ok"], done.outcomes) == ("nothing_ready", True, [])


def test_a_failing_check_is_told_to_the_retry_which_mends_it(bakery: Shop) -> None:
    bakery.client(
        "grep -q shop.py:7 && echo mended > fixed && exit 0; echo 'shop.py:7:1: F821 gone' > wrong"
    )
    bakery.task()
    done = bakery.run(checks=CHECK)
    assert done.outcomes == ["checks_failed", "ok"]
    first, second = done.of("attempt_end")
    assert first["fail"]["reason"] == "shop.py:7:1: F821 gone"
    assert first["fail"]["charge"]
    assert second["n"] == 2
    assert (
        "shop.py:7" in (bakery.root / first["log"]).with_name("2").joinpath("prompt.md").read_text()
    )
    assert "wrong" in (bakery.root / first["git"]["patch"]).read_text()
    assert bakery.log()[1:] == ["task(s-1): Do s-1", "start"]
    assert not (bakery.root / "wrong").exists()
    assert (bakery.root / "fixed").exists()


def test_what_failed_before_does_not_trap_the_loop(bakery: Shop) -> None:
    bakery.write("wrong", "shop.py:7:1: F821 old\n")
    bakery.commit()
    bakery.client(WRITE)
    bakery.task()
    assert bakery.run(checks=(CHECK, "true")).outcomes == ["ok"]


def test_a_new_failure_beside_an_old_one_counts(bakery: Shop) -> None:
    bakery.write("wrong", "shop.py:7:1: F821 old\n")
    bakery.commit()
    bakery.client("cat > /dev/null; echo 'shop.py:9:1: F821 new' >> wrong")
    bakery.task()
    done = bakery.run(checks=CHECK, once=True)
    assert done.outcomes == ["checks_failed"]
    assert done.of("attempt_end")[0]["fail"]["reason"] == "shop.py:9:1: F821 new"
    assert (bakery.root / "wrong").read_text() == "shop.py:7:1: F821 old\n"


def test_after_so_many_failures_a_task_is_parked(bakery: Shop) -> None:
    bakery.client('cat > /dev/null; echo "a.py:1:1: F821 $CUB_ATTEMPT" > wrong')
    bakery.configure(run={"max_attempts": 2})
    bakery.client(
        'cat > /dev/null; echo "a.py:1:1: F8 $(basename $CUB_ATTEMPT | tr 12 ab)" > wrong'
    )
    bakery.task()
    done = bakery.run(checks=CHECK)
    assert done.outcomes == ["checks_failed", "checks_failed"]
    assert bakery.status() == "parked"
    assert done.end["ok"] is False
    assert done.end["parked"] == ["s-1"]
    assert "all of its 2 attempts failed" in bakery.record()["notes"]


def test_the_same_failure_three_times_parks(bakery: Shop) -> None:
    bakery.client("cat > /dev/null; echo 'a.py:1:1: F821 x' > wrong")
    bakery.configure(run={"max_attempts": 9})
    bakery.client("cat > /dev/null; echo 'a.py:1:1: F821 x' > wrong")
    bakery.task()
    done = bakery.run(checks=CHECK)
    assert done.outcomes == ["checks_failed"] * 3
    assert bakery.status() == "parked"
    third = (bakery.root / done.of("attempt_end")[2]["log"] / "prompt.md").read_text()
    assert "same 1 failure, 2 times" in third
    assert "take another way" in third.lower()


def test_a_check_of_the_task_has_to_get_better(bakery: Shop) -> None:
    bakery.client(WRITE)
    bakery.task(checks=["echo 'a.py:1:1: F821 x'; exit 1"])
    assert bakery.run(once=True).outcomes == ["checks_failed"]
    assert bakery.run(once=True, no_checks=True).outcomes == ["ok"]
