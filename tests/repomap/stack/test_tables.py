"""The shipped tables: they are opened without any check, so their shape is checked here."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from typing import Any, get_args

import pytest

from cub.repomap.data import load_table
from cub.repomap.stack.facts import COMMAND_PURPOSES, TechnologyRole
from cub.repomap.stack.manifest import Ecosystem, Manifest

PURPOSES = set(COMMAND_PURPOSES)
ROLES = set(get_args(TechnologyRole))
ROWS: list[dict[str, Any]] = load_table("manifests")["manifests"]


def is_texts(value: object) -> bool:
    """A list of texts that are not empty, each once."""
    return (
        isinstance(value, list)
        and all(isinstance(text, str) and text.strip() == text != "" for text in value)
        and len(set(value)) == len(value) > 0
    )


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_manifest_has_globs_and_a_way_to_be_read(row: dict[str, Any]) -> None:
    if "folders" in row:
        assert is_texts(row["folders"])
        assert is_texts(row["names"])
    else:
        assert is_texts(row["globs"])
    rest = set(row) - {"globs", "folders", "names"}
    assert rest
    assert ("tool" in row) <= (rest == {"tool"} and row["tool"] in load_table("tools")["python"])
    assert ("technology" in row) == (row.get("role") in ROLES)
    texts = {"tool", "technology", "role", "read", "beside", "comment", "entry_point", "members"}
    texts |= PURPOSES | {"needs", "tree", "entries"}
    patterns = {"version", "name", "description"}
    others = {"programs", "packages", "workspaces", "required", "unless_above"}
    assert rest <= texts | patterns | others
    assert row.get("tree", "json") in ("json", "toml", "yaml")
    assert all(isinstance(row[key], str) and row[key] for key in rest & texts)
    assert any("{program}" in row[key] for key in rest & PURPOSES) == ("programs" in row)
    assert "programs" not in row or (is_texts(row["programs"]) and len(row["programs"]) == 2)
    assert all(re.compile(one).groups == 1 for key in patterns for one in row.get(key, ()))
    members = re.compile(row.get("members", "(?P<name>)(?P<folder>)"))
    assert set(members.groupindex) == {"name", "folder"}
    entries = re.compile(row.get("entries", "(?P<name>)(?P<target>)"))
    assert set(entries.groupindex) == {"name", "target"}
    globs = [one for listed in row.get("workspaces", {}).values() for one in listed]
    assert all(re.compile(one).groups == 1 for one in globs)
    assert "version" in row or "required" not in row
    assert set(row.get("packages", {})) <= set(PACKAGES)
    packages = row.get("packages", {}).values()
    assert all(re.compile(one).groups > 1 for listed in packages for one in listed)


@pytest.mark.parametrize("name", [row["read"] for row in ROWS if "read" in row])
def test_a_reader_is_a_function(name: str) -> None:
    module, _, function = name.partition(".")
    assert callable(getattr(import_module(f"cub.repomap.stack.readers.{module}"), function))


def test_every_glob_of_a_technology_and_every_reader_stands_once() -> None:
    counts = Counter(
        (glob, row.get("technology") or row.get("needs"))
        for row in ROWS
        for glob in row.get("globs", ())
    )
    counts.update(row["read"] for row in ROWS if "read" in row)
    assert [text for text, count in counts.items() if count > 1] == []


PACKAGES = load_table("packages")


def test_packages_are_of_known_ecosystems_and_roles() -> None:
    assert set(PACKAGES) == set(get_args(Ecosystem))
    assert {role for roles in PACKAGES.values() for role in roles} <= ROLES


@pytest.mark.parametrize("ecosystem", PACKAGES)
def test_a_package_has_one_name_and_one_role(ecosystem: Ecosystem) -> None:
    seen = set()
    for role, names in PACKAGES[ecosystem].items():
        for package, name in names.items():
            assert package == package.strip().lower()
            assert name == name.strip() != ""
            assert package not in seen
            seen.add(package)
            found = Manifest("x", "", frozenset()).find_known(ecosystem, [(package, "1")])
            assert found == ((name, role, "1", "x"),)


def test_programs_are_words_for_one_purpose() -> None:
    purposes, words = load_table("programs")["purposes"], load_table("programs")["command_lines"]
    assert set(purposes) == PURPOSES
    assert all(is_texts(value) for value in (*purposes.values(), *words.values()))
    programs = [program for listed in purposes.values() for program in listed]
    assert len(programs) == len(set(programs))
    assert all(" ".join(program.split()) == program for program in programs)


def test_a_program_is_of_one_ecosystem() -> None:
    ecosystems = load_table("programs")["ecosystems"]
    assert all(is_texts(programs) for programs in ecosystems.values())
    once = [program for programs in ecosystems.values() for program in programs]
    assert len(once) == len(set(once))


def test_words_of_targets_have_one_purpose() -> None:
    words, plain, special = (load_table("targets")[k] for k in ("words", "plain_names", "special"))
    assert set(words) == set(plain) == PURPOSES
    assert set(special) == {"other", "weak", "vague"}
    assert all(is_texts(value) for part in (words, plain, special) for value in part.values())
    once = [word for listed in words.values() for word in listed]
    assert len(once) == len(set(once))
    assert set(special["weak"]) <= set(once)


KEYS = {
    "python": {"name"},
    "python_managers": {"prefix"},
    "pre_commit": {"name", "tool"},
    "npm": {"files"},
    "node_managers": {"name", "exec", "files"},
    "packagist": set(),
    "hex": set(),
    "rubygems": set(),
    "gradle": set(),
    "maven": {"name"},
}


@pytest.mark.parametrize("part", KEYS)
def test_a_tool_says_what_to_type(part: str) -> None:
    for row in load_table("tools")[part].values():
        assert set(row) <= KEYS[part] | PURPOSES
        assert is_texts(row.pop("files")) if "files" in (row := dict(row)) else True
        assert row
        assert all(isinstance(value, str) and value for value in row.values())


def test_what_tools_refer_to_is_there() -> None:
    tools = load_table("tools")
    assert set(tools) == {*KEYS, "python_locks", "python_backends", "gradle_aliases", "node"}
    assert all("name" in row for row in tools["python"].values())
    assert {row["tool"] for row in tools["pre_commit"].values() if "tool" in row} <= set(
        tools["python"]
    )
    prefixes = {row["prefix"] for row in tools["python_managers"].values() if "prefix" in row}
    assert set(tools["python_locks"].values()) <= prefixes
    assert all(set(row) == {"name", "exec", "files"} for row in tools["node_managers"].values())
    assert all(is_texts(words) for words in tools["node"].values())
