"""`cub doctor`: the findings as text and as JSON, the selection of codes, `--fix`, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from tests.cli.standing import stand
from tests.cli.tasks import put
from tests.conftest import Cub, tree

LEASE = {"status": "in_progress", "assignee": "bob", "lease": {"expires": "2026-01-01"}}
SICK = (
    {"id": "a", "depends_on": ["b"], "parent": "zz"}, {"id": "b", "depends_on": ["a"]},
    {"id": "c", "depends_on": ["zz"]}, {"id": "d", **LEASE}, {"id": "d", **LEASE}, "junk",
)  # fmt: skip
MOVES = f"the next change of tasks moves the line to {REJECTED_FILE}"
TASKS = ("doctor", "--select", "D6")
SERIOUS = f"""\
D603 {TASKS_FILE}: dependency cycle: a → b → a
     fix: cub task dep remove a b
D604 {TASKS_FILE}: c depends on zz, which does not exist
     fix: cub task dep remove c zz

Warnings
"""
PARENT = f"""\
D605 {TASKS_FILE}: the parent of a is zz, which does not exist
     fix: cub task edit a --parent ""
"""
FOUND = f"""\
Errors
D601 {TASKS_FILE}:6: invalid JSON: a value is missing, column 1; {MOVES}
     fix: fix the line, or run `cub doctor --fix` to set it aside
{SERIOUS}D602 {TASKS_FILE}: d has several lines, probably from a merge; they count as one task
     fix: cub doctor --fix
{PARENT}D606 {TASKS_FILE}: the lease of d has expired; the task counts as ready
     fix: cub doctor --fix

"""
FIXED = f"""\
Errors
{SERIOUS}{PARENT}D607 {REJECTED_FILE}: 1 invalid line was set aside
     fix: copy what you need to {TASKS_FILE}, then delete {REJECTED_FILE}

"""
DOCS = "docs/reference/doctor.md describes each code.\n"


def codes(cub: Cub, *words: str) -> list[str]:
    return [one["code"] for one in json.loads(cub("doctor", "--json", *words).out)["findings"]]


def test_problems_are_printed_by_severity_and_nothing_is_changed(cub: Cub, project: Path) -> None:
    put(project, *SICK)
    before = stand(project)
    done = cub(*TASKS)
    assert (done.code, done.out, done.err) == (1, FOUND, f"3 errors, 3 warnings. {DOCS}")
    assert stand(project) == before


def test_programs_get_the_same(cub: Cub, project: Path) -> None:
    put(project, *SICK)
    done = cub(*TASKS, "--json")
    found = json.loads(done.out)
    assert (done.code, done.err, found["v"], found["root"]) == (1, "", 1, project.as_posix())
    assert [(one["code"], one["line"]) for one in found["findings"]] == [
        ("D601", 6), ("D603", None), ("D604", None), ("D602", None), ("D605", None), ("D606", None),
    ]  # fmt: skip
    first = found["findings"][0]
    assert [*first] == ["code", "severity", "message", "path", "line", "fix", "docs"]
    assert (first["severity"], first["docs"]) == ("error", "docs/reference/doctor.md#d601")
    assert found["counts"] == {"error": 3, "warning": 3, "info": 0}


def test_fix_changes_what_needs_no_decision_and_the_fixes_solve_the_rest(
    cub: Cub, project: Path
) -> None:
    put(project, *SICK)
    done = cub(*TASKS, "--fix")
    assert (done.code, done.out) == (1, FIXED)
    assert done.err.startswith(f"warning: {TASKS_FILE}:6: invalid JSON: ")
    assert done.err.endswith(f"Released d.\n2 errors, 2 warnings. {DOCS}")
    again = tree(project)
    assert cub(*TASKS, "--fix").out == FIXED
    assert tree(project) == again
    for command in ("dep remove a b", "dep remove c zz"):
        assert cub("task", *command.split()).code == 0
    assert cub("task", "edit", "a", "--parent", "").code == 0
    (project / REJECTED_FILE).unlink()
    well = cub(*TASKS)
    assert (well.code, well.out, well.err) == (0, "", "No problems found.\n")


def test_warnings_alone_end_with_0(cub: Cub, project: Path) -> None:
    put(project, {"id": "d", **LEASE})
    done = cub(*TASKS)
    assert (done.code, done.err) == (0, f"1 warning. {DOCS}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--select", "D603"), ["D603"]),
        (("--select", "D603,d604"), ["D603", "D604"]),
        (("--select", "D6", "--ignore", "D60"), []),
        (("--select", "D6", "--ignore", "D603", "--ignore", "D604,D601"), ["D602", "D605", "D606"]),
        (("--select", "D60", "--select", "D602", "--ignore", "D60"), ["D602"]),
    ],
)
def test_codes_and_prefixes_are_selected_and_the_longer_one_wins(
    cub: Cub, project: Path, words: tuple[str, ...], expected: list[str]
) -> None:
    put(project, *SICK)
    assert codes(cub, *words) == expected


@pytest.mark.parametrize(
    ("option", "word", "hint"),
    [
        ("--select", "D999", "choose from D1 (git), D2 (agents)"),
        ("--ignore", "d6o3", "did you mean 'D603'"),
        ("--select", "E501", "'D501'"),
        ("--ignore", "zebra", "choose from"),
    ],
)
def test_an_unknown_code_is_refused(
    cub: Cub, project: Path, option: str, word: str, hint: str
) -> None:
    put(project, *SICK)
    before = stand(project)
    done = cub("doctor", "--fix", option, word)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {option}: unknown code '{word}'\nhint: ")
    assert hint in done.err
    assert stand(project) == before
