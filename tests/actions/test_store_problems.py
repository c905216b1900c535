from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.doctor.findings import Finding
from cub.actions.doctor.project_problems import find_store_problems, fix_store_problems
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE, REJECTED_FILE, TASKS_FILE
from tests.actions.tasks.bakery import added, opened, record, statuses
from tests.conftest import tree

A, B = '{"id":"a","status":"open"', '{"id":"b","status":"open"'
LEASE = '"status":"in_progress","assignee":"bob","lease":{"host":"x","expires":"2026-01-01"}'
FIX, REMOVE, GONE = "cub doctor --fix", "cub task dep remove", "which does not exist"
SEVERAL = "a has several lines, probably from a merge; they count as one task"
TWO = "two tasks have the ID a: the newer one is now a-887"
MOVES = f"the next change of tasks moves the line to {REJECTED_FILE}"
NO_TASK = f"invalid JSON: a value is missing, column 1; {MOVES}"
EXPIRED = "the lease of a has expired; the task counts as ready"
SET_ASIDE = "1 invalid line was set aside"


def found(code: str, message: str, fix: str, line: int | None = None) -> Finding:
    return Finding(code, message, TASKS_FILE, line, fix)


FINDINGS = {
    "cycle": (
        [f'{A},"depends_on":["b"]}}', f'{B},"depends_on":["a"]}}'],
        found("D603", "dependency cycle: a → b → a", f"{REMOVE} a b"),
    ),
    "cycle of one": (
        [f'{A},"depends_on":["a"]}}'],
        found("D603", "dependency cycle: a → a", f"{REMOVE} a a"),
    ),
    "missing": (
        [f'{A},"depends_on":["x"]}}'],
        found("D604", "a depends on x, which does not exist", f"{REMOVE} a x"),
    ),
    "two missing": (
        [f'{A},"depends_on":["y","x"]}}'],
        found("D604", "a depends on y, x, which do not exist", f"{REMOVE} a y x"),
    ),
    "no parent": (
        [f'{A},"parent":"x"}}'],
        found("D605", f"the parent of a is x, {GONE}", 'cub task edit a --parent ""'),
    ),
    "duplicate": (
        [f'{A},"title":"1"}}', f'{A},"title":"2"}}'],
        found("D602", SEVERAL, FIX),
    ),
    "taken": (
        [f'{A},"created_at":"2026-01-01"}}', f'{A},"created_at":"2026-01-02"}}'],
        found("D602", TWO, "cub task show a-887"),
    ),
    "invalid": (
        [f"{A}}}", "no task"],
        found("D601", NO_TASK, f"fix the line, or run `{FIX}` to set it aside", 2),
    ),
    "lease": ([f'{{"id":"a",{LEASE}}}'], found("D606", EXPIRED, FIX)),
}
FIXED = {"duplicate", "taken", "lease"}


def lines(root: Path, *texts: str) -> None:
    (root / ".cub").mkdir(exist_ok=True)
    (root / TASKS_FILE).write_text("".join(f"{text}\n" for text in texts))


def test_nothing_is_wrong_with_no_tasks_and_with_good_ones(project: Path) -> None:
    assert list(find_store_problems(opened(project))) == []
    assert tree(project) == {}
    added(project, depends_on=[added(project)])
    assert list(find_store_problems(opened(project))) == []


def test_a_broken_line_of_the_ledger_is_named(project: Path) -> None:
    (project / ".cub").mkdir()
    for path in (LEDGER_FILE, ARCHIVE_FILE):
        (project / path).write_bytes(b'{"ev":"note"}\n\n{"ev":"no\n[1]\n\xff\n{"ev":"note"}')
    findings = list(find_store_problems(opened(project)))
    assert [(one.code, one.path, one.line) for one in findings] == [
        ("D610", path, line) for path in (LEDGER_FILE, ARCHIVE_FILE) for line in (3, 4, 5)
    ]
    assert {one.fix for one in findings} == {"fix the line, or delete it"}
    assert all(one.message.endswith("; cub leaves this event out") for one in findings)


@pytest.mark.parametrize("case", FINDINGS)
def test_each_fault_is_found_once_with_what_to_do(project: Path, case: str) -> None:
    texts, finding = FINDINGS[case]
    lines(project, *texts)
    assert list(find_store_problems(opened(project))) == [finding]
    assert (project / TASKS_FILE).read_text().splitlines() == texts


@pytest.mark.parametrize("case", FINDINGS)
def test_what_needs_no_decision_is_fixed(project: Path, case: str) -> None:
    texts, finding = FINDINGS[case]
    lines(project, *texts)
    fix_store_problems(opened(project))
    left = list(find_store_problems(opened(project)))
    if case == "invalid":
        assert [one.message for one in left] == [SET_ASIDE]
    else:
        assert left == ([] if case in FIXED else [finding])


def test_a_fixed_file_has_a_line_for_each_task(project: Path) -> None:
    lines(
        project,
        "junk",
        *FINDINGS["duplicate"][0],
        f'{{"id":"c",{LEASE}}}',
        f"{B}}}",
        "junk",
        "rest",
    )
    outcome = fix_store_problems(opened(project))
    assert [task["id"] for task in outcome.tasks] == ["c"]
    assert len((project / TASKS_FILE).read_text().splitlines()) == 3
    assert (project / REJECTED_FILE).read_text() == "junk\nrest\n"
    assert (statuses(project, "a", "b", "c"), record(project, "a")["title"]) == (["open"] * 3, "2")
    assert [one.message for one in outcome.warnings][:1] == [NO_TASK]


def test_lines_set_aside_are_reported_until_the_file_is_deleted(project: Path) -> None:
    lines(project, f"{A}}}", "junk")
    fix_store_problems(opened(project))
    lines(project, f"{A}}}", "more")
    messages = [finding.message for finding in list(find_store_problems(opened(project)))]
    assert messages[1:] == [SET_ASIDE]
    fix_store_problems(opened(project))
    assert [one.message for one in list(find_store_problems(opened(project)))] == [
        "2 invalid lines were set aside"
    ]
    (project / REJECTED_FILE).unlink()
    assert list(find_store_problems(opened(project))) == []
