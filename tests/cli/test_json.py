from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.standing import MINE, NEWER, NO_BEGIN, NO_END
from tests.conftest import Cub, tree

CHANGE = {"path", "action", "reason", "added", "removed", "local"}


def test_a_plan_has_one_shape(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    plan = json.loads(cub("init", "--json", "--targets", "AGENTS.md,CLAUDE.md").out)
    assert list(plan) == ["v", "root", "changes", "warnings"]
    assert (plan["v"], plan["root"]) == (1, str(project))
    assert all(set(change) == CHANGE for change in plan["changes"])
    by_path = {change["path"]: change for change in plan["changes"]}
    assert by_path["AGENTS.md"]["action"] == "update"
    assert by_path["AGENTS.md"]["removed"] == 0
    assert by_path["CLAUDE.md"]["action"] == "create"
    assert [path for path, change in by_path.items() if change["local"]] == [".cub/state.json"]


def test_the_plan_is_what_then_happens(project: Path, cub: Cub) -> None:
    changes = json.loads(cub("init", "--json").out)["changes"]
    cub("init")
    lengths = {path: len(data.splitlines()) for path, data in tree(project).items()}
    assert {change["path"]: change["added"] for change in changes} == lengths


@pytest.mark.parametrize("command", ["init", "update"])
def test_an_empty_plan_has_the_same_shape(project: Path, cub: Cub, command: str) -> None:
    cub("init")
    found = json.loads(cub(command, "--json").out)
    assert found == {"v": 1, "root": str(project), "changes": [], "warnings": []}


def test_warnings_are_in_the_plan_and_not_in_the_talk(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("schema: 1\n\ntarget: [AGENTS.md]\n")
    result = cub("init", "--json")
    (warning,) = json.loads(result.out)["warnings"]
    assert list(warning) == ["path", "line", "message", "hint"]
    assert (warning["path"], warning["line"]) == (".cub/config.yaml", 3)
    assert warning["message"] == "unknown key 'target'"
    assert "targets" in warning["hint"]
    assert result.err == ""


@pytest.mark.parametrize(
    ("command", "code", "where"),
    [
        ("init --json", 1, "AGENTS.md:3"),
        ("-C . init --dry-run --json", 1, "AGENTS.md:3"),
        ("init --json --nope", 2, ""),
        ("init --json ..", 2, ".."),
        ("nope --json", 2, ""),
    ],
)
def test_an_error_has_one_shape(
    project: Path, cub: Cub, command: str, code: int, where: str
) -> None:
    (project / "AGENTS.md").write_bytes(NO_END)
    result = cub(*command.split())
    error = json.loads(result.out)["error"]
    assert {"message", "where", "hint", "code"} <= set(error)
    assert (result.code, error["code"], error["where"]) == (code, code, where)
    assert result.err.startswith("error: ")
    assert error["message"] in result.err
    assert error["hint"] in result.err


def test_several_errors_are_all_there(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(NO_BEGIN)
    (project / "CLAUDE.md").write_bytes(NEWER)
    found = json.loads(cub("init", "--json").out)
    assert found["v"] == 1
    assert [error["where"] for error in found["errors"]] == ["AGENTS.md:5", "CLAUDE.md:3"]
    assert found["error"] == found["errors"][0]


def test_status_has_the_same_rows_for_programs_and_for_people(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE + b"- Bake.\n" * 5_000)
    cub("init")
    found = json.loads(cub("status", "--json").out)
    assert (found["v"], found["root"]) == (1, str(project))
    told = cub("status")
    shown = told.out.splitlines()[1:]
    assert found["files"][0]["read_in_part"] == {"Codex": 32_768}
    assert "  Claude Code, Codex (first 32 KiB), opencode," in shown[0]
    assert [w["message"] in told.err for w in found["warnings"]] == [True]
    assert [row["path"] for row in found["files"]] == [line.split()[0] for line in shown]
    for row, line in zip(found["files"], shown, strict=True):
        assert row["owner"] in line
        assert row["state"] in line


def test_names_that_are_no_unicode_do_not_break_json(tmp_path: Path, cub: Cub) -> None:
    folder = tmp_path / b"caf\xe9".decode("utf-8", "surrogateescape")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this disk has Unicode names only")
    result = cub("init", "--json", cwd=folder)
    assert json.loads(result.out)["root"] == str(folder)
