"""`cub config` as a person and a script use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.project.config_schema import build_config_schema
from tests.cli.standing import stand
from tests.conftest import Cub

TEXT = b"# ours\r\ntargets: ['CLAUDE.md']  # one\r\nrun:\r\n    model: \"opus\"  # slow\r\nzebra: 1"


@pytest.fixture
def file(project: Path) -> Path:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_bytes(TEXT)
    return project / ".cub" / "config.yaml"


@pytest.fixture
def mine(cub: Cub) -> Path:
    """The user's own file, with two values."""
    path = Path(cub("config", "path", "--user").out.strip())
    path.parent.mkdir(parents=True)
    path.write_text("# mine\nrun: {timeout: 5m, model: haiku}\n")
    return path


def short(path: Path, home: Path) -> str:
    """A path as messages have it."""
    return f"~/{path.relative_to(home).as_posix()}"


@pytest.mark.usefixtures("file")
def test_show_names_the_origin_of_every_value(cub: Cub, home: Path, mine: Path) -> None:
    result = cub("config", "show", CUB_RUN_BRANCH="main")
    rows = {line.split()[0]: line.split()[1:] for line in result.out.splitlines()}
    assert result.code == 0
    assert rows["key"] == ["value", "origin"]
    assert rows["targets"] == ["[CLAUDE.md]", ".cub/config.yaml:2"]
    assert rows["run.model"] == ["opus", ".cub/config.yaml:4"]
    assert rows["run.timeout"] == ["5m", f"{short(mine, home)}:2"]
    assert rows["run.branch"] == ["main", "CUB_RUN_BRANCH"]
    assert rows["run.max_attempts"] == ["3", "default"]
    assert "warning: .cub/config.yaml:5: unknown key 'zebra'" in result.err


