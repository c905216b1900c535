"""What `cub task` prints of tasks in a pipe: text for people, JSON for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.tasks import ALL, DAY, OVEN, UNTIL, put
from tests.conftest import Cub, tree

LIST = """\
id         pri  type   status             waits for  title
b-clean    P3   chore  in_progress (ida)             Clean
b-shop1.1  P0   task   open                          Heat the oven
b-shop1    P2   epic   open                          Open the shop
b-shop1.2  P2   task   open               b-shop1.1  Bake [bold]bread[/bold] :key:
"""
CLOSED = "b-flour    P2   task   closed                        Buy flour\n"
TREE = """\
[>] b-clean  P3  Clean
[ ] b-shop1  P2  Open the shop
  [ ] b-shop1.1  P0  Heat the oven
  [ ] b-shop1.2  P2  Bake [bold]bread[/bold] :key:  (waits for b-shop1.1)
[x] b-flour  P2  Buy flour
"""
OVEN_PAGE = """\
b-shop1.1  Heat the oven
  status    open
  priority  P0
  created   2026-01-01 08:00
  changed   2026-01-01 08:00
  labels    hot, iron
  part of   b-shop1  Open the shop
  blocks    b-shop1.2

Description:
  Slowly.

    At night.

Acceptance criteria:
  - It is hot
  - No smoke

Checks:
  - make heat
"""
SHOP_PAGE = """\
b-shop1  Open the shop
  status    open
  priority  P2
  type      epic
  created   2026-01-01 08:00
  changed   2026-01-01 08:00

Tasks:
  b-shop1.1  open  Heat the oven
  b-shop1.2  open  Bake [bold]bread[/bold] :key:
"""
CLEAN_PAGE = f"""\
b-clean  Clean
  status    in_progress
  priority  P3
  type      chore
  assignee  ida
  created   2026-01-01 08:00
  changed   2026-01-01 08:00
  lease     until {UNTIL} 00:00 (in N days)

Notes:
  2026-01-01 08:00 ida: Broom
"""
STATS = """\
                       tasks
status    open         3
          in_progress  1
          closed       1
to do     ready        1
          blocked      1
type      chore        1
          epic         1
          task         3
priority  P0           1
          P2           2
          P3           1
