from __future__ import annotations

import pytest

from tests.repomap.stack.projects import Files, commands, names, stack_of

MAKEFILE = """
PYTHON ?= python3
SOURCES := a.c \\
  test.c
.PHONY: all test lint help
all: lint test   # both
test: build ## Run the tests
\t@$(PYTHON) -m pytest \\
\t  -q
lint fmt-check:
\t-ruff check .
typecheck: ; mypy .
%.o: %.c
\tcc -c $<
main.o: main.c
dist/app: main.o
$(TARGET): main.o
install:
\tcp app /usr/bin
export run := 1
VERSION = build: 2
build::
\tgo build ./...
ifeq ($(X),1)
format: A = 1
endif
help:
\t@echo make test
"""

COMMANDS: dict[str, tuple[Files, dict[str, list[str]]]] = {
    "Makefile": (
        {"Makefile": MAKEFILE},
        {
            "build": ["make build"],
            "test": ["make test"],
            "lint": ["make lint"],
            "typecheck": ["make typecheck"],
        },
    ),
    "make alone": (
        {"GNUmakefile": "all: app\napp: a.o\n\tcc -o app a.o\ncheck: all\n\t./app --self\n"},
        {"build": ["make"], "test": ["make check"]},
    ),
    "make all tests": ({"makefile": "all: test\ntest:\n\ttrue\n"}, {"test": ["make test"]}),
    "make installs what it needs": (
        {"Makefile": "install:\n\tnpm ci\nstart: install\n\tnode .\n"},
        {"install": ["make install"], "run": ["make start"]},
    ),
    "CRLF": ({"Makefile": "test:\r\n\ttrue\r\n"}, {"test": ["make test"]}),
    "justfile": (
        {
            "justfile": "set shell := ['sh']\nv := 'test: x'\nalias t := test\n"
            "default:\n  @just --list\n"
            "test *args: build\n    pytest {{args}}\n"
            "@lint path='.':\n  ruff check {{path}}\n"
            "build target:\n  make {{target}}\n"
            "[private]\nformat:\n  black .\n"
            "_dev:\n  x\n"
            "check:\n  mypy .\n"
        },
        {"test": ["just test"], "lint": ["just lint"], "typecheck": ["just check"]},
    ),
    "Taskfile": (
        {
            "Taskfile.yml": "version: '3'\ntasks:\n  default: task --list\n"
            "  test:unit:\n    desc: Tests\n    cmds:\n      - go test ./...\n"
            "  build: go build ./...\n"
            "  check:\n    cmds: [{cmd: golangci-lint run}]\n"
            "  lint:\n    internal: true\n    cmd: x\n"
            "  ci:\n    - go vet ./...\n"
        },
        {"build": ["task build"], "test": ["task test:unit"], "lint": ["task check"]},
    ),
    "mise": (
        {
            "mise.toml": "[tasks.test]\nrun = ['cargo test']\n[tasks]\nlint = 'cargo clippy'\n"
            "[tasks.check]\nrun = 'mypy .'\n"
        },
        {"test": ["mise run test"], "lint": ["mise run lint"], "typecheck": ["mise run check"]},
    ),
    "Procfile": (
        {"Procfile": "release: x\nweb: gunicorn app:app\n"},
        {"run": ["gunicorn app:app"]},
    ),
    "Procfile with variables": ({"Procfile": "web: gunicorn --bind :$PORT app:app\n"}, {}),
    "scripts": (
        {
            "scripts/test": "#!/bin/sh\npytest\n",
            "script/lint.sh": "#! /usr/bin/env bash\n",
            "bin/build": "no script\n",
            "other/test": "#!/bin/sh\n",
            "scripts/deploy": "#!/bin/sh\n",
            "scripts/install.sh": "#!/bin/sh\n",
        },
        {"test": ["scripts/test"], "lint": ["script/lint.sh"]},
    ),
    "names that a shell takes apart": (
        {"Makefile": "test;rm -rf ~:\n\ttrue\n", "justfile": "te`x`st:\n  x\n"},
        {},
    ),
    "below the root": (
        {"api/Makefile": "test:\n\ttrue\n", "vendor/x/Makefile": "lint:\n\ttrue\n"},
        {"test": ["api: make test"]},
    ),
}


@pytest.mark.parametrize(("files", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_are_those_that_one_would_type(
    files: Files, expected: dict[str, list[str]]
) -> None:
    assert commands(stack_of(files)) == expected


def test_versions_of_tools_are_known() -> None:
    text = "nodejs 20.11.0\n# c\npython 3.12.1 3.11\nunheard-of 1\nterraform `x`\n"
    assert names(stack_of({".tool-versions": text})) == [
        "Python 3.12.1",
        "Node.js 20.11.0",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", "a " * 490_000 + ":\n\tx\n"),
        ("Makefile", "a" * 1_000_000),
        ("Makefile", "a \\\n" * 240_000),
        ("Makefile", "a b c d e f g h:\n" + "\tx\n" * 300_000),
        ("Makefile", "".join(f"t{n}: t{n + 1}\n" for n in range(60_000))),
        ("justfile", "a:\n" + "  x\n" * 200_000),
        ("justfile", "a" + " b" * 400_000 + ":\n"),
        pytest.param("Taskfile.yml", "tasks:\n" + "  a: b\n" * 100_000, marks=pytest.mark.thorough),
        ("Procfile", "web: " * 150_000),
        (".tool-versions", "a " * 400_000),
    ],
)
def test_a_megabyte_of_anything_ends_soon(name: str, text: str) -> None:
    assert stack_of({name: text}).omissions == ()
