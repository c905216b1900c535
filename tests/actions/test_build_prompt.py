"""What a prompt is gathered from: the stores of a project, its configuration, its manifests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cub.actions.build_prompt import (
    BuiltPrompt,
    build_task_prompt,
    read_prompt_options,
    read_system_prompt,
)
from cub.actions.tasks.stores import open_stores
from cub.edit.file_header import add_file_header
from cub.errors import CubError
from cub.files.file_tree import DiskTree
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.prompt.templates import load_shipped_templates
from cub.store.jsonl import Record, encode_record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.actions.helpers import init, write
from tests.attempts import enter_attempt
from tests.prompt.bakery import ITEMS, check, ended

AT = "2026-02-01T00:00:00.000Z"
Prompt = Callable[..., str]


def task(key: str, **values: Any) -> Record:
    base = {"id": key, "rev": 1, "title": key.upper(), "status": "open", "priority": 2}
    return {**base, "created_at": "2026-01-01T00:00:00.000Z", **values}


def closed(key: str, day: int, reason: str = "done", **values: Any) -> Record:
    at = f"2026-01-{day:02}T00:00:00.000Z"
    return task(key, status="closed", close_reason=reason, closed_at=at, **values)


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prompt:
    """The prompt of one of these tasks, in a project with these events and this configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CUB_ROOT", raising=False)
    root = tmp_path / "bakery"

    def made(key: str, *records: Record, events: tuple[Record, ...] = (), config: str = "") -> str:
        for path, lines in ((TASKS_FILE, records), (LEDGER_FILE, events)):
            write(root, path, "".join(encode_record(line).decode() + "\n" for line in lines))
        write(root, ".cub/config.yaml", config)
        return build(root, key).prompt.text

    return made


def build(root: Path, key: str) -> BuiltPrompt:
    """The prompt of a task as the configuration has it."""
    stores = open_stores(Project.load(root), "ann", AT)
    values = resolve_config(stores.project, os.environ).values
    return build_task_prompt(stores, key, read_prompt_options(stores, key, values))


def section(text: str, title: str) -> str:
    """What stands below a heading."""
    return text.partition(f"## {title}\n\n")[2].partition("\n\n## ")[0]


def test_the_epic_is_the_nearest_one_above(prompt: Prompt) -> None:
    tasks = [
        task("b-e", issue_type="epic"),
        task("b-e.1", issue_type="epic", parent="b-e"),
        task("b-e.1.1", parent="b-e.1"),
        task("b-e.1.1.1", parent="b-e.1.1"),
    ]
    told = section(prompt("b-e.1.1.1", *tasks), "EPIC CONTEXT")
    assert told == "Epic: b-e.1 - B-E.1\n\nRemaining tasks after this one:\n- b-e.1.1: B-E.1.1"


@pytest.mark.parametrize(
    ("tasks", "epic"),
    [
        ([task("b-1", parent="b-2"), task("b-2")], "Epic: b-2 - B-2"),
        ([task("b-1", parent="b-2"), task("b-2", parent="b-3"), task("b-3")], "Epic: b-2 - B-2"),
        ([task("b-1", parent="b-2"), task("b-2", parent="b-1")], "Epic: b-2 - B-2"),
        ([task("b-1", parent="b-2"), task("b-2", parent="b-2")], "Epic: b-2 - B-2"),
        ([task("b-1", parent="b-1")], ""),
        ([task("b-1", parent="b-1", issue_type="epic")], ""),
        ([task("b-1", parent="gone")], ""),
        ([task("b-1")], ""),
    ],
)
def test_where_there_is_no_epic_the_parent_is_one(
    prompt: Prompt, tasks: list[Record], epic: str
) -> None:
    assert section(prompt("b-1", *tasks), "EPIC CONTEXT").partition("\n")[0] == epic


def test_siblings_are_listed_done_ones_by_time_and_others_as_they_come(prompt: Prompt) -> None:
    tasks = [
        task("b-e", issue_type="epic"),
        task("b-1", parent="b-e"),
        closed("b-2", 3, parent="b-e"),
        closed("b-3", 5, "no_change", parent="b-e"),
        closed("b-4", 4, parent="b-e") | {"closed_at": "2026-01-04T23:00:00-09:00"},
        closed("b-5", 9, "wontfix", parent="b-e"),
        closed("b-6", 9, "duplicate", parent="b-e"),
        task("b-7", parent="b-e", priority=3),
        task("b-8", parent="b-e", status="parked"),
        task("b-9", parent="b-e", priority=0, status="in_progress"),
        task("b-0"),
    ]
    assert section(prompt("b-1", *tasks), "EPIC CONTEXT").splitlines()[2:] == [
        "Completed tasks in this epic:",
        "- b-4: B-4",
        "- b-3: B-3",
        "- b-2: B-2",
        "",
        "Remaining tasks after this one:",
        "- b-9: B-9",
        "- b-8: B-8",
        "- b-7: B-7",
    ]


def test_of_many_siblings_some_are_named(prompt: Prompt) -> None:
    done = [closed(f"b-d{n}", n % 28 + 1, parent="b-e") for n in range(25)]
    left = [task(f"b-l{n}", parent="b-e") for n in range(40)]
    tasks = [task("b-e", issue_type="epic"), task("b-1", parent="b-e"), *done, *left]
    told = section(prompt("b-1", *tasks), "EPIC CONTEXT")
    assert (told.count("- b-d"), told.count("- b-l")) == (20, 30)
    assert told.count("- and 5 more\n") == 1
    assert told.endswith("- and 10 more")


