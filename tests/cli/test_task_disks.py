"""Stores that can't be written: a clear error, and both files as they were."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.cli import full_disk
from tests.cli.tasks import ALL, add, put
from tests.command_line import run_program
from tests.conftest import Cub, environment, tree
from tests.files.conftest import may_mount  # noqa: F401 - a fixture

COMMANDS = ["add Bake", "claim b-shop1", "close b-shop1", "edit b-shop1 -p 0", "reopen b-flour",
            "park b-shop1", "dep remove b-shop1.2 b-shop1.1"]  # fmt: skip
READING = ["list", "ready", "show b-shop1", "stats"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_store_is_told_and_left_alone(cub: Cub, project: Path, command: str) -> None:
    put(project, *ALL)
    (project / TASKS_FILE).chmod(0o444)
    before = tree(project)
    done = cub("task", *command.split())
    assert (done.code, done.out, tree(project)) == (1, "", before)
    assert done.err == (
        f"error: {TASKS_FILE}: this file is read-only; nothing was written\n"
        f"hint: make it writable (chmod u+w {TASKS_FILE}), then run the command again\n"
    )


def test_a_read_only_ledger_stops_what_it_is_to_be_told(cub: Cub, project: Path) -> None:
    key = add(cub)
    cub("task", "claim", key)
    (project / LEDGER_FILE).chmod(0o444)
    before = tree(project)
    done = cub("task", "close", key)
    assert (done.code, tree(project)) == (1, before)
    assert done.err.startswith(
        f"error: {LEDGER_FILE}: this file is read-only; nothing was written\n"
    )
    assert cub("task", "edit", key, "-p", "0").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")
def test_a_read_only_folder_can_be_read(project: Path, unprivileged_cub: Cub) -> None:
    put(project, *ALL, "junk")
    (project / ".cub").chmod(0o555)
    before = tree(project)
    try:
        for command in COMMANDS:
            done = unprivileged_cub("task", *command.split())
            assert (done.code, done.out) == (1, ""), command
            assert done.err == (
                "error: .cub: cannot be written: permission denied\n"
                "hint: check who owns it and whether it may be written; nothing was changed\n"
            )
        for command in READING:
            assert unprivileged_cub("task", *command.split()).out, command
        assert tree(project) == before
    finally:
        (project / ".cub").chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
def test_a_full_disk_is_an_error_that_changes_nothing(
    tmp_path: Path,
    may_mount: list[str],  # noqa: F811 - the fixture
) -> None:
    (tmp_path / "disk").mkdir()
    words = [*may_mount, sys.executable, full_disk.__file__, str(tmp_path / "disk")]
    done = run_program(words, cwd=tmp_path, environ=environment(tmp_path))
    assert done.code == 0, done.err
    runs = [json.loads(line) for line in done.out.splitlines()]
    failed = [run for run in runs if run["code"]]
    assert len(failed) >= 4
    for run in failed:
        assert (run["code"], run["same"]) == (1, True), run
        assert run["left"] == ["ledger.jsonl", "tasks.jsonl"], run
        assert (
            "no space left on device\nhint: free some disk space; nothing was changed" in run["err"]
        )
    codes = [run["code"] for run in runs]
    assert codes == sorted(codes, reverse=True)
    assert [run for run in runs if not run["code"] and run["same"]] == []
    assert runs[-1]["err"] == ""


@pytest.mark.parametrize("name", [TASKS_FILE, LEDGER_FILE])
def test_what_is_no_file_is_told(cub: Cub, project: Path, name: str) -> None:
    (project / name).mkdir(parents=True)
    command = ["task", "list"] if name == TASKS_FILE else ["ledger", "list"]
    done = cub(*command)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(
        f"error: {name}: this is a directory, not a text file\nhint: move it"
    )
