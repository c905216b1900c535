"""`cub map` as a process: each option, what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import in_terminal
from tests.conftest import Cub, tree

MAP = ".cub/map.md"
OPTIONS = {
    "--tokens", "--stdout", "--check", "--json", "--exclude", "--no-symbols", "--explain",
}  # fmt: skip
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes or links")


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text.encode())


@pytest.fixture
def code(project: Path) -> Path:
    """A project with something to map, and without cub."""
    put(project, "README.md", "# Bakery\n\nBread for all who live in the café's street.\n")
    put(project, "src/oven.py", "def heat(degrees: int) -> int:\n    return degrees\n")
    put(project, "src/shop.py", "from oven import heat\n\nheat(200)\n")
    put(project, "src/photo.py", "\0")
    put(project, "lib/till.rb", "class Till\n  def open\n  end\nend\n")
    return project


def test_all_options_are_tested_here(cub: Cub) -> None:
    shown = cub("map", "--help").out
    assert set(re.findall(r"^ .{5}(--[a-z-]+)", shown, re.MULTILINE)) == OPTIONS
    source = Path(__file__).read_text(encoding="utf-8")
    assert [option for option in OPTIONS if source.count(f'"{option}"') < 2] == []


def test_it_writes_the_map_and_says_so(code: Path, cub: Cub) -> None:
    first = cub("map")
    assert (first.code, first.out.split()[:2]) == (0, ["create", MAP])
    written = {path for path in tree(code / ".cub") if not path.startswith("cache/")}
    assert written == {"map.md"}
    second = cub("map")
    assert (second.code, second.out) == (0, "")
    assert second.err.endswith("Already up to date.\n")


def test_stdout_gets_the_very_file_and_nothing_is_written(code: Path, cub: Cub) -> None:
    before = tree(code)
    printed = cub("map", "--stdout")
    assert (printed.code, tree(code)) == (0, before)
    assert not (code / ".cub").exists()
    cub("map")
    assert printed.out == (code / MAP).read_text(encoding="utf-8")
    assert "café" in printed.out


@pytest.mark.parametrize("option", [["--stdout"], ["--json"], ["--check"], ["--explain", "heat"]])
def test_what_only_looks_leaves_no_file_in_a_project_without_cub(
    code: Path, home: Path, cub: Cub, option: list[str]
) -> None:
    before = tree(code)
    assert cub("map", *option).code == ("--check" in option)
    assert (tree(code), list(code.glob(".cub"))) == (before, [])
    assert not [path for path in tree(home) if "cub" not in path]


def test_check_is_a_gate(code: Path, cub: Cub) -> None:
    missing = cub("map", "--check")
    assert (missing.code, missing.out.split()[:3]) == (1, ["would", "create", MAP])
    assert missing.err.endswith("The map would change. Run `cub map`.\n")
    cub("map")
    fresh = cub("map", "--check")
    assert (fresh.code, fresh.out) == (0, "")
    put(code, "go/scale.go", "package scale\n")
    before = tree(code)
    stale = cub("map", "--check")
    assert (stale.code, stale.out.split()[:3]) == (1, ["would", "update", MAP])
    assert {p: d for p, d in tree(code).items() if "/cache/" not in p}.items() <= before.items()
    assert cub("map").code == cub("map", "--check").code == 0


def test_check_goes_by_the_options_beside_it(code: Path, cub: Cub) -> None:
    assert cub("map", "--exclude", "lib").code == 0
    assert "Till" not in (code / MAP).read_text(encoding="utf-8")
    assert cub("map", "--check", "--exclude", "lib").code == 0
    assert cub("map", "--check").code == 1


@pytest.mark.parametrize("tokens", [100, 120, 300, 8000])
def test_tokens_are_kept_to(code: Path, cub: Cub, tokens: int) -> None:
    for number in range(60):
        put(code, f"src/part{number}.py", f"def function_{number}(one: int) -> None: ...\n")
    result = cub("map", "--stdout", "--tokens", str(tokens))
    assert result.code == 0
    said = re.match(r"<!-- cub file v1: project map, about (\d+) of (\d+) tokens;", result.out)
    assert said
    assert int(said[1]) <= int(said[2]) == tokens


def test_options_that_do_not_last_are_told(code: Path, cub: Cub) -> None:
    result = cub("map", "--tokens", "700")
    assert (code / MAP).is_file()
    assert (
        "warning: .cub/map.md: the next `cub update` will use the configured values" in result.err
    )
    assert "hint: to keep them, set `map.tokens`" in result.err
    assert "warning" not in cub("map", "--stdout", "--tokens", "700").err


def test_excluded_paths_are_left_out(cub: Cub, code: Path) -> None:
    assert "Till" in cub("map", "--stdout").out
    result = cub("map", "--stdout", "--exclude", "lib/", "--exclude", "*.md", cwd=code / "src")
    assert "heat" in result.out
    assert not any(word in result.out for word in ("Till", "Ruby", "README"))


def test_without_symbols_nothing_is_parsed(cub: Cub, code: Path) -> None:
    result = cub("map", "--stdout", "--no-symbols")
    assert "Python" in result.out
    assert "def heat" not in result.out
    assert json.loads(cub("map", "--json", "--no-symbols").out)["symbols"] == []
    assert (code / "src").is_dir()


def test_a_folder_s_map_is_printed(code: Path, cub: Cub) -> None:
    cub("init")
    before = {path: data for path, data in tree(code).items() if "/cache/" not in path}
    for arguments, cwd in ((["src"], code), (["."], code / "src"), ([str(code / "src")], code)):
        result = cub("map", *arguments, cwd=cwd)
        assert result.code == 0
        assert "def heat(degrees: int) -> int" in result.out
        assert not any(word in result.out for word in ("Till", "café", "src/"))
    assert before.items() <= tree(code).items()
    assert json.loads(cub("map", "--json", "lib").out)["root"] == (code / "lib").as_posix()


def test_the_root_as_path_is_the_project(code: Path, cub: Cub) -> None:
    assert cub("map", "..", cwd=code / "src").code == 0
    assert (code / MAP).is_file()
    assert cub("-C", str(code / "src"), "map", "--check").code == 0


def test_json_has_all_that_the_map_chooses_from(code: Path, cub: Cub) -> None:
    put(code, ".cub/tasks.jsonl", '{"id":"a","status":"open"}\n')
    found = json.loads(cub("map", "--json").out)
    assert list(found) == [
        "v", "root", "summary", "languages", "technologies", "commands", "entry_points",
        "packages", "key_files", "conventions", "symbols", "health", "notes",
    ]  # fmt: skip
    assert (found["v"], found["root"]) == (1, code.as_posix())
    assert found["health"] == {"tasks": {"open": 1}, "attempts": {}}
    assert [note["path"] for note in found["notes"]] == ["src/photo.py"]
    assert [symbol["rank"] for symbol in found["symbols"]] == [1, 2, 3]
    (heat,) = (symbol for symbol in found["symbols"] if symbol["name"] == "heat")
    assert (heat["path"], heat["line"], heat["users"]) == ("src/oven.py", 1, 1)


def test_a_rank_is_explained(cub: Cub, code: Path) -> None:
    lines = cub("map", "--explain", "heat").out.splitlines()
    assert lines[0] == "def heat(degrees: int) -> int"
    assert lines[1].startswith("  src/oven.py:1, rank ")
    assert re.fullmatch(r"  score [\d.e+]+ = in degree .+", lines[2])
    assert [line.split()[1] for line in lines[3:]] == ["src/shop.py"]
    unknown = cub("map", "--explain", "heet")
    assert (unknown.code, unknown.out) == (1, "")
    assert unknown.err.startswith("error: unknown definition heet\nhint: did you mean heat")
    assert (code / "src").is_dir()


def test_what_could_not_be_read_is_counted_or_named(cub: Cub, code: Path) -> None:
    quiet = cub("map", "--stdout")
    assert quiet.err == "1 file could not be read or parsed; -v names them.\n"
    for option in ("-v", "--verbose"):
        told = cub("map", "--stdout", option).err.splitlines()
        assert [line for line in told if not re.match(r"\d+\.\d{3}s ", line)] == [
            "src/photo.py: binary"
        ]
    assert (code / "src").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("--tokens 99", "a map of 99 tokens is too small", "use at least 100"),
        ("--tokens -1", "a map of -1 tokens is too small", "use at least 100"),
        ("--exclude !", "--exclude: '!' is not a pattern", "use `.gitignore` syntax"),
        ("--check --explain x", "--check cannot be used with --explain", "pass one of them"),
        ("--check src", "there is no map of a part to check", "leave PATH out"),
    ],
)
def test_a_wrong_command_line_is_2(
    cub: Cub, code: Path, arguments: str, message: str, hint: str
) -> None:
    before = tree(code)
    result = cub("map", *arguments.split())
    assert (result.code, result.out, tree(code)) == (2, "", before)
    assert result.err.startswith(f"error: {message}")
    assert f"hint: {hint}" in result.err or not hint


@pytest.mark.parametrize(
    ("path", "said"), [("nowhere", "no such directory"), ("README.md", "not a directory")]
)
def test_a_path_to_no_folder_is_an_error(cub: Cub, code: Path, path: str, said: str) -> None:
    result = cub("map", path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")
    assert said in result.err.splitlines()[0]
    assert not (code / ".cub").exists()


def test_a_project_without_files_has_no_map(cub: Cub, project: Path) -> None:
    for options in ([], ["--check"], ["--stdout"]):
        result = cub("map", *options)
        assert (result.code, result.out) == (0, "")
        assert result.err == "Nothing to map here.\n"
    assert tree(project) == {}


def test_a_configuration_without_a_map_is_an_error_unless_a_length_is_given(
    cub: Cub, code: Path
) -> None:
    put(code, ".cub/config.yaml", "map: {tokens: 0}\n")
    result = cub("map")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: .cub/config.yaml: map.tokens: a map of 0 tokens")
    assert cub("map", "--stdout", "--tokens", "200").code == 0


@posix
def test_colors_are_for_those_who_want_them(code: Path, home: Path) -> None:
    assert "\x1b[32mwould create" in in_terminal("map", "--check", cwd=code, home=home).text
    plain = in_terminal("map", "--check", cwd=code, home=home, NO_COLOR="1")
    # On a busy machine a progress bar comes first, without colors.
    assert (plain.code, re.findall(r"\x1b\[\d+m", plain.text)) == (1, [])