@pytest.mark.parametrize(
    ("checks", "config", "commands"),
    [
        ([], "", ": `mypy .`; `pytest`; `ruff check`"),
        ([], "run: {checks: [make test]}", ": `make test`"),
        (["bake --dry"], "", ": `bake --dry`"),
        (["bake"], "run: {checks: [lint, bake]}", ": `bake`; `lint`"),
    ],
)
def test_commands_are_the_task_s_and_the_project_s_or_else_found(
    tmp_path: Path, prompt: Prompt, checks: list[str], config: str, commands: str
) -> None:
    tools = "[tool.mypy]\nstrict = true\n[tool.pytest.ini_options]\n[tool.ruff]\n"
    write(tmp_path / "bakery", "pyproject.toml", f'[project]\nname = "bakery"\n{tools}')
    told = section(prompt("b-1", task("b-1", checks=checks), config=config), "When Complete")
    assert told.partition("\n")[0] == f"1. Run feedback loops (typecheck, test, lint){commands}"


def test_scripts_of_a_package_are_found(tmp_path: Path, prompt: Prompt) -> None:
    scripts = '{"name": "bakery", "scripts": {"test": "jest", "lint": "eslint ."}}'
    write(tmp_path / "bakery", "package.json", scripts)
    told = section(prompt("b-1", task("b-1")), "When Complete")
    assert "lint): `npm test`; `npm run lint`\n" in told.replace("npm run test", "npm test")


def test_without_any_command_the_loops_alone_are_named(prompt: Prompt) -> None:
    told = section(prompt("b-1", task("b-1")), "When Complete")
    assert told.startswith("1. Run feedback loops (typecheck, test, lint)\n2. ")


def test_outside_of_a_run_the_agent_commits_and_closes(prompt: Prompt) -> None:
    own = prompt("b-1", task("b-1", issue_type="bug"))
    assert own.endswith("2. Mark the task complete\n3. Commit: `bug(b-1): B-1`\n")
    assert "- When it is done: `cub task close b-1`\n" in own
    assert "run's own checks" not in own
    config = 'run: {message: "[{id}] {title}"}'
    assert prompt("b-1", task("b-1"), config=config).endswith("3. Commit: `[b-1] B-1`\n")


@pytest.mark.usefixtures("home")
def test_inside_of_a_run_the_run_commits(prompt: Prompt, tmp_path: Path) -> None:
    enter_attempt(tmp_path / "bakery", "b-1")
    own = prompt("b-1", task("b-1", issue_type="bug"))
    assert own.endswith("Leave your changes uncommitted: the run commits them as `bug(b-1): B-1`\n")
    assert "- Inside a run, closing is a request: the run's own checks decide.\n" in own


def test_where_finished_tasks_are_not_to_be_committed_a_person_does(prompt: Prompt) -> None:
    own = prompt("b-1", task("b-1"), config="run: {commit: false}")
    last = "3. Leave your changes uncommitted: the user commits them\n"
    assert own.endswith(last)


def test_a_retry_is_told_of_the_attempts_in_the_ledger(prompt: Prompt) -> None:
    other = ended(2, "stuck", stuck="no flour") | {"task": "b-2"}
    mine = ended(1, checks=[check(ITEMS)]) | {"task": "b-1"}
    told = prompt("b-1", task("b-1"), task("b-2"), events=(mine, other))
    assert "Failure reason: checks_failed: `tests/test_oven.py::test_heat`: assert" in told
    assert "flour" not in told
    assert "PREVIOUS" not in prompt("b-1", task("b-1"), events=(mine, {**mine, "ok": True}))


def test_an_id_may_be_short_and_must_be_known(prompt: Prompt) -> None:
    assert "Task ID: b-k3f9a\n" in prompt("k3f", task("b-k3f9a"))
    with pytest.raises(CubError, match="there is no task 'b-k3f9b'") as raised:
        prompt("b-k3f9b", task("b-k3f9a"))
    assert raised.value.hint == "did you mean b-k3f9a?"


def test_damaged_lines_are_told_beside_the_prompt(tmp_path: Path) -> None:
    write(tmp_path, TASKS_FILE, '{"id":"b-1","title":"Bake"}\n{"id":\n')
    composed = build(tmp_path, "b-1")
    assert "Title: Bake\n" in composed.prompt.text
    assert len(composed.warnings) == 1


def test_the_system_prompt_is_the_one_that_ships(tmp_path: Path) -> None:
    text = load_shipped_templates().read_file("runloop.md")
    assert read_system_prompt(DiskTree(tmp_path)) == text
    init(tmp_path)
    assert read_system_prompt(DiskTree(tmp_path)) == text
    path = tmp_path / ".cub/runloop.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_system_prompt(DiskTree(tmp_path)) == text


@pytest.mark.parametrize(
    "data",
    [
        b"# Mine\n\nBake.\n",
        b"\xef\xbb\xbf# Mine\n\nBake.\n",
        add_file_header("# Mine\n\nBake.\n", 1, "<!-- {} -->"),
        add_file_header("# Other\n", 1, "<!-- {} -->").replace(b"Other", b"Mine\n\nBake."),
    ],
)
def test_the_system_prompt_is_the_project_s_own_if_it_has_one(tmp_path: Path, data: bytes) -> None:
    for own in (data, data.replace(b"\n", b"\r\n")):
        write(tmp_path, ".cub/runloop.md", "").write_bytes(own)
        assert read_system_prompt(DiskTree(tmp_path)) == "# Mine\n\nBake.\n"
