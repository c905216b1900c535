"""Whatever is in a repository, its map is made, and is nothing but cub's own Markdown."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from cub.actions.project_map import MapOptions, render_map_file
from cub.edit.document import Document
from cub.edit.file_imports import find_imports, inline_file
from cub.project.project import Project
from cub.repomap.listing.file_listing import list_files
from cub.repomap.render.map_body import render_map_body
from cub.repomap.symbols.collect_facts import FactsCache
from cub.tokens import estimate_tokens
from tests.examples import hardly_any_examples
from tests.repomap.hostile import trees, written
from tests.repomap.maps import surveyed, whole_map

HEADINGS = ["# Project map", "## Commands", "## Layout", "## Symbols"]


def assert_harmless(text: str, tokens: int) -> None:
    """Nothing of a repository's stands outside of fenced blocks, and no line in them is odd."""
    document = Document.parse(text.encode(), ".cub/map.md")
    lines = text.split("\n")
    kinds = [block.kind for block in document.blocks]
    assert kinds[:2] == ["html_block"] * 2  # the header
    assert set(kinds[2:]) == {"heading_open", "fence"}
    headings = [lines[b.start] for b in document.blocks if b.kind == "heading_open"]
    assert headings == [heading for heading in HEADINGS if heading in headings]
    assert all(line == "" or line.isprintable() for line in lines)
    assert find_imports(text) == frozenset()
    assert estimate_tokens(text) <= tokens
    assert "\n### Project map\n" in "\n" + inline_file(text.encode(), ".cub/map.md", "Project map")


@hardly_any_examples  # two maps each
@given(trees)
def test_any_tree_has_a_harmless_map(tree: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        root = written(tree, Path(folder) / "project")
        for tokens in (150, 1500):
            made = render_map_file(Project.load(root), MapOptions(tokens))
            if made.data:
                assert_harmless(made.data.decode(), tokens)


NAMES = [
    ["<<<<<<< ours/a.py", "=======/a.py", ">>>>>>> theirs/a.py"],
    ["<<<<<<< ours.py", "=======", ">>>>>>> theirs.py"],
    ["<!-- BEGIN CUB MANAGED SECTION v1 -->/a.py", "<!-- END CUB MANAGED SECTION -->/b.py"],
    ["@AGENTS.md/a.py", "src/@x.py", "@README.md/@b/@c.py"],
    ["```/a.py", "````/b.py", "`````/```/c.py", "~~~/d.py"],
    ["# Heading/a.py", "## Symbols/b.py", "## Cub/# x.py"],
    ["a\n\n# Heading\n/b.py", "x\r\n@AGENTS.md.py", "--> \n\n# x/c.py"],
    ["\u202eyp.a/b.py", "\u200b/c.py", "\udcff/d.py", "a\u2028b/c.py", "\x1b[31m/e.py"],
]  # fmt: skip


@pytest.mark.parametrize("names", NAMES, ids=lambda names: ascii(names[0]))
def test_no_name_is_markdown(names: list[str], tmp_path: Path) -> None:
    defined = enumerate(names)
    tree = {name: f"def shown_{n}(a, b): ...\nshown_{n - 1}()\n".encode() for n, name in defined}
    root = written({**tree, "README.md": b"# A\n\nA project with odd names.\n"}, tmp_path / "p")
    text = whole_map(root)
    assert_harmless(text, 1500)
    assert sum(f"shown_{n}" in text for n in range(len(names))) >= len(names) - 1


README = [
    "@AGENTS.md is what this project of many words is about.",
    "# Title\n\n```\n# A fence is open\n",
    "<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nWords of a section that never ends.\n",
    "<<<<<<< HEAD\nThis project bakes bread.\n=======\nThis project sells bread.\n>>>>>>> x\n",
    "A project\u2028with\u2029line\x85ends\x0bof\x0cevery\x1ckind that there is.",
    "A `` ` ``` ```` quoted project with many backticks in its first line.",
    "\u202eA project that is written from right to left, as some are.\u202c",
    "A project. " * 5_000, "a" * 100_000, "[" * 50_000, "> " * 50_000, "*_" * 50_000,
    "<a " * 30_000, "- " * 50_000, "| a " * 30_000, "&amp;" * 20_000,
    "\\" * 100_000, "`" * 100_001,
    pytest.param("![](" * 20_000, marks=pytest.mark.thorough),  # seconds, for a pattern goes back
]  # fmt: skip


@pytest.mark.parametrize("text", README, ids=lambda text: ascii(text[:20]))
def test_no_description_is_markdown(text: str, tmp_path: Path) -> None:
    data = text.encode()
    tree = {"README.md": data, "src/README.md": data, "src/a.py": b"def f(): ...\n"}
    tree["src/b/__init__.py"] = f'"""{text}"""\n'.encode()
    tree["package.json"] = json.dumps({"name": text, "description": text}).encode()
    assert_harmless(whole_map(written(tree, tmp_path / "project")), 1500)


SOURCES: dict[str, bytes] = {
    "open brackets": b"(" * 300_000,
    "nested brackets": b"(" * 100_000 + b")" * 100_000,
    "blocks in blocks": b"class A { " * 30_000,
    "generics": b"a<" * 100_000,
    "one line": b"x = [" + b"1, " * 330_000 + b"]",
    "one word": b"a" * 999_000,
    "dots": b"a." * 490_000,
    "imports": b"import " + b"a," * 400_000,
    "from": b"from a import (" + b"b, " * 300_000,
    "spaces": b"import" + b" " * 900_000,
    "blank lines": b"\n" * 900_000 + b"import a",
    "quotes": b"'\"" * 400_000,
    "backslashes": b"\\" * 900_000,
    "definitions": b"".join(b"def f%d(): ...\n" % n for n in range(10_000)),
    "signature": b"def f(" + b"".join(b"a%d: int = 1, " % n for n in range(30_000)) + b"): ...\n",
    "decorators": b"@a\n" * 50_000 + b"def f(): ...\n",
    "NULs": b"def f(): ...\n" + b"\0" * 500_000,
    "late NUL": b"def f(): ...\n" * 2_000 + b"\0",
    "no UTF-8": b"def f(): ...\n" + b"\xff\xfe\x80" * 100_000,
    "UTF-16": "def f(): ...\n".encode("utf-16") * 1_000,
    "too long": b"def f(): ...\n" * 100_000,
    "generated": b"# Code generated by a tool. DO NOT EDIT.\n" + b"def f(): ...\n" * 9_000,
}


_COSTLY = ("definitions", "decorators")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough) if name in _COSTLY else name
        for name in SOURCES
    ],
)
def test_a_source_costs_itself_alone(name: str, tmp_path: Path) -> None:
    data = SOURCES[name]
    tree = {f"odd.{ending}": data for ending in ("py", "go", "js")}
    tree |= {f"{user}/user.py": b"from fine import all_is_well\n" for user in "abc"}
    tree["fine.py"] = b"def all_is_well(): ...\n"
    text = whole_map(written(tree, tmp_path / "project"))
    assert_harmless(text, 1500)
    assert "all_is_well" in text


