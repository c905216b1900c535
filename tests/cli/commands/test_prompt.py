"""`cub prompt` as a process: what it prints, byte for byte, and how it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cub.actions.build_prompt import build_task_prompt
from cub.actions.tasks.stores import open_stores
from cub.project.project import Project
from cub.prompt.templates import load_shipped_templates
from cub.store.ledger import Ledger
from cub.store.store_paths import TASKS_FILE
from tests.conftest import Cub, tree
from tests.prompt.bakery import CLOSING, EPIC, ITEMS, TASK, check, ended
from tests.store.stores import put

KEY = TASK["id"]
TITLES = ["CURRENT TASK", "EPIC CONTEXT", "Task Management", "When Complete"]


@pytest.fixture
def bakery(project: Path) -> Path:
    """A project with a task of an epic, and many others."""
    (project / ".cub").mkdir()
    made = {"rev": 1, "status": "open", "priority": 2, "created_at": "2026-01-01T00:00:00.000Z"}
    more = [{"id": f"bake-m{n:04}", "title": f"Loaf {n}", "parent": EPIC["id"]} for n in range(60)]
    put(project, [{**made, **one} for one in [EPIC, {**TASK, "parent": EPIC["id"]}, *more]])
    return project


def test_it_prints_the_very_prompt_and_changes_nothing(bakery: Path, cub: Cub) -> None:
    before = tree(bakery)
    printed = cub("prompt", "k3f9a")
    assert (printed.code, printed.err) == (0, "")
    text = build_task_prompt(open_stores(Project.load(bakery), "ann"), KEY).prompt.text
    assert printed.out == text
    assert text.endswith("`\n")
    assert re.findall(r"(?m)^## (.*)$", text) == TITLES
    assert all(f"`{command}`" in text for command in CLOSING)
    assert tree(bakery) == before


def test_the_system_prompt_needs_no_task(bakery: Path, cub: Cub) -> None:
    assert cub("prompt", "--system").out == load_shipped_templates().read_file("runloop.md")
    (bakery / ".cub/runloop.md").write_bytes("# Mine é\r\n".encode())
    printed = cub("prompt", "--system")
    assert (printed.code, printed.out, printed.err) == (0, "# Mine é\n", "")


@pytest.mark.usefixtures("bakery")
def test_explain_lists_sections_costs_and_cuts(cub: Cub) -> None:
    lines = cub("prompt", KEY, "--explain").out.splitlines()
    rows = [re.split(r"  +", line) for line in lines if not line.startswith("cut: ")]
    assert [row[0] for row in rows] == ["section", *TITLES, "in all"]
    costs = [int(row[1].replace(",", "")) for row in rows[1:]]
    assert sum(costs[:-1]) == costs[-1]
    assert lines[len(rows) :] == ["cut: 30 of 60 remaining tasks are named"]


@pytest.mark.usefixtures("bakery")
def test_a_budget_cuts_and_says_so(cub: Cub) -> None:
    printed = cub("prompt", KEY, "--tokens", "400")
    told = cub("prompt", KEY, "--tokens", "400", "--explain").out
    left = 30 - printed.out.count("- bake-m")
    assert 0 < left < 30
    assert f"cut: {left} of 30 remaining tasks are left out: the budget of 400 tokens\n" in told
    assert (printed.code, printed.err) == (0, "")
    least = cub("prompt", KEY, "--tokens", "1")
    assert (least.code, TASK["description"] in least.out) == (0, True)
    assert least.err == "The task alone is over the budget: it is never cut.\n"


@pytest.mark.parametrize("arguments", [[], ["--explain"], [KEY, "--tokens", "0"], [KEY, "--nope"]])
@pytest.mark.usefixtures("bakery")
def test_a_wrong_command_line_ends_with_2(cub: Cub, arguments: list[str]) -> None:
    assert cub("prompt", *arguments).code == 2


@pytest.mark.usefixtures("bakery")
def test_an_unknown_task_ends_with_1_and_those_that_are_near(cub: Cub) -> None:
    refused = cub("prompt", "bake-k3f9b")
    assert (refused.code, refused.out) == (1, "")
    assert "there is no task 'bake-k3f9b'" in refused.err
    assert f"did you mean {KEY}" in refused.err


def test_a_failed_attempt_in_the_ledger_makes_it_a_retry(bakery: Path, cub: Cub) -> None:
    first = cub("prompt", KEY).out
    Ledger(bakery).append_events(ended(1, checks=[check(ITEMS)]))
    again = cub("prompt", KEY).out
    assert "## PREVIOUS ATTEMPT\n\nThis task was attempted before" in again
    assert "- 3 failing\n" in again
    Ledger(bakery).append_events({**ended(2), "ok": True})
    assert cub("prompt", KEY).out == first


@pytest.mark.thorough
def test_it_is_the_same_bytes_wherever_it_runs(bakery: Path, cub_interpreter: Cub) -> None:
    for number in (1, 2, 3):
        Ledger(bakery).append_events(
            ended(number, checks=[check(ITEMS)], git={"files": ["a", "b", "ü"]})
        )
    places = [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
        {"PYTHONHASHSEED": "3", "PYTHONIOENCODING": "latin-1", "TZ": "America/New_York"},
    ]
    first, *others = [cub_interpreter("prompt", KEY, **place) for place in places]
    assert first.code == 0
    assert others == [first] * 2


def test_damaged_lines_are_told_on_stderr(bakery: Path, cub: Cub) -> None:
    with (bakery / TASKS_FILE).open("ab") as file:
        file.write(b'{"id":\n')
    printed = cub("prompt", KEY)
    assert (printed.code, printed.out[:16]) == (0, "## CURRENT TASK\n")
    assert "warning:" in printed.err
