from __future__ import annotations

import json

import pytest

from cub.repomap.outline.descriptions import (
    MAX_DESCRIPTION_CHARS,
    describe_folders,
    summarize_project,
)


class _Files(dict[str, bytes]):
    """Files by path, which count how often they are read."""

    reads = 0

    def __init__(self, files: dict[str, str | bytes]) -> None:
        super().__init__(
            (path, text if isinstance(text, bytes) else text.encode())
            for path, text in files.items()
        )

    def read(self, path: str) -> bytes:
        self.reads += 1
        if self[path] == b"unreadable":
            raise PermissionError(path)
        return self[path]


def _describe(files: dict[str, str | bytes]) -> dict[str, str]:
    there = _Files(files)
    return describe_folders(frozenset(there), there.read)


def _summary(files: dict[str, str | bytes]) -> str:
    there = _Files(files)
    return summarize_project(frozenset(there), there.read)


_BADGE = "[![state of all](https://badge.test/s)](https://c.test/c)"
_SAYS = "reads the tasks from disk"
_MUCH = "on a disk that is far away from you and from us or on any other of the disks"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("p/__init__.py", f'"""{_SAYS}.\n\nMore about it."""\n'),
        ("p/__init__.py", f"#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\nr'''{_SAYS}.'''\n"),
        ("p/__init__.py", f'\ufeff"""\n    {_SAYS}.\n"""'),
        ("p/doc.go", f"// Copyright us.\n\n// Package p {_SAYS}.\n//\n// More.\npackage p\n"),
        ("p/doc.go", f"/*\nPackage p {_SAYS}.\n*/\npackage p\n"),
        ("p/gen.go", f"//go:generate go run x.go\n// Package p {_SAYS}.\npackage p\n"),
        ("p/zebra.go", f"// Package p {_SAYS}.\npackage p\n"),
        ("p/lib.rs", f"// licence\n\n//! {_SAYS}.\n//!\n//! More.\n\nuse x;\n"),
        ("p/mod.rs", f"//! # Tasks\n//!\n//! {_SAYS}.\n"),
        ("p/package-info.java", f"/* (c) us */\n/**\n * {_SAYS}.\n * @since 1\n */\npackage p;\n"),
        ("p/package.json", json.dumps({"description": f"{_SAYS}."})),
        ("p/pyproject.toml", f'[project]\ndescription = "{_SAYS}"\n'),
        ("p/pyproject.toml", f'[tool.poetry]\ndescription = "{_SAYS}"\n'),
        ("p/Cargo.toml", f'[package]\ndescription = """\n{_SAYS}.\n"""\n'),
        ("p/composer.json", json.dumps({"description": _SAYS})),
        ("p/README.md", f"# p\n\nThis folder **{_SAYS}**.\n"),
        ("p/README.rst", f"p\n=\n\np is a `{_SAYS} <x>`_.\n"),
        ("p/index.ts", f"/**\n * @packageDocumentation\n * {_SAYS}.\n */\nexport {{}}\n"),
    ],
)
def test_a_folder_is_described_by_its_own_files(path: str, text: str) -> None:
    assert _describe({path: text}) == {"p": _SAYS}


@pytest.mark.parametrize(
    "text",
    [
        '"""Package p."""',
        '"""The p module."""',
        '"""Copyright 2020 by us, the people of p."""',
        "import os\n'''no docstring'''\n",
        '"""TODO describe what this is for"""',
        "",
        b"\xff\xfe\x00\x00\x80",
        b"unreadable",
        '"""' + "x" * 100_000,
    ],
)
def test_a_file_that_says_nothing_describes_nothing(text: str | bytes) -> None:
    said = _describe({"p/__init__.py": text})
    assert all(len(words) <= MAX_DESCRIPTION_CHARS for words in said.values())
    assert not said or "x" in said["p"]


def test_the_manifest_speaks_before_the_readme() -> None:
    files = {"p/README.md": "# p\n\nOther words that are here.\n"}
    assert _describe({**files, "p/package.json": '{"description": "from the manifest"}'}) == {
        "p": "from the manifest"
    }
    assert _describe({**files, "p/package.json": '{"description": '}) == {
        "p": "Other words that are here"
    }


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (f"Reads tasks {_MUCH}.", f"Reads tasks {_MUCH}"),
        (f"Reads all of the tasks that are there, which may be slow {_MUCH}.",
         "Reads all of the tasks that are there…"),
        (f"Reads all of the tasks that are there (slow; but not so {_MUCH}).",
         "Reads all of the tasks that are there…"),
        (f"Reads all of the tasks {_MUCH} for the sake of others.",
         f"Reads all of the tasks {_MUCH} for the sake…"),
        ("p - a reader of tasks", "reader of tasks"),
        ("This package provides the reader of tasks.", "reader of tasks"),
        ("This is a reader of tasks.", "reader of tasks"),
        ("This example shows a reader of tasks.", "shows a reader of tasks"),
        ("package p contains some readers of tasks", "some readers of tasks"),
        ("Package initialisation of tasks", "Package initialisation of tasks"),
        ("Support files such as:", "Support files"),
    ],
)  # fmt: skip
def test_long_descriptions_are_cut_where_they_can_end(text: str, short: str) -> None:
    assert _describe({"p/__init__.py": f'"""{text}"""'}) == {"p": short}