epic      b-shop1      0 of 2 closed
"""
HEAD = "id         pri  type  status  title\n"
FLOUR = "id       pri  type  status  title\nb-flour  P2   task  closed  Buy flour\n"
READY = f"{HEAD}b-shop1.1  P0   task  open    Heat the oven\n"
PARTS = "".join(line[2:] + "\n" for line in TREE.splitlines()[2:4])
HIDDEN = "1 closed task is not shown. Pass `--status all` to see them.\n"
NONE_READY = "No tasks are ready. Run `cub task list` to see all.\n"
TEXTS = [
    ("list", LIST, HIDDEN),
    ("list --status all", LIST + CLOSED, ""),
    ("list -s open -s parked --label hot", READY, ""),
    ("list --search OVEN", READY, ""),
    ("list --search buy --status closed", FLOUR, ""),
    ("list --search flour", "", HIDDEN),
    ("list --search broom -s all --tree", "[>] b-clean  P3  Clean\n", ""),
    ("list --tree", TREE, ""),
    ("list --tree --epic shop1", PARTS, ""),
    ("ready", READY, ""),
    ("ready --limit 0", "", NONE_READY),
    ("show shop1.1", OVEN_PAGE, ""),
    ("show b-s", SHOP_PAGE, ""),
    ("show clean", CLEAN_PAGE, ""),
    ("stats", STATS, ""),
]


@pytest.mark.parametrize(("command", "out", "err"), TEXTS, ids=[text[0] for text in TEXTS])
def test_text(cub: Cub, project: Path, command: str, out: str, err: str) -> None:
    put(project, *ALL)
    before = tree(project)
    done = cub("task", *command.split())
    assert (done.code, done.err, tree(project)) == (0, err, before)
    # The lease ends in 29 days, or in 28 when midnight has passed since these tests were collected.
    assert re.sub(r"\(in 2[89] days\)", "(in N days)", done.out) == out


def test_nothing_is_there_yet(cub: Cub, project: Path) -> None:
    none = "No tasks yet. Run `cub task add TITLE` to add one.\n"
    for command, said in (
        ("list", none),
        ("list --status closed", none),
        ("list --tree", ""),
        ("ready", NONE_READY),
    ):
        done = cub("task", *command.split())
        assert (done.code, done.out, done.err) == (0, "", said), command
    assert cub("task", "stats").out.split() == ["tasks", "to", "do", "ready", "0", "blocked", "0"]
    assert tree(project) == {}
    put(project, *ALL)
    assert cub("task", "list", "--label", "zzz").err == (
        "No tasks match. Run `cub task list --status all` to see all.\n"
    )


def test_a_list_for_programs_has_all_tasks_with_all_keys(cub: Cub, project: Path) -> None:
    put(project, *ALL, {"id": "x", "oven": {"hot": True}})
    done = cub("task", "list", "--json")
    found = json.loads(done.out)
    assert (done.err, [*found]) == ("", ["v", "root", "tasks", "warnings"])
    assert (found["v"], found["root"], found["warnings"]) == (1, project.as_posix(), [])
    assert [task["id"] for task in found["tasks"]] == [
        "b-clean", "b-shop1.1", "b-shop1", "b-shop1.2", "x", "b-flour",
    ]  # fmt: skip
    oven = found["tasks"][1]
    assert {**oven, **OVEN} == oven
    assert [*oven] == [
        "id", "rev", "title", "status", "priority", "issue_type", "description",
        "acceptance_criteria", "depends_on", "parent", "labels", "checks", "assignee", "lease",
        "close_reason", "created_at", "updated_at", "closed_at", "reopened_at", "deleted_at",
        "notes", "stamps", "waits_for",
    ]  # fmt: skip
    waits = {task["id"]: task.pop("waits_for") for task in found["tasks"]}
    assert {key: ids for key, ids in waits.items() if ids} == {"b-shop1.2": ["b-shop1.1"]}
    assert (oven["assignee"], oven["depends_on"], oven["created_at"]) == (None, [], DAY)
    assert found["tasks"][4]["oven"] == {"hot": True}
    closed = json.loads(cub("task", "list", "--json", "--status", "closed", "--tree").out)
    assert [task["id"] for task in closed["tasks"]] == ["b-flour"]


def test_the_next_task_for_programs(cub: Cub, project: Path) -> None:
    assert json.loads(cub("task", "ready", "--json").out)["tasks"] == []
    put(project, *ALL, {"id": "c", "depends_on": ["zz"]}, "junk")
    done = cub("task", "ready", "--limit", "1", "--json")
    found = json.loads(done.out)
    assert [task["id"] for task in found["tasks"]] == ["b-shop1.1"]
    assert [(one["path"], one["line"]) for one in found["warnings"]] == [
        (".cub/tasks.jsonl", 7),
        (".cub/tasks.jsonl", None),
    ]
    assert done.err == ""
    text = cub("task", "ready")
    assert text.err.count("warning: ") == 2
    assert text.err.startswith("warning: .cub/tasks.jsonl:7: invalid JSON")
    assert not (project / ".cub" / "tasks.jsonl.rejected").exists()


def test_a_task_and_counts_for_programs(cub: Cub, project: Path) -> None:
    put(project, *ALL)
    bread = json.loads(cub("task", "show", "shop1.2", "--json").out)["task"]
    assert (bread["waits_for"], bread["blocks"], bread["children"]) == (["b-shop1.1"], [], [])
    shop = json.loads(cub("task", "show", "shop1", "--json").out)["task"]
    assert shop["children"] == ["b-shop1.1", "b-shop1.2"]
    counts = json.loads(cub("task", "stats", "--json").out)
    assert {k: v for k, v in counts.items() if k not in ("v", "root", "warnings")} == {
        "statuses": {"open": 3, "in_progress": 1, "closed": 1},
        "types": {"chore": 1, "epic": 1, "task": 3},
        "priorities": {"P0": 1, "P2": 2, "P3": 1},
        "ready": 1,
        "blocked": 1,
        "epics": {"b-shop1": {"closed": 0, "tasks": 2}},
    }


def test_of_many_that_a_task_waits_for_a_few_are_named(cub: Cub, project: Path) -> None:
    names = ["b-1", "b-2", "b-3", "b-4"]
    put(project, *({"id": name} for name in names), {"id": "b-5", "depends_on": names})
    assert "b-1, b-2 +2" in cub("task", "list").out
    assert "(waits for b-1, b-2, b-3, b-4)" in cub("task", "list", "--tree").out
