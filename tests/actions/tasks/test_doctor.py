from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.tasks.doctor import fix_problems, list_findings
from cub.actions.tasks.task_findings import TaskProblem
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from tests.actions.tasks.bakery import added, opened, record, statuses
from tests.conftest import tree

A, B = '{"id":"a","status":"open"', '{"id":"b","status":"open"'
LEASE = '"status":"in_progress","assignee":"bob","lease":{"host":"x","expires":"2026-01-01"}'
FIX, REMOVE, GONE = "`cub task doctor --fix`", "run `cub task dep remove", "which does not exist"
SEVERAL = "a has several lines after a merge; cub reads them as one task"
TWO = "two tasks have the ID a: the newer one is now a-887"
MOVES = f"the next change moves this line to {REJECTED_FILE}"
NO_TASK = f"this is not JSON: expecting value, column 1; {MOVES}"
LAPSED = "the claim on a has expired; the task is ready"

FINDINGS = {
    "circle": (
        [f'{A},"depends_on":["b"]}}', f'{B},"depends_on":["a"]}}'],
        TaskProblem("cycle", "a", "dependency cycle: a → b → a", f"{REMOVE} a b` to break it"),
    ),
    "circle of one": (
        [f'{A},"depends_on":["a"]}}'],
        TaskProblem("cycle", "a", "dependency cycle: a → a", f"{REMOVE} a a` to break it"),
    ),
    "missing": (
        [f'{A},"depends_on":["x"]}}'],
        TaskProblem("dangling", "a", "a waits for x, which does not exist", f"{REMOVE} a x`"),
    ),
    "two missing": (
        [f'{A},"depends_on":["y","x"]}}'],
        TaskProblem("dangling", "a", "a waits for y, x, which do not exist", f"{REMOVE} a y x`"),
    ),
    "no parent": (
        [f'{A},"parent":"x"}}'],
        TaskProblem(
            "dangling", "a", f"a is part of x, {GONE}", 'run `cub task edit a --parent ""`'
        ),
    ),
    "doubled": (
        [f'{A},"title":"1"}}', f'{A},"title":"2"}}'],
        TaskProblem(
            "duplicate", "a", SEVERAL, f"run {FIX} to merge them; the next change also does"
        ),
    ),
    "taken": (
        [f'{A},"created_at":"2026-01-01"}}', f'{A},"created_at":"2026-01-02"}}'],
        TaskProblem("duplicate", "a", TWO, "check which one the tasks that depend on a need"),
    ),
    "rejected": ([f"{A}}}", "no task"], TaskProblem("rejected", "", NO_TASK, line=2)),
    "lease": (
        [f'{{"id":"a",{LEASE}}}'],
        TaskProblem("lease", "a", LAPSED, f"claim it, or run {FIX} to release it"),
    ),
}
MENDED = {"doubled", "taken", "lease"}


def lines(root: Path, *texts: str) -> None:
    (root / ".cub").mkdir(exist_ok=True)
    (root / TASKS_FILE).write_text("".join(f"{text}\n" for text in texts))


def test_nothing_is_wrong_with_no_tasks_and_with_good_ones(project: Path) -> None:
    assert list_findings(opened(project)) == []
    assert tree(project) == {}
    added(project, depends_on=[added(project)])
    assert list_findings(opened(project)) == []


@pytest.mark.parametrize("case", FINDINGS)
def test_each_fault_is_found_once_with_what_to_do(project: Path, case: str) -> None:
    texts, finding = FINDINGS[case]
    lines(project, *texts)
    assert list_findings(opened(project)) == [finding]
    assert (project / TASKS_FILE).read_text().splitlines() == texts


@pytest.mark.parametrize("case", FINDINGS)
def test_what_needs_no_choice_is_mended(project: Path, case: str) -> None:
    texts, finding = FINDINGS[case]
    lines(project, *texts)
    fix_problems(opened(project))
    left = list_findings(opened(project))
    if case == "rejected":
        assert [one.message for one in left] == [f"1 rejected line in {REJECTED_FILE}"]
    else:
        assert left == ([] if case in MENDED else [finding])


def test_a_mended_file_has_a_line_for_each_task(project: Path) -> None:
    lines(
        project, "junk", *FINDINGS["doubled"][0], f'{{"id":"c",{LEASE}}}', f"{B}}}", "junk", "rest"
    )
    outcome = fix_problems(opened(project))
    assert [task["id"] for task in outcome.tasks] == ["c"]
    assert len((project / TASKS_FILE).read_text().splitlines()) == 3
    assert (project / REJECTED_FILE).read_text() == "junk\nrest\n"
    assert (statuses(project, "a", "b", "c"), record(project, "a")["title"]) == (["open"] * 3, "2")
    assert [one.message for one in outcome.warnings][:1] == [NO_TASK]


def test_rejected_lines_of_earlier_are_told_until_somebody_looks(project: Path) -> None:
    lines(project, f"{A}}}", "junk")
    fix_problems(opened(project))
    lines(project, f"{A}}}", "more")
    messages = [finding.message for finding in list_findings(opened(project))]
    assert messages[1:] == [f"1 rejected line in {REJECTED_FILE}"]
    fix_problems(opened(project))
    assert [one.message for one in list_findings(opened(project))] == [
        f"2 rejected lines in {REJECTED_FILE}"
    ]
    (project / REJECTED_FILE).unlink()
    assert list_findings(opened(project)) == []
