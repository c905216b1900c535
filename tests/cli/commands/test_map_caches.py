"""Where caches of the map go, and that none decides about anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import Cub, git, tree

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links or FIFOs")
MAP, CACHE = ".cub/map.md", ".cub/cache"


@pytest.fixture
def code(project: Path) -> Path:
    """A project with something to map, whose files are old enough to be known by their times."""
    (project / "src").mkdir()
    for name, text in (("oven", "def heat() -> int: ...\n"), ("shop", "from oven import heat\n")):
        (project / "src" / f"{name}.py").write_text(text)
        os.utime(project / "src" / f"{name}.py", (10**9, 10**9))
    return project


@pytest.mark.parametrize("command", [["init"], ["init", "--json"], ["update"], ["map"]])
def test_a_refused_command_leaves_none(code: Path, cub: Cub, command: list[str]) -> None:
    (code / "AGENTS.md").write_text("<!-- BEGIN CUB MANAGED SECTION v1 -->\n")
    if command == ["map"]:
        (code / ".cub" / "map.md").mkdir(parents=True)
    before = tree(code)
    assert cub(*command).code == 1
    assert tree(code) == before
    assert (code / ".cub").exists() == (command == ["map"])


def test_a_command_that_is_done_leaves_some(code: Path, cub: Cub) -> None:
    assert cub("init").code == 0
    names = {path.name for path in (code / CACHE).iterdir()}
    assert names >= {".gitignore", "facts.jsonl", "map.json"}
    git(code, "add", "-A")
    assert CACHE not in git(code, "ls-files")


def test_a_preview_leaves_none(code: Path, cub: Cub, tmp_path: Path) -> None:
    assert cub("init", "--diff", XDG_CACHE_HOME=str(tmp_path / "caches")).code == 0
    assert not (code / ".cub").exists()
    assert not (tmp_path / "caches").exists()


def test_what_only_looks_leaves_them_in_the_users_folder(
    code: Path, cub: Cub, tmp_path: Path
) -> None:
    assert cub("map", "--stdout", XDG_CACHE_HOME=str(tmp_path / "caches")).code == 0
    assert not (code / ".cub").exists()
    if sys.platform == "linux":
        assert list((tmp_path / "caches" / "cub" / "maps").glob("*/map.json"))


@posix
@pytest.mark.parametrize("home", ["", "rel", "~"])
def test_without_a_home_there_are_none(code: Path, cub: Cub, home: str) -> None:
    before = tree(code)
    result = cub("map", "--stdout", HOME=home, XDG_CACHE_HOME=home)
    assert (result.code, tree(code)) == (0, before)


@posix
@pytest.mark.parametrize("link", [".cub", CACHE])
def test_a_link_out_of_the_project_is_not_followed(
    code: Path, cub: Cub, tmp_path: Path, link: str
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (code / link).parent.mkdir(exist_ok=True)
    (code / link).symlink_to(theirs)
    for command in (["map", "--stdout"], ["map", "--json"], ["init", "--diff"], ["init"]):
        cub(*command)
        assert list(theirs.iterdir()) == []
    assert cub("map", "--stdout").code == (link == ".cub")


@posix
@pytest.mark.parametrize("name", ["facts.jsonl", "map.json"])
@pytest.mark.parametrize("kind", ["FIFO", "folder", "dangling link", "zeros", "depth"])
def test_whatever_lies_in_its_place_the_map_is_the_same(
    code: Path, cub: Cub, name: str, kind: str
) -> None:
    fresh = cub("map", "--stdout").out
    (code / CACHE).mkdir(parents=True)
    place = code / CACHE / name
    match kind:
        case "FIFO":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "dangling link":
            place.symlink_to("/nowhere/at/all")
        case "zeros":
            place.write_bytes(bytes(100_000))
        case "depth":
            place.write_bytes(b"[" * 200_000)
    for command in (["map", "--stdout"], ["map"], ["map", "--check"]):
        result = cub(*command)
        assert (result.code, "bug" in result.err) == (0, False)
    assert (code / MAP).read_text(encoding="utf-8") == fresh


@posix
@pytest.mark.parametrize("command", ["map", "update", "update --check", "map --json"])
def test_a_folder_that_takes_none_is_no_error(
    code: Path, cub: Cub, unprivileged_cub: Cub, command: str
) -> None:
    assert cub("init").code == 0
    for path in (code / CACHE).iterdir():
        path.unlink()
    (code / CACHE).chmod(0o500)
    done = unprivileged_cub(*command.split())
    (code / CACHE).chmod(0o700)
    assert (done.code, list((code / CACHE).iterdir())) == (0, [])


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("utf-16", marks=pytest.mark.thorough)])
def test_stdout_gets_the_bytes_of_the_file_whatever_its_encoding(
    code: Path, cub: Cub, cub_interpreter: Cub, encoding: str
) -> None:
    (code / "README.md").write_text("# Straße\n\nBread for our café.\n", encoding="utf-8")
    assert cub("map").code == 0
    shown = cub_interpreter("map", "--stdout", PYTHONIOENCODING=encoding).out
    assert "café" in shown
    assert shown == (code / MAP).read_text(encoding="utf-8")


def test_names_of_any_form_are_listed_in_one_order(code: Path, cub: Cub) -> None:
    """Not in the order of a locale, of the folder, or of the time of change."""
    plain = cub("map", "--stdout").out
    texts = {path.name: path.read_bytes() for path in (code / "src").iterdir()}
    for path in (code / "src").iterdir():
        path.unlink()
    for name in sorted(texts, reverse=True):
        (code / "src" / name).write_bytes(texts[name])
    assert cub("map", "--stdout").out == plain
