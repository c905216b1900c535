"""Attempts at the same time: which ones start, what they end with, and what is left of them.

Agents wait for files in HOME, which they can read, and a test makes them: nothing depends on time.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from threading import Event as ThreadEvent
from typing import Any, NamedTuple, cast

import psutil
import pytest
from filelock import FileLock

from cub.actions.run.attempt_finish import AttemptOutcome
from cub.actions.run.parallel_attempts import AttemptSteps, ParallelAttempts, RunningAttempt
from cub.files.signed_state import find_project_state
from cub.harness.base import Harness
from cub.place.place import Place
from cub.store.events import Event
from tests.actions.run.shop import CHECK, Done, Shop, shop
from tests.conftest import git

WAIT = 'cat > "$CUB_TASK.prompt"; echo "here"; until test -e "$HOME/go"; do sleep 0.01; done; '
READ = "cat > prompt-$CUB_TASK; "
WORK = 'rm -f *.prompt prompt-*; echo "$CUB_TASK" > "work-$CUB_TASK"'


class Barrier:
    """Lets agents go on once so many of them have said that they are there."""

    def __init__(self, shop: Shop, count: int) -> None:
        self.go = Path(shop.environ["HOME"]) / "go"
        self.count = count
        self.arrived = list[str]()
        self.go.unlink(missing_ok=True)

    def __call__(self, event: Event) -> None:
        if event["ev"] == "client" and "here" in str(event.get("text")):
            self.arrived.append(event["task"])
            if len(self.arrived) >= self.count:
                self.go.touch()


def _find_most_at_once(done: Done) -> int:
    running = most = 0
    for event in done.events:
        running += {"attempt_start": 1, "attempt_end": -1}.get(event["ev"], 0)
        most = max(most, running)
    return most


def _list_started(done: Done) -> list[str]:
    return [event["task"] for event in done.of("attempt_start")]


def test_as_many_attempts_run_at_once_as_was_asked_for(bakery: Shop) -> None:
    bakery.add_tasks(5)
    bakery.client(f"{WAIT} {WORK}")
    barrier = Barrier(bakery, 3)
    done = bakery.run(jobs=3, each=barrier)
    assert (_find_most_at_once(done), done.end["end"]) == (3, "done")
    assert sorted(barrier.arrived[:3]) == ["s-1", "s-2", "s-3"]
    assert Counter(done.outcomes) == {"ok": 5}
    assert sorted(bakery.log()) == ["start", *(f"task(s-{n}): Do s-{n}" for n in range(1, 6))]
    assert bakery.dirt() == ""


def test_priorities_and_dependencies_decide_what_starts(bakery: Shop) -> None:
    bakery.task("s-1", priority=3)
    bakery.task("s-2", priority=1)
    bakery.task("s-3", priority=0, depends_on=["s-1"])
    bakery.client(f"{WAIT} test $CUB_TASK != s-3 || cat work-s-1; {WORK}")
    barrier = Barrier(bakery, 2)
    done = bakery.run(jobs=3, each=barrier)
    assert sorted(barrier.arrived[:2]) == ["s-1", "s-2"]
    names = [(event["ev"], event["task"]) for event in done.events if "task" in event]
    assert names.index(("attempt_end", "s-1")) < names.index(("attempt_start", "s-3"))
    assert (Counter(done.outcomes), done.end["end"]) == ({"ok": 3}, "done")


@pytest.mark.parametrize(
    ("asked", "count", "end"),
    [({"once": True}, 1, "once"), ({"iterations": 3}, 3, "iterations")],
    ids=["once", "iterations"],
)
def test_no_more_attempts_start_than_are_allowed(
    bakery: Shop, asked: dict[str, Any], count: int, end: str
) -> None:
    bakery.add_tasks(5)
    done = bakery.run_agent(WORK, jobs=4, **asked)
    assert (len(done.outcomes), done.end["end"], done.end["ready"]) == (count, end, 5 - count)


def test_no_attempt_starts_once_the_budget_is_used_up(bakery: Shop) -> None:
    bakery.add_tasks(4)
    cost = 'echo \'{"type": "cost", "usd": 2}\''
    until_over = 'until test -e "$HOME/over"; do sleep 0.01; done'
    bakery.client(f"{WAIT} if test $CUB_TASK = s-1; then {cost}; else {until_over}; fi; {WORK}")
    barrier = Barrier(bakery, 2)

    def go_on(event: Event) -> None:
        barrier(event)
        if (event["ev"], event.get("task")) == ("task_state", "s-1"):
            barrier.go.with_name("over").touch()

    done = bakery.run(jobs=2, usd=1.0, each=go_on)
    assert sorted(_list_started(done)) == ["s-1", "s-2"]
    assert (done.outcomes, done.end["end"], done.end["usd"]) == (["ok", "ok"], "budget", 2)


_EDIT = "sed -i s/kept/$CUB_TASK/ kept.txt; rm -f *.prompt"


def test_a_conflict_is_retried_on_the_new_base_and_the_prompt_names_it(bakery: Shop) -> None:
    bakery.add_tasks(2)
    again = (
        'if test -e "$HOME/go"; then cat > prompt-$CUB_TASK; echo $CUB_TASK >> kept.txt; exit; fi'
    )
    bakery.client(f"{again}; {WAIT} {_EDIT}")
    done = bakery.run(jobs=2, each=Barrier(bakery, 2))
    assert Counter(done.outcomes) == {"ok": 2, "merge_conflict": 1}
    (failed,) = (event for event in done.of("attempt_end") if not event["ok"])
    assert failed["fail"]["charge"] is False
    assert "kept.txt" in failed["fail"]["reason"]
    task, other = failed["task"], {"s-1": "s-2", "s-2": "s-1"}[failed["task"]]
    assert (bakery.root / "kept.txt").read_text() == f"{other}\n{task}\n"
    prompt = (bakery.root / f"prompt-{task}").read_text()
    assert f"kept.txt: conflicts with newer commits (task({other}): Do {other})" in prompt
    assert [bakery.status(key) for key in ("s-1", "s-2")] == ["closed", "closed"]
    numbers = [(event["task"], event["task_number"]) for event in done.of("attempt_start")]
    assert sorted(set(numbers)) == [("s-1", 1), ("s-2", 2)]


def test_tasks_that_fail_together_are_told_with_what(bakery: Shop) -> None:
    bakery.add_tasks(2)
    again = 'if test -e "$HOME/go"; then cat > prompt-$CUB_TASK; rm work-*; exit; fi'
    bakery.client(f"{again}; {WAIT} {WORK}")
    check = "test $(ls work-* | wc -l) -lt 2 || { echo 'a.py:1:1: F821 too much work'; exit 1; }"
    done = bakery.run(jobs=2, checks=check, each=Barrier(bakery, 2))
    assert Counter(done.outcomes) == {"ok": 2, "checks_failed": 1}
    (failed,) = (event for event in done.of("attempt_end") if not event["ok"])
    assert "together with newer commits" in failed["fail"]["reason"]
    task, other = failed["task"], {"s-1": "s-2", "s-2": "s-1"}[failed["task"]]
    prompt = (bakery.root / f"prompt-{task}").read_text()
    assert "too much work" in prompt
    assert f"fails together with newer commits (task({other}): Do {other})" in prompt
    assert "checking both together" in done.notices


def test_a_limit_waits_until_the_others_have_ended(bakery: Shop) -> None:
    bakery.add_tasks(3)
    limit = "{ echo 'usage limit reached' >&2; exit 1; }"
    bakery.client(f'test "$CUB_TASK" != s-2 || test -e "$HOME/go" || {limit}; {WAIT} {WORK}')

    def go_on(event: Event) -> None:
        if (event["ev"], event.get("task")) == ("task_state", "s-2"):
            (Path(bakery.environ["HOME"]) / "go").touch()

    done = bakery.run(jobs=2, each=go_on)
    assert Counter(done.outcomes) == {"ok": 3, "rate_limited": 1}
    ends = [event["ev"] for event in done.events if event["ev"] in ("attempt_end", "waiting")]
    assert ends.index("waiting") == 2
    assert len(done.clock.waits) == 1


def test_a_run_that_does_not_commit_applies_all_changes(bakery: Shop) -> None:
    bakery.add_tasks(4)
    bakery.configure(run={"commit": False})
    bakery.client(f"{WAIT} {WORK}")
    done = bakery.run(jobs=2, each=Barrier(bakery, 2), checks=CHECK)
    assert Counter(done.outcomes) == {"ok": 4}
    assert bakery.log() == ["start"]
    assert sorted(path.name for path in bakery.root.glob("work-*")) == [
        f"work-s-{number}" for number in range(1, 5)
    ]


def test_a_request_to_stop_ends_all_attempts_and_keeps_their_changes(bakery: Shop) -> None:
    bakery.add_tasks(4)
    bakery.client(f"{WORK}; {WAIT}")
    arrived = set[str]()

    def is_last(event: Event) -> bool:
        if "here" in str(event.get("text")):
            arrived.add(event["task"])
        return len(arrived) == 3

    done = bakery.run(jobs=3, stop_at=is_last)
    assert (done.outcomes, done.end["end"]) == (["interrupted"] * 3, "interrupted")
    for event in done.of("attempt_end"):
        assert f"work-{event['task']}" in (bakery.root / event["git"]["patch"]).read_text()
    assert {bakery.status(f"s-{n}") for n in range(1, 5)} == {"open"}
    assert_nothing_is_left(bakery)


def test_an_error_ends_the_others_before_they_record_anything() -> None:
    never, log = ThreadEvent(), list[str]()

    def fail() -> AttemptSteps:
        yield {"ev": "tick"}
        raise RuntimeError("a bug")

    def work() -> AttemptSteps:
        try:
            yield {"ev": "tick"}
            while not attempts.is_cancelled:
                never.wait(0.001)
            yield {"ev": "tick"}
            log.append("recorded")
            return cast(AttemptOutcome, None)
        finally:
            log.append("closed")

    attempts = ParallelAttempts([cast(Place, name) for name in "12"])
    for task, steps in (("s-1", work()), ("s-2", fail())):
        place = attempts.find_free_place()
        assert place
        attempts.start(RunningAttempt(task, cast(Harness, None), place, steps))
    assert attempts.find_free_place() is None
    reports = [attempts.await_report() for _ in range(2)]
    assert {attempt.task for attempt, _ in reports} == {"s-1", "s-2"}
    with pytest.raises(RuntimeError, match="a bug"):
        attempts.await_report()
    assert [attempt.task for attempt in attempts.running] == ["s-1"]
    attempts.cancel()
    assert log == ["closed"]


def assert_nothing_is_left(shop: Shop) -> None:
    """No place, mount, process or lock of a run is there."""
    state = find_project_state(shop.root)
    assert [*state.glob("runs/*/places/*")] == []
    mounts = Path("/proc/self/mountinfo")
    assert str(state) not in (mounts.read_text() if mounts.exists() else "")
    below = psutil.Process().children(recursive=True)
    assert [process for process in below if "CUB_RUN" in _read_environ(process)] == []
    assert {path.name for path in shop.root.glob(".git/**/*.lock")} == {"cub-run.lock"}
    with FileLock(shop.root / ".git/cub-run.lock", timeout=0):
        pass


def _read_environ(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


class Facts(NamedTuple):
    """What must not depend on the number of jobs."""

    tree: list[str]
    statuses: dict[str, str]
    events: set[tuple[str, str, str]]
    commits: list[str]


def _run_workload(root: Path, home: Path, count: int, jobs: int) -> Facts:
    """Run tasks with dependencies, of which every third one edits one file."""
    made = shop(root, home)
    made.write("ids.txt", "a\nz\n")
    made.write(".gitignore", ".cub/\n")
    for number in range(count):
        waits = {"depends_on": [f"s-{number - 4}"]} if number >= 4 and number % 5 == 0 else {}
        made.task(f"s-{number}", priority=number % 3, **waits)
    made.commit("workload")
    made.client(_WORKLOAD)
    done = made.run(jobs=jobs, checks=CHECK)
    assert done.end["end"] == "done"
    assert_nothing_is_left(made)
    files = git(root, "ls-tree", "-r", "HEAD").splitlines()
    tree = [line for line in files if "\t.cub/" not in line]
    # How many conflicts there are depends on how fast each attempt is.
    ends = (event for event in made.ledger() if _get_class(event) != "merge_conflict")
    events = {(str(event["ev"]), str(event.get("task")), _get_class(event)) for event in ends}
    return Facts(tree, {task.id: task.status for task in made.tasks()}, events, sorted(made.log()))


def _get_class(event: Event) -> str:
    return str((event.get("fail") or {}).get("class", ""))


# A check fails at the first attempt at some tasks.
_WORKLOAD = """
cat > /dev/null; rm -f wrong; number=${CUB_TASK#s-}; echo "$CUB_TASK" > "work-$number"
test $((number % 3)) != 0 || { echo "$CUB_TASK" >> ids.txt; LC_ALL=C sort -o ids.txt ids.txt; }
case $CUB_ATTEMPT in */s-*[048]/1) echo "a.py:1:1: F821 $CUB_TASK" > wrong;; esac
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("count", "numbers"), [(5, (1, 3)), pytest.param(40, (1, 2, 4, 8), marks=pytest.mark.thorough)]
)
def test_the_same_comes_out_for_any_number_of_jobs(
    tmp_path: Path, empty_repository: Path, home: Path, count: int, numbers: tuple[int, ...]
) -> None:
    found = []
    for jobs in numbers:
        root = tmp_path / f"jobs-{jobs}"
        shutil.copytree(empty_repository, root)
        found.append(_run_workload(root.resolve(), home, count, jobs))
    one, *others = found
    assert set(one.statuses.values()) == {"closed"}
    for other in others:
        assert other == one
