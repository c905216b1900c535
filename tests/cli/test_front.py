from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cub import __version__
from tests.conftest import Cub

GROUPS = {
    "Start": ["init", "demo", "doctor", "status"],
    "Work": ["task", "run", "code"],
    "Context": ["context", "prompt", "map", "agents"],
    "Upkeep": ["update", "diff", "repair", "remove", "config", "trust", "ledger", "schema"],
    "Other": ["help", "version"],
}


@pytest.mark.parametrize("option", ["--version", "-V"])
@pytest.mark.parametrize("before", [(), ("--no-color",), ("-C", "/")], ids=["alone", "second", "C"])
def test_the_version_is_one_line_on_stdout(cub: Cub, option: str, before: tuple[str, ...]) -> None:
    result = cub(*before, option)
    assert (result.code, result.out, result.err) == (0, f"cub {__version__}\n", "")


def test_the_help_of_cub_lists_every_command_in_its_group(cub: Cub) -> None:
    out = cub("--help").out
    assert "Example: cub " in out
    shown: dict[str, list[str]] = {}
    for title, names in re.findall(r"^([A-Z]\w+):\n((?:  [a-z]+ .*\n)+)", out, re.MULTILINE):
        shown[title] = [line.split()[0] for line in names.splitlines()]
    assert shown == GROUPS


def test_the_global_options_are_listed_once(cub: Cub) -> None:
    assert "\nGlobal options:\n  -C DIR" in cub("--help").out
    for command in ("run", "task add"):
        out = cub(*command.split(), "--help").out
        assert "\nGlobal options: see `cub --help`\n" in out
        assert "-C DIR" not in out


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("help", "cub help [OPTIONS] [COMMAND]..."),
        ("schema", "cub schema [OPTIONS] [NAME]..."),
        ("run", "cub run [OPTIONS] [TEXT...|ID|COMMAND]"),
        ("task", "cub task [OPTIONS] COMMAND"),
        ("task show", "cub task show [OPTIONS] ID"),
    ],
)
def test_what_may_be_left_out_is_in_brackets(cub: Cub, command: str, usage: str) -> None:
    assert f"Usage: {usage}\n" in cub(*command.split(), "--help").out


@pytest.mark.parametrize("how", ["absolute", "relative", "sub-folder", "link"])
def test_dash_c_is_as_if_started_there(project: Path, tmp_path: Path, cub: Cub, how: str) -> None:
    (project / "src").mkdir()
    if how == "link":
        if os.name == "nt":
            pytest.skip("needs links")
        (tmp_path / "link").symlink_to(project)
    folder = {
        "absolute": str(project),
        "relative": "project",
        "sub-folder": "project/src",
        "link": "link",
    }[how]
    assert cub("-C", folder, "init", cwd=tmp_path).code == 0
    assert (project / "AGENTS.md").exists()
    assert not (tmp_path / ".cub").exists()
    assert not (project / "src" / "AGENTS.md").exists()


def test_a_path_is_taken_from_where_dash_c_goes(project: Path, tmp_path: Path, cub: Cub) -> None:
    (project / "packages" / "api").mkdir(parents=True)
    assert cub("-C", "project/packages", "init", "api", cwd=tmp_path).code == 0
    assert (project / "packages" / "api" / "AGENTS.md").exists()


@pytest.mark.parametrize(
    ("words", "count", "offered"),
    [
        ("cub re", "1", ["repair", "remove"]),
        ("cub task reopen ", "x", []),
    ],
)
def test_the_shell_completes(cub_process: Cub, words: str, count: str, offered: list[str]) -> None:
    result = cub_process(
        "nonsense", _CUB_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count
    )
    assert (result.code, result.err) == (0, "")
    assert result.out.split() == offered
