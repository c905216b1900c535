"""A run from the first task to the last one.

What a run says at its end: commits to merge, tasks that only a person frees, bookkeeping.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.tasks.transitions import park_tasks
from cub.cli.commands.run.event_lines import format_event_lines
from cub.store.events import Event
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from tests.actions.run.shop import CHECK, Shop
from tests.conftest import git
from tests.examples import keep_few
from tests.git.checkouts import state

STORE_FILES = (TASKS_FILE, LEDGER_FILE)
WRITE = 'echo "$CUB_TASK" > "$CUB_TASK.txt"'


def test_tasks_are_worked_off_in_their_order_a_commit_each(bakery: Shop) -> None:
    bakery.task("s-1", priority=3)
    bakery.task("s-2", priority=1, issue_type="feature", title="Bake\n bread")
    done = bakery.run_agent(WRITE)
    assert done.outcomes == ["ok", "ok"]
    assert bakery.log() == [
        "task(s-1): Do s-1", "feature(s-2): Bake bread", "start",
    ]  # fmt: skip
    assert not git(bakery.root, "status", "--porcelain", "--", *STORE_FILES)
    assert [bakery.status(key) for key in ("s-1", "s-2")] == ["closed", "closed"]
    assert done.end["end"] == "done"
    assert done.end["ok"]
    assert not bakery.dirt()


def test_nothing_ready_is_no_failure(bakery: Shop) -> None:
    bakery.task("s-1", status="parked")
    done = bakery.run_agent(WRITE)
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
    assert "shop.py:7" in bakery.read_prompt(done)
    assert "wrong" in (bakery.root / first["git"]["patch"]).read_text()
    assert bakery.log() == ["task(s-1): Do s-1", "start"]
    assert not (bakery.root / "wrong").exists()
    assert (bakery.root / "fixed").exists()


def test_a_new_failure_beside_an_old_one_counts(bakery: Shop) -> None:
    bakery.write("wrong", "shop.py:7:1: F821 old\n")
    bakery.commit()
    done = bakery.run_agent("echo 'shop.py:9:1: F821 new' >> wrong", checks=CHECK, once=True)
    assert done.outcomes == ["checks_failed"]
    assert done.of("attempt_end")[0]["fail"]["reason"] == "shop.py:9:1: F821 new (new)"
    assert (bakery.root / "wrong").read_text() == "shop.py:7:1: F821 old\n"


def test_the_same_failure_three_times_parks(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 9})
    done = bakery.run_agent("echo 'a.py:1:1: F821 x' > wrong", checks=CHECK)
    assert done.outcomes == ["checks_failed"] * 3
    assert bakery.status() == "parked"
    third = bakery.read_prompt(done)
    assert "same 1 failure, 2 times" in third
    assert "take another way" in third.lower()
    failures = [end["fail"].get("same") for end in done.of("attempt_end")]
    checks = [end.get("same") for end in done.of("check_end") if not end["base"]]
    assert (failures, checks) == ([None, 1, 1], [None, 1, 1])


def said(events: Iterable[Event]) -> str:
    return "\n".join(line for event in events for line in format_event_lines(event))


def test_the_commits_of_a_branch_and_the_line_that_merges_them(bakery: Shop) -> None:
    bakery.add_tasks(2)
    branch = "night"
    done = bakery.run_agent(WRITE, branch=branch, cwd=bakery.root)
    assert done.end["branch"] == {
        "name": branch,
        "n": 2,
        "commits": git(
            bakery.root, "log", "--reverse", "--format=%h %s", f"..{branch}"
        ).splitlines(),
        "merge": f"git merge {branch}",
    }
    lines = said([done.end]).splitlines()
    at = lines.index(f"2 commits are on {branch}:")
    assert [line.split(" ", 3)[3] for line in lines[at + 1 : at + 3]] == [
        "task(s-1): Do s-1", "task(s-2): Do s-2",
    ]  # fmt: skip
    assert lines[at + 3 :] == ["", f"  git merge {branch}"]
    git(bakery.root, *done.end["branch"]["merge"].split()[1:], "--quiet")
    assert (bakery.root / "s-2.txt").exists()


def test_who_stands_elsewhere_is_told_where_to_merge(bakery: Shop, tmp_path: Path) -> None:
    inner = bakery.root / "in ner"
    inner.mkdir()
    done = bakery.run_agent(WRITE, branch="inner", cwd=inner)
    assert done.end["branch"]["merge"].startswith("git merge ")
    bakery.task("s-2")
    done = bakery.run(cwd=tmp_path, branch="it's/{run}")
    name = f"""'it'"'"'s/{done.end["run"]}'"""
    assert done.end["branch"]["merge"] == f"git -C {bakery.root} merge {name}"


@pytest.mark.thorough
def test_of_many_commits_few_are_named(bakery: Shop) -> None:
    bakery.add_tasks(13)
    branch = bakery.run_agent(WRITE, branch="night").end["branch"]
    assert (branch["n"], len(branch["commits"])) == (13, 10)
    assert branch["commits"][-1].endswith("task(s-10): Do s-10")
    assert "  and 3 more\n" in said([{**bakery.run(branch="night").end, "branch": branch}])


def test_a_branch_of_ones_own_is_told_with_all_that_a_merge_brings(bakery: Shop) -> None:
    bakery.run_agent(WRITE, branch="night")
    bakery.task("s-2")
    done = bakery.run(branch="night")
    assert (done.end["branch"]["name"], done.end["branch"]["n"]) == ("night", 2)


def test_where_there_is_nothing_to_merge_the_run_says_so(bakery: Shop) -> None:
    branch = "night"
    done = bakery.run_agent("exit 1", branch=branch, once=True)
    assert done.end["branch"] == {"name": branch, "n": 0, "commits": []}
    last = said([done.end]).splitlines()[-1]
    assert last == f"There is nothing to merge: {branch} has no commit that is not here."


def test_in_the_person_s_own_checkout_there_is_nothing_to_tell(bakery: Shop) -> None:
    done = bakery.run_agent(WRITE, no_checks=True)
    assert "branch" not in done.end
    assert "merge" not in said([done.end])


def test_where_only_parked_tasks_are_left_they_are_named(bakery: Shop) -> None:
    bakery.task(status="parked")
    bakery.task("s-2", status="parked", issue_type="epic")
    bakery.task("s-3", status="closed")
    end = bakery.run_agent(WRITE).end
    assert (end["end"], end["ok"]) == ("nothing_ready", True)
    assert end["left_parked"] == {"n": 1, "tasks": [{"id": "s-1", "title": "Do s-1"}]}
    assert said([end]).splitlines() == [
        "",
        "Nothing is ready.",
        "",
        "1 task is parked. To retry it, run `cub task reopen s-1`.",
        "  s-1: Do s-1",
    ]


def test_of_many_parked_tasks_few_are_named(bakery: Shop) -> None:
    bakery.task("s-e", issue_type="epic")
    for number in range(14):
        bakery.task(f"s-{number}", status="parked", **({"parent": "s-e"} if number < 12 else {}))
    end = bakery.run_agent(WRITE, epic="s-e").end
    assert (end["left_parked"]["n"], len(end["left_parked"]["tasks"])) == (12, 10)
    text = said([end])
    assert "12 tasks are parked. To retry one, run `cub task reopen ID`.\n" in text
    assert text.endswith("\n  and 2 more: `cub task list --status parked`")


def test_tasks_that_the_run_itself_parked_are_named_as_well(bakery: Shop) -> None:
    bakery.task()
    bakery.task("s-2", status="parked")
    end = bakery.run_agent("exit 1").end
    assert (end["end"], end["parked"]) == ("done", ["s-1"])
    why = "3 attempts failed in the same way (harness_exit)"
    assert end["left_parked"]["tasks"] == [
        {"id": "s-1", "title": "Do s-1", "why": why},
        {"id": "s-2", "title": "Do s-2"},
    ]


def test_what_a_run_parked_is_named_with_its_question_while_others_are_ready(bakery: Shop) -> None:
    question = "Which oven should I use? " * 50 + "And when: at night?"
    bakery.task("s 1")
    bakery.task("s-2")
    bakery.task("s-3", status="parked")
    end = bakery.run_agent(f"echo '<stuck>{question}</stuck>'", once=True).end
    why = "it waits for an answer"
    assert end["left_parked"]["tasks"] == [
        {"id": "s 1", "title": "Do s 1", "why": why, "question": question}
    ]
    assert said([end]).splitlines()[-4:] == [
        "1 task is parked. To retry it, run `cub task reopen 's 1'`.",
        "  s 1: Do s 1",
        f"    {why}: {question}",
        "    cub task edit 's 1' --note \"…\" && cub task reopen 's 1'",
    ]


def test_what_a_person_has_to_change_for_a_parked_task_is_told(bakery: Shop) -> None:
    """Without it, a reopened task would fail in the same way."""
    bakery.write("GEMINI.md", "Be kind.\n")
    bakery.commit("rules")
    bakery.configure(run={"max_attempts": 1})
    end = bakery.run_agent("rm GEMINI.md").end
    remedy = "name the file in the task if it is to be changed"
    assert end["left_parked"]["tasks"][0]["remedy"] == remedy
    assert said([end]).splitlines()[-2:] == [f"    hint: {remedy}", "    cub run show s-1"]


def test_a_check_that_can_decide_nothing_is_named_once(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 2})
    bakery.add_tasks(2)
    done = bakery.run_agent("exit 1", checks="exit 3")
    assert len(done.outcomes) == 4
    assert done.notices.count("`exit 3`") == 1


def test_the_reason_that_a_person_gave_is_told_as_well(bakery: Shop) -> None:
    bakery.task()
    park_tasks(bakery.stores, ["s-1"], "not\nnow")
    (task,) = bakery.run_agent(WRITE).end["left_parked"]["tasks"]
    assert task["why"] == "not now"


def test_the_commits_of_a_run_are_named_with_their_tasks(bakery: Shop) -> None:
    bakery.configure(run={"message": "Bake {title}"})
    bakery.task(title="bread")
    bakery.task("s-2", title="rolls")
    end = bakery.run_agent(WRITE).end
    short = git(bakery.root, "log", "--format=%h", "--reverse", "-n", "2").split()
    assert end["commits"] == {
        "n": 2,
        "list": [
            {"id": short[0], "subject": "Bake bread", "task": "s-1"},
            {"id": short[1], "subject": "Bake rolls", "task": "s-2"},
        ],
    }
    assert said([end]).endswith(
        f"\n2 commits:\n  {short[0]} Bake bread (s-1)\n  {short[1]} Bake rolls (s-2)"
    )


def test_while_tasks_are_ready_parked_ones_are_no_matter(bakery: Shop) -> None:
    bakery.add_tasks(2)
    bakery.task("s-3", status="parked")
    assert "left_parked" not in bakery.run_agent(WRITE, once=True).end


def test_where_nothing_was_done_nothing_is_committed(bakery: Shop) -> None:
    bakery.client(WRITE)
    bakery.task(status="parked")
    head = bakery.commit("tasks")
    before = dict(state(bakery.root))
    bakery.run()
    assert bakery.head == head
    after = state(bakery.root)
    assert {path: after.get(path) for path in before} == before
    assert not RunFolder.list_all(bakery.root)


def test_a_tasks_commit_contains_its_records(bakery: Shop) -> None:
    bakery.task("s-0", issue_type="epic")
    bakery.task(parent="s-0")
    done = bakery.run_agent(WRITE)
    assert bakery.log() == ["task(s-1): Do s-1", "start"]
    tasks = TaskIndex.parse(git(bakery.root, "show", f"HEAD:{TASKS_FILE}").encode())
    assert (tasks["s-1"].status, tasks["s-0"].status) == ("closed", "closed")
    lines = map(json.loads, git(bakery.root, "show", f"HEAD:{LEDGER_FILE}").splitlines())
    (end,) = (event for event in lines if event["ev"] == "attempt_end")
    assert (end["ok"], end["git"]["base"]) == (
        True,
        git(bakery.root, "rev-parse", "HEAD~1").strip(),
    )
    assert done.of("attempt_end")[0]["git"]["head"] == bakery.head
    assert not git(bakery.root, "status", "--porcelain", "--", *STORE_FILES)


@pytest.mark.parametrize("shell", ["cat > /dev/null; exit 1", "echo 'Status: no_change'"])
def test_without_changes_the_records_are_not_committed(bakery: Shop, shell: str) -> None:
    """They go into the next task's commit, as those of `cub task add` do."""
    bakery.client(shell)
    bakery.task()
    bakery.commit("tasks")
    bakery.run(once=True)
    assert bakery.log()[0] == "tasks"
    bakery.task("s-2")
    bakery.run_agent(WRITE, once=True, task="s-2")
    assert bakery.log()[:2] == ["task(s-2): Do s-2", "tasks"]
    assert not git(bakery.root, "status", "--porcelain", "--", *STORE_FILES)


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize(
    ("local", "committed"),
    keep_few(
        [
            (("tasks",), {".cub/ledger.jsonl"}),
            (("ledger",), {".cub/tasks.jsonl"}),
            (("tasks", "ledger"), set[str]()),
        ],
        3,
    ),
)
def test_what_is_kept_local_is_in_no_commit_of_a_run(
    bakery: Shop, tracked: bool, local: tuple[str, ...], committed: set[str]
) -> None:
    bakery.client(WRITE)
    bakery.task()
    bakery.write(".cub/ledger.jsonl", "")
    if tracked:
        bakery.commit("stores")
    bakery.configure(**{name: {"commit": False} for name in local})
    head = bakery.head
    bakery.run()
    changed = git(bakery.root, "log", "--format=", "--name-only", f"{head}..").split()
    assert {path for path in changed if "jsonl" in path} == committed
    assert "s-1.txt" in changed
    assert bakery.log()[0] == "task(s-1): Do s-1"
    assert bakery.status() == "closed"
