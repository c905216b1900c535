"""What is left when a run has ended, and what the next one makes of it."""

from __future__ import annotations

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.tasks.transitions import park_tasks
from cub.store.events import Event
from tests.actions.run.shop import Shop
from tests.conftest import git

WRITE = 'echo "$CUB_TASK" > "$CUB_TASK.txt"'


def test_what_could_not_be_merged_is_kept_with_the_line_that_merges_it(bakery: Shop) -> None:
    lock = bakery.root / ".git/index.lock"

    def each(event: Event) -> None:
        if event["ev"] == "attempt_start":
            lock.mkdir()  # no file, as a lock of git's is: nobody removes it

    done = bakery.run_agent(WRITE, each=each)
    assert (done.outcomes, bakery.status()) == (["not_merged"], "parked")
    lock.rmdir()
    assert not (bakery.root / "s-1.txt").exists()
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    (ref,) = git(bakery.root, "for-each-ref", "--format=%(refname)", "refs/cub/kept").split()
    assert f"git merge {ref}" in reason
    git(bakery.root, "merge", "-q", ref)
    assert (bakery.root / "s-1.txt").read_text() == "s-1\n"


@pytest.mark.parametrize("word", ["resets 3pm (UTC)", "come back some day"])
def test_a_limit_that_the_client_tells_itself_is_one_whatever_its_words(
    bakery: Shop, word: str
) -> None:
    bakery.client(f"""
        cat > /dev/null; test $(basename "$CUB_ATTEMPT") = 2 && echo x > x && exit 0
        echo '{{"type":"limit","text":"{word}"}}'; exit 1""")
    bakery.task()
    done = bakery.run()
    assert done.outcomes == ["rate_limited", "ok"]
    assert len(bakery.clock.waits) == 1
    assert [event["ready"] for event in done.of("waiting")] == [1]


def test_git_looks_away_from_what_runs_keep_without_cubs_gitignore(bakery: Shop) -> None:
    bakery.run_agent(WRITE, checks="true")
    (bakery.cub / ".gitignore").unlink()
    shown = git(bakery.root, "status", "--porcelain", "--untracked-files=all")
    assert not [line for line in shown.splitlines() if "/runs/" in line or "/cache/" in line]


def test_a_task_that_a_person_parks_meanwhile_stays_so_and_is_told_so(bakery: Shop) -> None:

    def each(event: Event) -> None:
        if event["ev"] == "attempt_start":
            park_tasks(bakery.stores, ["s-1"], "not now")

    done = bakery.run_agent("exit 1", each=each)
    assert bakery.status() == "parked"
    assert [event["status"] for event in done.of("task_state")] == ["parked"]
    assert done.end["tasks"] == {"parked": 1}


def test_nothing_that_only_a_run_at_work_needs_is_left(bakery: Shop) -> None:
    done = bakery.run_agent(WRITE)
    folder = RunFolder(bakery.root, done.end["run"])
    assert [path.name for path in folder.path.iterdir() if path.is_file()] == ["run.json"]
    assert sorted(path.name for path in folder.state.iterdir() if path.is_file()) == [
        "lock", "run.json", "status.json",
    ]  # fmt: skip
    assert not git(bakery.root, "for-each-ref", "refs/worktree", "refs/cub")
