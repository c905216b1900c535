"""Which program a command line runs, below the wrappers that people put in front of it."""

from __future__ import annotations

import re

# What only says where or how the next word is run.
_WRAPPERS = (
    "uv run", "poetry run", "pdm run", "pipenv run", "rye run", "pixi run", "hatch run",
    "npx", "bunx", "npm exec", "pnpm exec", "pnpm dlx", "yarn dlx", "yarn exec",
    "bun x", "corepack",
    "bundle exec", "composer exec", "mise exec", "nix develop -c", "direnv exec",
    "sudo", "time", "env", "exec", "command", "nice", "xvfb-run", "cross-env", "dotenv",
    "python -m", "python3 -m", "py -m", "python -m coverage run -m", "coverage run -m",
)  # fmt: skip
_BY_FIRST: dict[str, list[list[str]]] = {}
for _wrapper in sorted(_WRAPPERS, key=len, reverse=True):
    _BY_FIRST.setdefault(_wrapper.split()[0], []).append(_wrapper.split())
# Options of wrappers that take the next word with them.
_VALUED = frozenset({
    "--directory", "--env", "--env-file", "--extra", "--filter", "--group", "--no-group",
    "--only-group", "--package", "--project", "--python", "--with", "-e", "-p", "-w",
})  # fmt: skip
# Managers whose own words come behind their options: `pnpm -r build`, `yarn --cwd web test`.
_MANAGERS = frozenset({
    "./gradlew", "./mvnw", "bun", "gmake", "gradle", "gradlew", "make", "mvn", "mvnw", "npm",
    "pnpm", "yarn",
})  # fmt: skip
_JOINTS = re.compile(r"&&|\|\||;|\||\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")


def parts(line: str) -> list[str]:
    """The commands of a line that has several: `tsc && vite build`."""
    return [part.strip() for part in _JOINTS.split(line) if part.strip()]


def words(command: str) -> list[str]:
    """The program and its arguments: those of `pytest` for `CI=1 uv run --locked python -m pytest`.

    A path in front of the program goes too, except where it is a script of the project's own.
    """
    found = command.split()[:64]  # what comes later tells nothing about the purpose
    while found:
        rest = _unwrapped(found)
        if len(rest) == len(found):
            return _managed(rest)
        found = rest
    return []


def _unwrapped(found: list[str]) -> list[str]:
    if _ASSIGNMENT.fullmatch(found[0]):
        return found[1:]
    for wrapper in _BY_FIRST.get(found[0], ()):
        if found[: len(wrapper)] == wrapper:
            return _without_options(found[len(wrapper) :])
    return found


def _without_options(found: list[str]) -> list[str]:
    """What stands behind a wrapper's own options."""
    while found and found[0].startswith("-"):
        found = found[2:] if found[0] in _VALUED else found[1:]
    return found


def _managed(found: list[str]) -> list[str]:
    """A manager with its words in front of its options; any other program as it is."""
    if found and found[0] in _MANAGERS:
        return [found[0], *_without_options(found[1:])]
    return found


def same_as(command: str) -> str:
    """A text that is the same for commands that run the same, whatever their options."""
    return " && ".join(
        " ".join(word for word in words(part) if word not in ("run", ".") and word[0] != "-")
        for part in parts(command)
    )
