"""`cub task delete` for people and programs, and in an attempt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.store.store_paths import TASKS_FILE
from tests.attempts import enter_attempt
from tests.cli.tasks import ALL, put
from tests.cli.terminal import in_terminal
from tests.conftest import Cub, tree

BACK = "Run `cub task reopen ID` to restore a deleted task.\n"


def test_deleting_tells_what_went_and_how_it_comes_back(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    done = cub("task", "delete", "shop1", "--recursive", "--yes", "-m", "Sold")
    assert (done.code, done.err) == (0, BACK)
    assert done.out == (
        "Deleted b-shop1: Open the shop\n"
        "Deleted b-shop1.1: Heat the oven\n"
        "Deleted b-shop1.2: Bake [bold]bread[/bold] :key:\n"
    )
    assert "b-shop1" not in cub("task", "list", "--status", "all").out
    gone = cub("task", "list", "-s", "deleted").out
    assert "b-shop1.1  P0   task  deleted  Heat the oven" in gone
    assert cub("task", "show", "shop1.1").err.startswith("error: b-shop1.1 was deleted on ")
    assert "deleted" in cub("ledger", "show", "b-shop1").out
    assert cub("task", "reopen", "shop1.1").out == "Reopened b-shop1.1: Heat the oven\n"
    assert cub("task", "show", "shop1.1").code == 0


def test_programs_get_the_deleted_tasks(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    done = cub("task", "delete", "flour", "-y", "--json")
    (task,) = json.loads(done.out)["tasks"]
    assert (done.err, task["id"], task["status"]) == ("", "b-flour", "closed")
    assert task["deleted_at"] == task["updated_at"]
    listed = json.loads(cub("task", "list", "--json").out)["tasks"]
    assert {one["deleted_at"] for one in listed} == {None}
    gone = json.loads(cub("task", "list", "--status", "deleted", "--json").out)["tasks"]
    assert [one["id"] for one in gone] == ["b-flour"]


def test_what_keeps_from_deleting_is_told_before_anybody_is_asked(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    before = tree(project)
    for words in (["shop1"], ["shop1", "--yes"]):
        done = cub("task", "delete", *words)
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            "error: b-shop1 cannot be deleted\n"
            "  b-shop1.1 is part of b-shop1\n"
            "  b-shop1.2 is part of b-shop1\n"
            "hint: pass `--recursive` to also delete the subtasks; or run `cub task close "
            "--reason wontfix` to keep it listed\n"
        )
    assert tree(project) == before


def test_without_a_person_it_takes_a_yes(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    before = tree(project)
    done = cub("task", "delete", "flour")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: deleting b-flour needs confirmation, but stdin is not a terminal\nhint: "
        "pass --yes\n"
    )
    assert tree(project) == before


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_a_person_is_asked(project: Path, home: Path, answer: str, code: int) -> None:
    put(project, *ALL)
    seen = in_terminal(
        "task", "delete", "shop1.2", cwd=project, home=home, answer=answer, at="[y/N]"
    )
    assert seen.code == code
    assert "b-shop1.2: Bake [bold]bread[/bold] :key:" in seen.text
    assert "Delete this task? [y/N]" in seen.text
    assert ("nothing was deleted" in seen.text) == bool(code)
    assert (b"deleted_at" in (project / TASKS_FILE).read_bytes()) == (not code)


def test_an_attempt_deletes_nothing(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    enter_attempt(project, "b-shop1.2")
    before = tree(project)
    done = cub("task", "delete", "shop1.2", "--yes")
    assert (done.code, tree(project)) == (1, before)
    assert done.err.startswith("error: an attempt cannot delete shop1.2")