def test_show_lays_a_profile_over_it(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text(
        "run: {model: a}\nprofiles: {fast: {run: {model: b}, placement: top}}\n"
    )
    result = cub("config", "show", "--profile", "fast", "--json")
    tree = json.loads(result.out)
    assert sorted(tree) == ["root", "settings", "v", "warnings"]
    found = {row["key"]: row for row in tree["settings"]}
    assert found["run.model"] == {
        "key": "run.model",
        "value": "b",
        "origin": "profile",
        "where": "profile fast",
    }
    assert found["placement"]["origin"] == "default"
    assert "'placement' is ignored here" in tree["warnings"][-1]["message"]
    wrong = cub("config", "show", "--profile", "fats")
    assert (wrong.code, wrong.out) == (2, "")
    assert "hint: did you mean 'fast'?" in wrong.err


@pytest.mark.parametrize(
    ("key", "out"),
    [
        ("run.model", "opus\n"),
        ("run.branch", "null\n"),
        ("run.commit", "true\n"),
        ("run.message", "{type}({id}): {title}\n"),
        ("targets", '["CLAUDE.md"]\n'),
        ("run.budget", '{"usd": null, "tokens": null, "iterations": null}\n'),
    ],
)
@pytest.mark.usefixtures("file")
def test_get_prints_the_value_alone(cub: Cub, key: str, out: str) -> None:
    result = cub("config", "get", key)
    assert (result.code, result.out, result.err) == (0, out, "")


@pytest.mark.usefixtures("file")
def test_get_as_json_has_the_origin(cub: Cub) -> None:
    assert json.loads(cub("config", "get", "targets", "--json").out) == {
        "v": 1,
        "key": "targets",
        "value": ["CLAUDE.md"],
        "origin": "project",
        "where": ".cub/config.yaml:2",
    }


def test_get_of_an_unknown_key_is_a_usage_error(cub: Cub) -> None:
    result = cub("config", "get", "run.modell")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: unknown key 'run.modell'\nhint: did you mean 'run.model'?\n"


def test_a_wrong_variable_is_an_error_that_names_it(cub: Cub) -> None:
    result = cub("config", "get", "run.model", CUB_RUN_MAX_ATTEMPTS="many", CUB_LOG="{")
    assert result.code == 1
    assert result.err == (
        "error: CUB_RUN_MAX_ATTEMPTS: must be an integer of at least 1, not 'many'\n"
    )


@pytest.mark.parametrize("value", ["{run:>2000000000}", "{run.__class__}", "{0}"])
def test_a_template_holds_names_alone(cub: Cub, file: Path, value: str) -> None:
    result = cub("config", "set", "run.branch", value)
    assert (result.code, result.out, file.read_bytes()) == (2, "", TEXT)
    assert f"run.branch has an unknown placeholder '{value}'" in result.err
    assert "hint: choose from {run}, {date}, or {epic}" in result.err
    result = cub("config", "get", "run.branch", CUB_RUN_BRANCH=value)
    assert (result.code, result.out) == (1, "")
    assert f"CUB_RUN_BRANCH: has an unknown placeholder '{value}'" in result.err


@pytest.mark.parametrize(
    ("key", "value", "after"),
    [
        ("run.model", "haiku", TEXT.replace(b"opus", b"haiku")),
        ("run.commit", "false", TEXT.replace(b"slow\r\n", b"slow\r\n    commit: false\r\n")),
        ("inline", "[map]", TEXT + b"\r\ninline: [map]"),
        ("targets", "[CLAUDE.md, ./AGENTS.md]", None),
        ("requires-cub", ">=0.0.1", TEXT + b'\r\nrequires-cub: ">=0.0.1"'),
    ],
)
def test_set_writes_one_value_and_leaves_the_rest(
    cub: Cub, file: Path, key: str, value: str, after: bytes | None
) -> None:
    for flag in ("--diff", "--dry-run"):
        shown = cub("config", "set", key, value, flag)
        assert (shown.code, file.read_bytes()) == (0, TEXT)
        assert ".cub/config.yaml" in shown.out
    result = cub("config", "set", key, value)
    assert result.code == 0
    assert f"Set {key} in .cub/config.yaml." in result.err
    assert ("run `cub init`" in result.err.lower()) == (key in ("targets", "inline"))
    written = file.read_bytes()
    assert after is None or written == after
    assert b"# ours\r\n" in written
    again = cub("config", "set", key, value)
    assert (again.code, again.out) == (0, "")
    assert "Already up to date." in again.err
    assert file.read_bytes() == written
    assert sorted(path.name for path in file.parent.iterdir()) == ["config.yaml"]


def test_set_makes_the_file_where_there_is_none(project: Path, cub: Cub) -> None:
    result = cub("config", "set", "placement", "top")
    assert (result.code, result.err) == (0, "Set placement in .cub/config.yaml.\n")
    assert (project / ".cub" / "config.yaml").read_bytes() == b"placement: top\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("run.max_attempts", "many"),
            "run.max_attempts must be an integer of at least 1, not 'many'",
        ),
        (("placement", "left"), "placement must be bottom or top, not 'left'"),
        (("inline", "[mapp]"), "inline[0] must be map or constitution, not 'mapp'"),
        (("targets", "[README.md]"), "targets[0] ('README.md') is not a file that cub manages"),
        (("run.model", "caf\udce9"), "cannot read 'caf\\udce9': byte 0xe9 is not UTF-8"),
        (("run.checks", "[a"), "cannot read '[a': "),
        (("run.modle", "x"), "unknown key 'run.modle'\nhint: did you mean 'run.model'?"),
        (("run", "{modle: x}"), "unknown key 'run.modle'"),
        (("run", "fast"), "run must be a mapping"),
        (
            ("harnesses.mine.prompt", "pipe"),
            "harnesses.mine.prompt must be stdin, file, or arg",
        ),
        (
            ("profiles.fast.run.commit", "3"),
            "profiles.fast.run.commit must be true or false",
        ),
        (("profiles.fast.placement", "top"), "profiles.fast.placement can only be set"),
        (("schema", "2"), "schema cannot be set"),
        (("--user", "targets", "[AGENTS.md]"), "targets can only be set"),
        (("--user", "map", "{}"), "map can only be set"),
        (("requires-cub", "newest"), "requires-cub must be a version specifier, not 'newest'"),
    ],
)
def test_set_refuses_what_does_not_fit(
    project: Path, cub: Cub, home: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = stand(project)
    result = cub("config", "set", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {said}")
    assert {**stand(project), ".": before["."]} == before
    assert list(home.iterdir()) == []


def test_set_does_not_lock_the_person_out(project: Path, cub: Cub) -> None:
    result = cub("config", "set", "requires-cub", ">=99")
    assert result.code == 1
    assert "this project needs cub >=99" in result.err
    assert not (project / ".cub").exists()


def test_set_says_what_to_write_where_it_can_not(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    text = b"run:\n  checks: [a, # one\n    b]\n"
    (project / ".cub" / "config.yaml").write_bytes(text)
    result = cub("config", "set", "run.checks", "[b]")
    assert result.code == 1
    assert "hint: replace `run.checks` on line 2 with: checks: [b]" in result.err
    assert (project / ".cub" / "config.yaml").read_bytes() == text


def test_set_user_writes_the_person_s_own_file(
    project: Path, cub: Cub, home: Path, mine: Path
) -> None:
    before = stand(project)
    shown = cub("config", "set", "--user", "run.model", "sonnet", "--diff")
    assert "+run: {timeout: 5m, model: sonnet}" in shown.out.splitlines()
    assert b"haiku" in mine.read_bytes()
    result = cub("config", "set", "--user", "run.model", "sonnet")
    assert result.code == 0
    assert f"Set run.model in {short(mine, home)}." in result.err
    assert mine.read_bytes() == b"# mine\nrun: {timeout: 5m, model: sonnet}\n"
    assert cub("config", "get", "run.model").out == "sonnet\n"
    again = cub("config", "set", "--user", "run.model", "sonnet")
    assert "Already up to date" in again.err
    assert [path.name for path in mine.parent.iterdir()] == ["config.yaml"]
    assert stand(project) == before


def test_an_error_in_the_person_s_own_file_names_it(cub: Cub, home: Path, mine: Path) -> None:
    mine.write_text("run: {commit: 3}\n")
    result = cub("config", "show")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(
        f"error: {short(mine, home)}:1:15: run.commit must be true or false"
    )


def test_path_and_schema_need_no_project_and_no_good_file(tmp_path: Path, cub: Cub) -> None:
    folder = tmp_path / "bare"
    (folder / ".cub").mkdir(parents=True)
    (folder / ".cub" / "config.yaml").write_text("a: b: c\n")
    where = cub("config", "path", cwd=folder)
    assert (where.code, where.out) == (0, f"{folder.resolve().as_posix()}/.cub/config.yaml\n")
    user = cub("config", "path", "--user", cwd=folder)
    assert Path(user.out.strip()).is_absolute()
    assert user.out.endswith("/cub/config.yaml\n")
    printed = cub("config", "schema", cwd=folder)
    assert json.loads(printed.out) == build_config_schema()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_show_does_not_print_the_key_of_a_service(
    project: Path, cub: Cub, options: tuple[str, ...]
) -> None:
    (project / ".cub").mkdir()
    text = "code: {api_key: very-private}\nprofiles: {p: {code: {api_key: very-private}}}\n"
    (project / ".cub" / "config.yaml").write_text(text)
    done = cub("config", "show", *options)
    assert (done.code, "very-private" in done.out) == (0, False)
    assert done.out.count("[masked]") == 2
    assert cub("config", "get", "code.api_key").out == "very-private\n"


def test_show_works_outside_of_any_project(tmp_path: Path, cub: Cub) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    result = cub("config", "show", cwd=folder)
    assert (result.code, result.err) == (0, "")
    assert list(folder.iterdir()) == []


def test_config_alone_shows_its_parts(cub: Cub) -> None:
    result = cub("config")
    assert result.code == 2
    assert all(f" {name} " in result.out for name in ("show", "get", "set", "path", "schema"))


def test_what_can_not_be_edited_in_place_is_refused_and_said(cub: Cub, file: Path) -> None:
    text = b"harnesses:\n  one:\n    # why\n    argv: [a]\n"
    file.write_bytes(text)
    result = cub("config", "set", "harnesses.one", "{argv: [b]}")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "error: .cub/config.yaml: cub can't set `harnesses.one` here without changing other "
        "lines\nhint: replace `harnesses.one` on line 2 with: one: {argv: [b]}\n"
    )
    assert file.read_bytes() == text
