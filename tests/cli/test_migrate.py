"""Migrations from the command line: announced, checked, shown, carried out, and pruned later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.standing import MINE, stand
from tests.conftest import Cub, tree

JSON = b'{"harness": "codex", "project_id": "bakery"}\n'


@pytest.fixture
def older(project: Path) -> Path:
    """A project of the layout before 0.1, as a person has worked with it."""
    (project / ".cub").mkdir()
    for name, data in {
        ".cub/prompt.md": b"Mine.\n",
        ".cub/config.json": JSON,
        "AGENTS.md": MINE,
        "progress.txt": b"# Progress Log\nStarted: 2025-01-08\n\nFound the oven.\n",
    }.items():
        (project / name).write_bytes(data)
    return project


def test_status_announces_it_and_check_finds_it(older: Path, cub: Cub) -> None:
    before = stand(older)
    status = cub("status")
    assert "warning: .cub: schema 1 is due: adopt the layout before 0.1\n" in status.err
    assert "There is no cub" not in status.err
    check = cub("update", "--check")
    assert check.code == 1
    assert "would change. Run `cub update`" in check.err
    assert stand(older) == before
    assert cub("update").code == 0
    assert cub("update", "--check").code == 0
    assert "is due" not in cub("status").err


def test_everything_is_in_one_plan(older: Path, cub: Cub) -> None:
    plan = json.loads(cub("init", "--json").out)
    reasons = {change["path"]: change["reason"] for change in plan["changes"]}
    assert reasons[".cub/prompt.md"] == "migrate to schema 1: kept as .cub/runloop.md.old"
    assert reasons["AGENTS.md"] == "add the managed section v1"
    assert reasons[".cub/config.yaml"] == "migrate to schema 1: settings of .cub/config.json"
    warnings = {warning["path"]: warning for warning in plan["warnings"]}
    assert warnings["progress.txt"]["hint"] == "run `cub update --prune` to delete it"
    shown = cub("init", "--diff")
    assert "schema 1: adopt the layout before 0.1\n" in shown.err
    assert "--- a/.cub/prompt.md\n+++ /dev/null\n" in shown.out
    done = cub("init")
    assert "        schema 1: adopt the layout before 0.1\n" in done.out
    assert tree(older)[".cub/config.yaml"] == b"run:\n  harness: codex\nschema: 1\n"
    assert tree(older)[".cub/config.json.old"] == JSON
    assert tree(older)[".cub/runloop.md.old"] == b"Mine.\n"
    assert tree(older)["AGENTS.md"].startswith(MINE)


@pytest.mark.parametrize("command", ["init", "update"])
def test_prune_deletes_at_once_or_later(older: Path, cub: Cub, command: str) -> None:
    assert cub(command).code == 0
    assert (older / "progress.txt").exists()
    assert "progress.txt" not in cub("update").err
    pruned = cub(command, "--prune")
    assert (pruned.code, (older / "progress.txt").exists()) == (0, False)
    assert "migrate to schema 1: deleted by --prune" in pruned.out
    assert cub("update", "--prune", "--check").code == 0


def test_the_lock_s_folder_is_no_trace(project: Path, cub: Cub) -> None:
    (project / "PROMPT.md").write_bytes(b"Mine.\n")
    (project / ".cub").mkdir()
    assert cub("init", "--prune").code == 0
    assert (project / "PROMPT.md").exists()
    assert not (project / ".cub/config.yaml").exists()


def test_update_says_so_where_neither_this_cub_nor_an_older_one_was(
    project: Path, cub: Cub
) -> None:
    (project / "PROMPT.md").write_bytes(b"Mine.\n")
    result = cub("update")
    assert (result.code, "this project has no cub files yet" in result.err) == (1, True)