def special(root: Path) -> None:
    """What is no regular file, in places where a manifest or a source would be read."""
    os.mkfifo(root / "pyproject.toml")
    os.mkfifo(root / "src/pipe.py")
    os.mkfifo(root / ".gitignore")
    (root / "package.json").mkdir()
    (root / "loop.py").symlink_to("loop.py")
    (root / "README.md").symlink_to("/etc/passwd")
    (root / "null.py").symlink_to("/dev/zero")
    (root / "up").symlink_to("..")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("Makefile")


def test_what_is_no_file_is_neither_read_nor_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written({"src/a.py": b"def all_is_well(): ...\n"}, tmp_path / "project")
    monkeypatch.chdir(root)  # the name of a socket must be short
    special(root)
    made = render_map_file(Project.load(root), MapOptions())
    assert_harmless(made.data.decode(), 1500)
    assert b"all_is_well" in made.data
    assert b"root:" not in made.data
    paths = {"pyproject.toml", "src/pipe.py", ".gitignore", "Makefile"}
    assert {note.path for note in made.omissions} == paths


def vanish(path: Path) -> None:
    path.unlink()


def shrink(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9])


def become_binary(path: Path) -> None:
    path.write_bytes(b"\0" * 500)


def become_a_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


CHANGES: list[Callable[[Path], None]] = [
    vanish, shrink, become_binary, become_a_fifo, become_a_folder, become_a_link,
]  # fmt: skip
# Each file, and what stands in the map because of it.
SMALL = {
    "README.md": (b"# Oven\n\nAn oven that bakes bread for all.\n", "An oven that bakes bread"),
    "pyproject.toml": (b'[project]\nname = "oven"\nrequires-python = ">=3.11"\n', "Python >=3.11"),
    "src/oven/__init__.py": (b'"""Heat that goes into bread."""\n', "Heat that goes into bread"),
    "src/oven/heat.py": (b"def warm_up(degrees: int) -> int: ...\n", "warm_up"),
    "src/oven/bread.py": (b"from oven.heat import warm_up\nclass Bread: ...\n", "Bread"),
    "package.json": (b'{"scripts": {"test": "vitest"}}', "npm test"),
    "Makefile": (b"lint:\n\truff check\n", "make lint"),
}


@pytest.mark.parametrize("path", SMALL)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_file_that_changes_between_listing_and_reading_costs_itself_alone(
    path: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    root = written({name: data for name, (data, _) in SMALL.items()}, tmp_path / "project")
    found = list_files(root)
    change(root / path)
    cache = FactsCache(tmp_path / "facts", "v")
    text = render_map_body(surveyed(found, cache), 1500, 0)
    assert "root:" not in text
    others = [word for name, (_, word) in SMALL.items() if name != path]
    assert [word for word in others if word not in text] == []
