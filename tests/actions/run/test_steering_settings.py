"""What of a settings file steers checks, and the restoring of that part."""

from __future__ import annotations

import json

import pytest

from cub.actions.run.steering_settings import restore_steering, select_steering

MAKEFILE = """CC = cc
SRCS = a.c b.c
RUNNER = python -m
FLAGS = -q

prog: $(SRCS)
\t$(CC) -o $@ $(SRCS)
%.o: %.c
\t$(CC) -c $<
test: prog
\t$(RUNNER) $(TOOL)
TOOL = pytest $(FLAGS)
.PHONY: test
"""
PROJECT = """[project]
name = "ovens"
dependencies = ["a"]

[tool.pytest.ini_options]
addopts = "-q"

[tool.uv]
dev = 1
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SRCS = a.c b.c", "SRCS = a.c b.c more.c"),
        ("$(CC) -c $<", "$(CC) -c -O2 $<"),
        ("%.o: %.c", "%.o: %.c a.h"),
        ("CC = cc", "# a comment\nCC = gcc\nunused = 1"),
    ],
)
def test_what_a_makefile_builds_may_change(old: str, new: str) -> None:
    changed = MAKEFILE.replace(old, new)
    assert changed != MAKEFILE
    assert _select(changed) == _select(MAKEFILE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\t$(RUNNER) $(TOOL)", "\ttrue"),
        ("RUNNER = python -m", "RUNNER = true"),
        ("FLAGS = -q", "FLAGS = -q --collect-only"),
        ("test: prog", "test:"),
        ("CC = cc", "CC = cc\nSHELL = /bin/true"),
        ("CC = cc", "CC = cc\nMAKEFLAGS += -i"),
        ("CC = cc", "CC = cc\n.IGNORE:"),
        ("CC = cc", "CC = cc\ninclude more.mk"),
    ],
)
def test_what_a_makefile_runs_is_restored(old: str, new: str) -> None:
    changed = MAKEFILE.replace(old, new).replace("a.c b.c", "a.c b.c more.c")
    assert _select(changed) != _select(MAKEFILE)
    restored = restore_steering("Makefile", MAKEFILE.encode(), changed.encode())
    assert _select(restored.decode()) == _select(MAKEFILE)
    assert b"SRCS = a.c b.c more.c\n" in restored


def _select(text: str) -> bytes:
    return select_steering("sub/Makefile", text.encode())


def test_names_that_a_rule_needs_are_part_of_it() -> None:
    text = "ALL = unit lint\ntest: $(ALL)\nunit:\n\tpytest\n"
    assert _select(text) != _select(text.replace("unit lint", "lint"))
    assert _select(text) != _select(text.replace("pytest", "true"))


def test_a_makefile_with_conditions_counts_as_a_whole() -> None:
    text = "ifdef CI\nX = 1\nelse\nX = 2\nendif\n"
    assert _select(text) == text.encode()
    assert restore_steering("Makefile", text.encode(), b"a: b\n") == text.encode()


def test_of_a_package_the_keys_that_steer_tools_are_restored() -> None:
    old = {"name": "a", "scripts": {"test": "tape"}, "dependencies": {"b": "1"}}
    new = {"scripts": {"test": "true"}, "dependencies": {"b": "2"}, "type": "module", "jest": {}}
    restored = restore_steering("x/package.json", *(json.dumps(one).encode() for one in (old, new)))
    assert json.loads(restored) == {
        "scripts": {"test": "tape"}, "dependencies": {"b": "2"}, "type": "module",
    }  # fmt: skip


def test_of_a_python_project_the_tools_are_restored() -> None:
    new = PROJECT.replace('"a"', '"a", "b"').replace("-q", "--co").replace("dev = 1", "dev = 2")
    assert select_steering("pyproject.toml", new.encode()) != select_steering(
        "pyproject.toml", PROJECT.encode()
    )
    restored = restore_steering("pyproject.toml", PROJECT.encode(), new.encode()).decode()
    assert 'dependencies = ["a", "b"]' in restored
    assert "dev = 2" in restored
    assert "--co" not in restored
    assert 'addopts = "-q"' in restored


@pytest.mark.parametrize("name", ["package.json", "pyproject.toml", "Makefile", "conftest.py"])
@pytest.mark.parametrize("data", [b"\xff", b"[[", b"{", b"{}", b"[]", b""])
def test_a_file_that_can_not_be_read_counts_as_a_whole(name: str, data: bytes) -> None:
    assert isinstance(select_steering(name, data), bytes)
    assert isinstance(restore_steering(name, data, data), bytes)
    assert restore_steering("conftest.py", data, b"new") == data


CONFTEST = """import pytest
from shop import names

@pytest.fixture
def shelf():
    return names(3)
"""


@pytest.mark.parametrize(
    "new",
    [
        CONFTEST.replace("names", "labels"),
        CONFTEST.replace("from shop", "from shop.core"),
        CONFTEST.replace("import names", "import labels as names"),
    ],
)
def test_a_conftest_follows_what_was_renamed_or_moved(new: str) -> None:
    for nested in ("conftest.py", "tests/conftest.py"):
        restored = restore_steering(nested, CONFTEST.encode(), new.encode())
        assert restored == new.encode()


@pytest.mark.parametrize(
    "new",
    [
        CONFTEST.replace("names(3)", "names(2)"),
        CONFTEST.replace("return names(3)", "pytest.skip()"),
        CONFTEST.replace("import names", "import names, pytest_runtest_call"),
        CONFTEST.replace("import names", "import pytest_runtest_call"),
        CONFTEST.replace("import names", "import *"),
        CONFTEST.replace("names", "pytest_runtest_call"),
        CONFTEST + "import weak\n",
        "def\n",
    ],
)
def test_a_conftest_that_does_more_is_restored(new: str) -> None:
    assert restore_steering("conftest.py", CONFTEST.encode(), new.encode()) == CONFTEST.encode()
