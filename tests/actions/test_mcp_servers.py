"""Which MCP servers a session starts, from which files, and which of them need to be trusted."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cub.actions import mcp_servers
from cub.actions.code_session import SessionSurroundings, prepare_session
from cub.actions.command_options import CodeOptions
from cub.actions.mcp_servers import SessionServers, find_servers
from cub.actions.run.command_trust import trust_project
from cub.actions.tasks.stores import open_stores
from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Permissions
from cub.errors import CubError
from cub.processes.command import StopRequest
from cub.project.project import Project
from tests.agent.mcp.pools import RAW


@pytest.fixture
def shelf(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a person who has trusted nothing, and has no configuration."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setattr(mcp_servers, "find_spec", lambda name: name)
    return project


def write_servers(path: Path, *names: str, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    servers = {name: {"command": path.parent.name} for name in names}
    path.write_text(json.dumps({"mcpServers": servers, **more}), "utf-8")
    return path


def find(
    root: Path,
    options: CodeOptions = CodeOptions(),  # noqa: B008 - immutable
    environ: dict[str, str] | None = None,
    permissions: Permissions | None = None,
    *,
    is_enabled: bool = True,
    can_ask: bool = True,
) -> SessionServers:
    stores = open_stores(Project.load(root), "bob")
    values = {"code.mcp.enabled": is_enabled}
    permissions = permissions or Permissions()
    return find_servers(stores, options, environ or {}, permissions, values, can_ask=can_ask)


def list_commands(found: SessionServers) -> dict[str, str]:
    return {config.name: config.argv[0] for config in found.configs}


def test_servers_of_all_files_are_found_and_the_first_file_counts(shelf: Path, home: Path) -> None:
    local = {shelf.resolve().as_posix(): {"mcpServers": {"b": {"command": "local"}}}}
    write_servers(home / ".claude.json", "a", "b", "c", "d", projects=local)
    write_servers(shelf / ".mcp.json", "a", "b", "c")
    option = write_servers(home / "option" / "mine.json", "a")
    options = CodeOptions(mcp_files=(option,), trust=True)
    found = find(shelf, options)
    assert list_commands(found) == {
        "a": "option", "b": "local", "c": shelf.name, "d": home.name,
    }  # fmt: skip
    assert (found.warnings, found.skipped) == ([], [])
    only = CodeOptions(mcp_files=(option,), trust=True, strict_mcp_config=True)
    assert list_commands(find(shelf, only)) == {"a": "option"}
    assert find(shelf, options, is_enabled=False).configs == []


def test_claudes_file_is_in_the_folder_that_the_environment_names(shelf: Path, home: Path) -> None:
    write_servers(home / ".claude.json", "a")
    write_servers(home / "other" / ".claude.json", "b")
    environ = {"CLAUDE_CONFIG_DIR": str(home / "other")}
    assert list_commands(find(shelf, environ=environ)) == {"b": "other"}


def test_servers_of_the_project_need_trust_and_those_of_the_person_do_not(
    shelf: Path, home: Path
) -> None:
    write_servers(home / ".claude.json", "mine")
    write_servers(shelf / ".mcp.json", "one", "two")
    found = find(shelf)
    assert list_commands(found) == {"mine": home.name}
    (warning,) = found.warnings
    assert warning.message == (
        "the file is not trusted, so its MCP servers are not started: one, two"
    )
    assert warning.location == ".mcp.json"
    assert "`cub trust`; `--trust` starts them for this session only" in warning.hint
    assert [(row.name, row.state, row.reason) for row in found.skipped] == [
        ("one", "skipped", "not trusted"),
        ("two", "skipped", "not trusted"),
    ]
    trust_project(open_stores(Project.load(shelf), "bob"), {})
    assert list(list_commands(find(shelf))) == ["one", "two", "mine"]
    write_servers(shelf / ".mcp.json", "three")
    (warning,) = find(shelf).warnings
    message = "the file changed since you trusted it, so its MCP servers are not started: three"
    assert warning.message == message


def test_a_server_that_is_not_trusted_hides_none_of_the_persons(shelf: Path, home: Path) -> None:
    write_servers(home / ".claude.json", "one")
    write_servers(shelf / ".mcp.json", "one")
    assert list_commands(find(shelf)) == {"one": home.name}


def test_a_rule_that_denies_a_server_denies_its_start(shelf: Path, home: Path) -> None:
    write_servers(home / ".claude.json", "my tickets", "wiki", "other")
    texts = ("mcp__my_tickets", "mcp__wiki__*", "mcp__other__ask", "Bash")
    found = find(shelf, permissions=Permissions(deny=[parse_rule(text) for text in texts]))
    assert list(list_commands(found)) == ["other"]
    assert {(row.name, row.reason) for row in found.skipped} == {
        ("my tickets", "a permission rule denies it"),
        ("wiki", "a permission rule denies it"),
    }


def test_where_nobody_can_be_asked_only_servers_with_a_rule_are_started(
    shelf: Path, home: Path
) -> None:
    write_servers(home / ".claude.json", "one", "two", "three", "twofold")
    permissions = Permissions(allow=[parse_rule("mcp__one"), parse_rule("mcp__two__ask")])
    found = find(shelf, permissions=permissions, can_ask=False)
    assert list(list_commands(found)) == ["one", "two"]
    assert [row.name for row in found.skipped] == ["three", "twofold"]
    (warning,) = found.warnings
    assert warning.message == (
        "MCP servers are not started, because no rule allows their calls and there is no terminal"
        " to ask on: three, twofold"
    )
    assert len(find(shelf, permissions=Permissions("bypass"), can_ask=False).configs) == 4


def test_a_file_that_is_broken_is_a_warning_unless_it_was_asked_for(
    shelf: Path, home: Path
) -> None:
    write_servers(home / ".claude.json", "mine")
    (shelf / ".mcp.json").write_text('{\n"mcpServers": {,}\n}')
    found = find(shelf)
    assert list(list_commands(found)) == ["mine"]
    (warning,) = found.warnings
    assert warning.location == ".mcp.json:2"
    assert warning.message.startswith("its MCP servers are not started: invalid JSON: ")
    with pytest.raises(CubError, match="invalid JSON"):
        find(shelf, CodeOptions(mcp_files=(shelf / ".mcp.json",)))
    with pytest.raises(CubError, match="there is no such file"):
        find(shelf, CodeOptions(mcp_files=(shelf / "none.json",)))
    (shelf / "empty.json").write_text("{}")
    with pytest.raises(CubError, match="there are no mcpServers in it"):
        find(shelf, CodeOptions(mcp_files=(shelf / "empty.json",)))


@pytest.mark.parametrize("tree", [{"mcpServers": []}, {"mcpServers": {"a": 1}}])
def test_a_file_of_another_program_with_odd_values_is_a_warning(
    shelf: Path, home: Path, tree: dict[str, Any]
) -> None:
    (home / ".claude.json").write_text(json.dumps(tree))
    found = find(shelf)
    assert found.configs == []
    assert [warning.path for warning in found.warnings] == ["~/.claude.json"]


def test_without_the_package_a_warning_says_how_to_install_it(
    shelf: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_servers(home / ".claude.json", "mine")
    monkeypatch.setattr(mcp_servers, "find_spec", lambda _: None)
    found = find(shelf)
    assert found.configs == []
    (warning,) = found.warnings
    assert warning.message == "MCP servers need the package mcp, which is not installed: mine"
    assert "or set `code.mcp.enabled: false`" in warning.hint


def test_servers_end_at_once_if_a_session_cannot_be_prepared(shelf: Path, home: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    server = {"command": sys.executable, "args": ["-I", "-S", str(RAW), "log"]}
    (home / "mine.json").write_text(json.dumps({"mcpServers": {"one": server}}))
    (shelf / "replies.yaml").write_text("conversations: [{replies: [{text: Hi.}]}]")
    options = CodeOptions(
        model="scripted/replies.yaml", mcp_files=(home / "mine.json",), gate="checks"
    )
    with closing(StopRequest()) as stop:
        environ = {"PATH": os.environ["PATH"]}
        surroundings = SessionSurroundings(
            shelf, environ, stop, date(2026, 1, 1), has_terminal=True
        )
        with pytest.raises(CubError, match="no check can review the work"):
            prepare_session(open_stores(Project.load(shelf), "bob"), options, surroundings)
    assert (shelf / "starts").read_text() == (shelf / "ends").read_text() == "x"
