"""The commands that change tasks: what they print, how they end, and what they leave alone."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC
from pathlib import Path

import pytest

from cub.cli.time_format import localize_timestamps
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.cli.tasks import ALL, UNTIL, add, put
from tests.conftest import Cub, tree

CREATED = (
    "Created .cub/tasks.jsonl, .cub/.gitattributes, and .cub/.gitignore.\n"
    "hint: run `cub init` to add cub to this project's instruction files\n"
)


def task(cub: Cub, key: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(cub("task", "show", key, "--json").out)["task"]
    return found


def test_add_prints_the_id(cub: Cub, project: Path) -> None:
    done = cub("task", "add", "Bake")
    assert (done.code, done.err) == (0, CREATED)
    assert re.fullmatch(r"project-[0-9a-z]{5}\n", done.out)
    key = done.out.strip()
    options = (
        "--type bug --priority P1 --label a,b --label c --accept Brown --accept Crisp "
        "--check make --description - --depends-on"
    )
    full = cub("task", "add", "Roast", *options.split(), key[-5:], "--json", stdin="One\nTwo\n")
    (found,) = json.loads(full.out)["tasks"]
    said = ("issue_type", "priority", "labels", "acceptance_criteria", "checks", "description")
    assert [found[name] for name in said] == [
        "bug", 1, ["a", "b", "c"], ["Brown", "Crisp"], ["make"], "One\nTwo",
    ]  # fmt: skip
    assert found["depends_on"] == [key]
    assert len((project / TASKS_FILE).read_bytes().splitlines()) == 2


@pytest.mark.parametrize("words", [("add", "Bake"), ("import", "-")])
def test_only_the_first_task_names_the_new_files(
    cub: Cub, project: Path, words: tuple[str, str]
) -> None:
    line = '{"id":"a","title":"A"}\n'
    quiet = cub("-q", "task", *words, stdin=line)
    assert (quiet.code, quiet.err) == (0, "")
    shutil.rmtree(project / ".cub")
    as_json = cub("task", *words, "--json", stdin=line)
    assert (set(json.loads(as_json.out)) & {"created_files"}, as_json.err) == (set(), "")
    shutil.rmtree(project / ".git")
    for expected in (True, False):
        shutil.rmtree(project / ".cub") if expected else None
        assert cub("task", *words, stdin=line).err.endswith(CREATED) == expected
    shutil.rmtree(project / ".cub")
    assert cub("init", "-q").code == 0
    assert "Created" not in cub("task", *words, stdin=line).err


def test_an_import_without_tasks_creates_nothing(cub: Cub, project: Path) -> None:
    assert "Created" not in cub("task", "import", "-", "-f", "jsonl", stdin="").err
    line = '{"id":"a","title":"A"}\n'
    assert "Created" not in cub("task", "import", "-", "--dry-run", stdin=line).err
    assert not (project / TASKS_FILE).exists()


def test_a_description_comes_from_a_file_seen_from_where_cub_runs(cub: Cub, project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "oven.txt").write_bytes(b"Caf\xc3\xa9 \xff\n\n")
    for arguments in (["task", "add", "x", "--file", "docs/oven.txt"],
                      ["-C", "docs", "task", "add", "x", "-F", "oven.txt"],
                      ["task", "add", "x", "-F", str(project / "docs" / "oven.txt")]):  # fmt: skip
        done = cub(*arguments)
        assert done.code == 0, done.err
        assert task(cub, done.out.strip())["description"] == "Café \udcff"
    key = add(cub)
    assert cub("task", "edit", key, "--file", "docs/oven.txt").code == 0
    missing = cub("task", "edit", key, "--file", "oven.txt")
    assert (missing.code, missing.err) == (2, "error: oven.txt: no such file\n")
    both = cub("task", "edit", key, "--file", "oven.txt", "--description", "x")
    assert (both.code, both.err) == (
        2,
        "error: --description cannot be used with --file\nhint: pass one of them\n",
    )


def test_the_way_of_a_task(cub: Cub, project: Path) -> None:
    key = add(cub)
    assert cub("task", "claim", key, "--as", "codex").out == f"Claimed {key}: Bake\n"
    assert (task(cub, key)["status"], task(cub, key)["assignee"]) == ("in_progress", "codex")
    other = cub("task", "claim", key, "--as", "ida")
    assert (other.code, other.out) == (1, "")
    assert re.fullmatch(
        f"error: {key} is claimed by codex until [0-9-]+ [0-9:]+\n"
        f"hint: claim another task of `cub task ready`; or run `cub task reopen {key}` to "
        "release it\n",
        other.err,
    )
    assert cub("task", "claim", key, CUB_AGENT="codex").code == 0
    assert cub("task", "park", key, "-m", "Cold").out == f"Parked {key}: Bake\n"
    assert cub("task", "park", key).out == f"{key} is already parked.\n"
    assert cub("task", "reopen", key).out == f"Reopened {key}: Bake\n"
    assert cub("task", "reopen", key).out == f"{key} is already open.\n"
    assert cub("task", "close", key, "--reason", "no_change").out == f"Closed {key}: Bake\n"
    assert cub("task", "close", key).out == f"{key} is already closed (no_change).\n"
    states = [
        json.loads(line)["status"] for line in (project / LEDGER_FILE).read_text().splitlines()
    ]
    assert states == ["in_progress", "in_progress", "parked", "open", "closed"]


def test_several_at_once_are_told_one_by_one(cub: Cub) -> None:
    one, two, three = (add(cub, title) for title in ("One", "Two", "Three"))
    cub("task", "close", two)
    done = cub("task", "close", one, two, three)
    assert (
        done.out == f"Closed {one}: One\nClosed {three}: Three\n{two} is already closed (done).\n"
    )
    found = json.loads(cub("task", "reopen", one, two, "--json").out)["tasks"]
    assert [(row["id"], row["status"]) for row in found] == [(one, "open"), (two, "open")]


def test_an_epic_closes_with_its_last_task_and_says_so(cub: Cub) -> None:
    epic = add(cub, "Shop", "--type", "epic")
    one, two = (add(cub, title, "--parent", epic) for title in ("One", "Two"))
    assert (one, two) == (f"{epic}.1", f"{epic}.2")
    assert cub("task", "close", one).out == f"Closed {one}: One\n"
    assert cub("task", "close", two).out == (
        f"Closed {two}: Two\nClosed the epic {epic}: all of its tasks are done.\n"
    )
    again = cub("task", "add", "Three", "--parent", epic)
    assert (again.out, again.err) == (f"{epic}.3\n", f"Reopened the epic {epic}.\n")
    found = json.loads(cub("task", "close", f"{epic}.3", "--json").out)["tasks"]
    assert [(row["id"], row["status"]) for row in found] == [
        (f"{epic}.3", "closed"),
        (epic, "closed"),
    ]
    undone = cub("task", "close", one, "--reason", "wontfix")
    assert (undone.code, undone.out) == (0, f"Closed {one}: One\n")


def test_an_edit_by_options(cub: Cub) -> None:
    key = add(cub, "Bake", "--label", "a")
    options = "--title Roast --type chore -p 0 --label b --unlabel a --accept x --check y -m z"
    done = cub("task", "edit", key, *options.split(), "-d", "-", stdin="Slowly")
    assert (done.code, done.out) == (0, f"Changed {key}: Roast\n")
    found = task(cub, key)
    assert (found["priority"], found["labels"], found["description"]) == (0, ["b"], "Slowly")
    assert str(found["notes"]).endswith(": z")
    assert cub("task", "edit", key, "-p", "0").out == f"No change to {key}.\n"


def test_dependencies_come_and_go(cub: Cub) -> None:
    one, two, three = (add(cub, title) for title in ("One", "Two", "Three"))
    assert cub("task", "dep", "add", three, one, two).out == f"Changed {three}: Three\n"
    refused = cub("task", "dep", "add", one, three)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"error: {one} would wait for itself: {one} → {three} → {one}\nhint: nothing was changed\n"
    )
    found = json.loads(cub("task", "dep", "remove", three, one, "--json").out)["tasks"]
    assert found[0]["depends_on"] == [two]
    assert cub("task", "dep", "remove", three, one).out == f"No change to {three}.\n"


REFUSED = [
    ("add", 2, "the title is empty"),
    ("add x --type bugg", 2, "hint: did you mean 'bug'?"),
    ("add x --priority high!", 2, "hint: choose from 0 (highest) to 4, or P0 to P4"),
    ("add x --parent shop2", 1, "hint: did you mean b-shop1"),
    ("add x --depends-on b-flouw", 1, "hint: did you mean b-flour?"),
    ("show zzz", 1, "error: there is no task 'zzz'\nhint: `cub task list` names all tasks\n"),
    ("show b-shop1.9", 1, "hint: did you mean b-shop1.2 or b-shop1.1"),
    ("show b-", 1, "error: 'b-' matches 5 ids: b-clean, b-flour, b-shop1, …\nhint: type more"),
    ("edit zzz --title x", 1, "there is no task 'zzz'"),
    (
        "edit b-shop1",
        2,
        "error: nothing to change\nhint: pass an option, such as --title, or set EDITOR\n",
    ),
    ("close zzz", 1, "there is no task 'zzz'"),
    ("close b-clean zzz", 1, "there is no task 'zzz'"),
    ("close b-clean --reason bored", 2, "unknown value 'bored' for --reason"),
    ("close", 2, "missing ID\nhint: run `cub task list` to list tasks"),
    ("park b-flour", 1, "b-flour is closed\nhint: run `cub task reopen b-flour` first"),
    ("claim b-flour", 1, "b-flour is closed\nhint: run `cub task reopen b-flour` first"),
    ("claim b-clean", 1, f"b-clean is claimed by ida until {UNTIL} 00:00"),
    ("dep add b-shop1.1 b-shop1.2", 1, "b-shop1.1 → b-shop1.2 → b-shop1.1"),
    ("dep remove b-shop1.1 zzz", 1, "there is no task 'zzz'"),
    ("edit b-shop1 --parent b-shop1.1", 1, "b-shop1 would be its own ancestor"),
    ("list --status frozen", 2, "choose from open, in_progress, retry, parked, closed, all"),
    ("list --epic zzz", 1, "there is no task 'zzz'"),
    ("ready --limit -1", 2, "--limit must be at least 0, not '-1'"),
]


@pytest.mark.parametrize(("command", "code", "message"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_refused_changes_nothing(
    cub: Cub, project: Path, command: str, code: int, message: str
) -> None:
    put(project, *ALL)
    before = tree(project)
    words = [*command.split(), *([""] if command == "add" else [])]
    done = cub("task", *words)
    assert (done.code, done.out, tree(project)) == (code, "", before)
    assert done.err.startswith("error: ")
    assert message in done.err
    found = json.loads(cub("task", *words, "--json").out)["error"]
    assert found["code"] == code
    assert f"error: {localize_timestamps(found['message'], UTC)}\n" in done.err


@pytest.mark.parametrize("option", [("-d", "-"), ("--accept", "x" * 100_000)])
def test_a_megabyte_is_refused(cub: Cub, project: Path, option: tuple[str, str]) -> None:
    key = add(cub)
    before = tree(project)
    for command in (("add", "x"), ("edit", key)):
        done = cub("task", *command, *option, stdin="x" * 1_000_000)
        assert (done.code, done.out, tree(project)) == (2, "", before)
        assert re.match(
            "error: .* has (1,000,000|100,000) bytes; the limit is 65,536\nhint: put",
            done.err,
        )
