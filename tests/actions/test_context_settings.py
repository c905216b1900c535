"""Which context commands a call has, and which of them need the person's agreement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.actions.command_options import ContextOptions
from cub.actions.context_settings import ContextSettings, prepare_context_commands
from cub.actions.tasks.stores import open_stores
from cub.errors import CubError
from cub.project.config import CONFIG_FILE
from cub.project.config_layers import get_user_config_path, resolve_config
from cub.project.executable_config import list_config_commands
from cub.project.project import Project
from cub.project.trust_store import make_trusted_commands, save_trust
from tests.attempts import enter_attempt

STATUS = {"name": "Status", "command": "git status"}


@pytest.fixture
def shelf(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a person who has trusted nothing, and has no configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return project


def configure(root: Path, **keys: Any) -> bytes:
    file = root / CONFIG_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(keys, indent=1), "utf-8")
    return file.read_bytes()


def prepare(
    root: Path,
    options: ContextOptions = ContextOptions(),  # noqa: B008 - immutable
    environ: dict[str, str] | None = None,
) -> ContextSettings:
    project = Project.load(root)
    values = resolve_config(project, environ or {}, options.profile).values
    return prepare_context_commands(open_stores(project, "bob"), values, options)


def test_configured_commands_come_first_and_each_has_its_origin(shelf: Path) -> None:
    configure(shelf, context_commands=[STATUS], context_parallel=3)
    options = ContextOptions(exec_lines=("date", "id"), trust=True)
    commands, parallel, _ = prepare(shelf, options)
    assert [(c.name, c.command, c.origin) for c in commands] == [
        ("Status", "git status", f"{CONFIG_FILE}:3"),
        ("CLI Command 1", "date", "--exec"),
        ("CLI Command 2", "id", "--exec"),
    ]
    assert parallel == 3


def test_each_has_the_line_of_its_own_item_and_the_nearest_limits(shelf: Path) -> None:
    own = {**STATUS, "timeout": "5s", "max_output": "1kB"}
    configure(
        shelf, context_commands=[STATUS, own, own], context_timeout="1m", context_max_output="2kB"
    )
    options = ContextOptions(exec_lines=("date",), trust=True)
    first, second, third, last = prepare(shelf, options).commands
    lines = (shelf / CONFIG_FILE).read_text("utf-8").splitlines()
    for command in (first, second, third):
        assert lines[int(command.origin.rpartition(":")[2]) - 1].strip() == "{"
    assert len({first.origin, second.origin, third.origin}) == 3
    assert (first.timeout, first.max_output) == (last.timeout, last.max_output) == (60, 2048)
    assert (third.timeout, third.max_output) == (5, 1024)
    options = ContextOptions(exec_lines=("date",), trust=True, exec_timeout="2s", max_output="1MB")
    found = prepare(shelf, options)
    assert {(c.timeout, c.max_output) for c in found.commands} == {(2, 1 << 20)}
    with pytest.raises(CubError, match="'soon' is not a time"):
        prepare(shelf, ContextOptions(exec_timeout="soon"))
    with pytest.raises(CubError, match="'lots' is not a size"):
        prepare(shelf, ContextOptions(max_output="lots"))


def test_without_the_configured_ones_those_of_the_call_are_left(shelf: Path) -> None:
    configure(shelf, context_commands=[STATUS])
    options = ContextOptions(exec_lines=("date",), no_context_exec=True)
    assert [command.command for command in prepare(shelf, options).commands] == ["date"]


def test_those_of_the_project_need_trust_which_ends_with_a_change(shelf: Path) -> None:
    data = configure(shelf, context_commands=[STATUS], run={"checks": ["true"]})
    with pytest.raises(CubError, match="are not trusted") as refused:
        prepare(shelf)
    assert refused.value.details == (f"context_commands.0: {json.dumps(STATUS)}",)
    assert all(word in refused.value.hint for word in ("cub trust", "--trust", "--no-context-exec"))
    save_trust(shelf, make_trusted_commands(list_config_commands(data), []))
    assert len(prepare(shelf).commands) == 1
    configure(shelf, context_commands=[STATUS, {**STATUS, "command": "id"}])
    with pytest.raises(CubError, match="changed since you trusted them"):
        prepare(shelf)


def test_a_question_comes_in_place_of_trust(shelf: Path) -> None:
    configure(shelf, context_commands=[STATUS])
    assert len(prepare(shelf, ContextOptions(confirm_context_exec=True)).commands) == 1


def test_a_profile_of_the_project_needs_trust(shelf: Path) -> None:
    configure(shelf, profiles={"p": {"context_commands": [STATUS]}})
    assert prepare(shelf).commands == ()
    with pytest.raises(CubError, match="not trusted") as refused:
        prepare(shelf, ContextOptions(profile="p"))
    assert refused.value.details == (f"profiles.p.context_commands.0: {json.dumps(STATUS)}",)


def test_what_is_the_person_s_own_needs_none(shelf: Path) -> None:
    own = get_user_config_path()
    own.parent.mkdir(parents=True)
    mine = {"context_commands": [STATUS], "profiles": {"p": {"context_commands": [STATUS] * 2}}}
    own.write_text(json.dumps(mine), "utf-8")
    assert len(prepare(shelf).commands) == 1
    configure(shelf, context_commands=[STATUS])
    with pytest.raises(CubError, match="not trusted"):
        prepare(shelf)
    assert len(prepare(shelf, ContextOptions(profile="p")).commands) == 2
    assert len(prepare(shelf, environ={"CUB_CONTEXT_COMMANDS": "[]"}).commands) == 0


def test_inside_an_attempt_nothing_runs(shelf: Path) -> None:
    enter_attempt(shelf, "s-1")
    assert prepare(shelf).commands == ()
    with pytest.raises(CubError, match="inside an attempt"):
        prepare(shelf, ContextOptions(exec_lines=("date",)))


def test_an_agent_that_is_called_like_the_list_is_none_of_it(shelf: Path) -> None:
    agents = {"context_commands.0": {"argv": ["x"]}}
    data = configure(
        shelf,
        context_commands=[STATUS],
        harnesses=agents,
        profiles={"p": {"context_commands": [STATUS], "harnesses": agents}},
    )
    left = list_config_commands(data, omit=["context_commands"])
    assert [*left] == ["harnesses.context_commands.0", "profiles.p.harnesses.context_commands.0"]