def test_what_is_said_of_several_folders_is_left_out() -> None:
    files: dict[str, str | bytes] = {
        f"{name}/README.md": "# T\n\nA template for new projects.\n" for name in "ab"
    }
    assert _describe({**files, "c/README.md": "# C\n\nA generator of new projects.\n"}) == {
        "c": "A generator of new projects"
    }


def test_what_the_project_says_of_itself_is_no_description_of_a_folder() -> None:
    text = "# Name\n\nA fast generator of static websites.\n"
    assert _describe({"README.md": text, "docs/README.md": text}) == {}


def test_the_source_folder_of_a_described_package_is_not_described_again() -> None:
    files: dict[str, str | bytes] = {
        "crate/Cargo.toml": '[package]\ndescription = "glob matching"\n',
        "crate/src/lib.rs": "//! Matches globs on every platform.\n",
    }
    assert _describe(files) == {"crate": "glob matching"}


def test_hidden_folders_and_the_root_are_not_described() -> None:
    text = '"""Words about this folder."""'
    assert _describe({".hidden/__init__.py": text, "__init__.py": text}) == {}


def test_only_so_many_folders_are_read() -> None:
    files = _Files({f"p{n:04}/__init__.py": f'"""Number {n} of them"""' for n in range(1000)})
    files.update({"p0999/other.py": b"", "p0500/deep/__init__.py": b'"""Deeper than the others"""'})
    said = describe_folders(frozenset(files), files.read)
    assert len(said) == 200
    assert {"p0999", "p0000", "p0500"} <= said.keys()
    assert "p0500/deep" not in said
    assert files.reads <= 300


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pyproject.toml": '[project]\ndescription = "A  tool that does\\n one thing well."'},
         "A tool that does one thing well."),
        ({"pyproject.toml": '[project]\ndescription = "A tool that does one thing well"\n'
          + "# long\n" * 2000}, "A tool that does one thing well"),
        ({"package.json": '{"description": "Too short"}',
          "README.md": "# N\n\nN is a tool that does one thing. It does it well. Always.\n"},
         "N is a tool that does one thing. It does it well."),
        ({"package.json": '{"description": "Too short"}'}, "Too short"),
        ({"README.md": "# N\n\nN is a tool that does one thing. npm knows it" + " well" * 50},
         "N is a tool that does one thing."),
        ({"README.md": f"# N\n\n{_BADGE}\n" + 99 * f"{_BADGE}\n"
          + "\nIt does one thing very well.\n"}, "It does one thing very well."),
        ({"README.md": "# N\n\n```\n" + "x\n" * 16_350 + "```\n\nN is a tool that does "
          + "one thing after another " * 20}, ""),
        ({"package.json": "[1, 2]", "Cargo.toml": "broken = ["}, ""),
        ({"package.json": "[" * 100_000 + '"description"'}, ""),
        ({"pkg/README.md": "# N\n\nN is not the project but a part.\n"}, ""),
        ({"README": b"\xff\xfeN\x00"}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_project_says_what_it_is(files: dict[str, str | bytes], said: str) -> None:
    assert _summary(files) == said


def test_a_summary_is_cut_at_a_word() -> None:
    said = _summary({"README.md": "# N\n\n" + "many words " * 100})
    assert said.endswith(("words…", "many…"))
    assert len(said) <= 200


@pytest.mark.parametrize("name", ["README.md", "__init__.py", "doc.go", "lib.rs", "index.ts"])
@pytest.mark.parametrize(
    "bit", ["\n", "#\n", "=\n", "[", "`", "<", "<!--", "//\n", "/**", "//! ", "a. "]
)
def test_endless_repetitions_cost_little(name: str, bit: str) -> None:
    text = bit * 20_000
    files = {f"p/{name}": text, f"q/{name}": f"/**{text}", f"r/{name}": f'"""{text}'}
    assert _describe({**files, "a/lib.rs": f"//! {_SAYS}."}) == {"a": _SAYS}
    assert len(_summary({name: text})) <= 200


@pytest.mark.parametrize("bit", ["@ ", "/**@", "*/ @a\n", "\n"])
def test_endless_annotations_cost_little(bit: str) -> None:
    assert _describe({"p/package-info.java": "/** Words of it. */" + bit * 20_000}) == {}
