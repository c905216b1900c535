"""What a target or a command line is for, by its name and by what it runs."""

from __future__ import annotations

import re

from cub.repomap.stack.commands.command_lines import parts, words
from cub.repomap.stack.commands.programs import FIXES, ONLY_CHECKS, PROGRAMS
from cub.repomap.stack.commands.target_names import is_vague_name, purpose_of_name, rank_of_name
from cub.repomap.stack.facts import Purpose

__all__ = ["purpose_of_command", "purpose_of_name", "purpose_of_target", "rank_of_name"]

_PYTHON = re.compile(r"(?:py|pypy)[\d.]*")  # an environment of tox that only says the version
_RUNNERS = frozenset({
    "bun", "deno", "gmake", "hatch", "inv", "invoke", "just", "make", "nox", "npm", "pnpm",
    "poe", "rake", "task", "tox", "yarn",
})  # fmt: skip
_SCRIPTED = frozenset({"npm", "pnpm", "yarn", "bun"})
_INTERPRETERS = frozenset({
    "python", "python3", "{envpython}", "$(PYTHON)", "node", "tsx", "ts-node", "bash", "sh",
    "ruby", "php", "perl", "deno", "bun",
})  # fmt: skip
_SCRIPT = re.compile(r"(?:.*/)?([\w-]+)(?:\.(?:py|sh|[cm]?[jt]s|rb|php|pl|bash))?")
# Of several commands in one line, the one for the purpose that stands first here counts.
_FIRST: tuple[Purpose, ...] = ("test", "build", "run", "lint", "typecheck", "format", "install")


def purpose_of_command(line: str) -> Purpose | None:
    """What a command line is for: test for "pytest -q", build for "tsc -b && vite build"."""
    found = {_purpose_of_words(words(part)) for part in parts(line[:2000])}
    return next((purpose for purpose in _FIRST if purpose in found), None)


def purpose_of_target(name: str, line: str = "") -> Purpose | None:
    """What a target is for by its name, or by what it runs where the name says too little.

    What installs or starts something on the way to its aim tells nothing of the aim. A target
    called `dev` that only runs a bundler watches files, and starts nothing.
    """
    by_name = purpose_of_name(name)
    if by_name == "run" and purpose_of_command(parts(line)[-1] if parts(line) else "") == "build":
        return None
    by_line = purpose_of_command(line) if line and is_vague_name(name) else None
    if by_line == "build" and "check" in name and re.search(r"\btsc\b", line):
        return "typecheck"
    return by_name if by_line in (None, "install", "run") else by_line


def _purpose_of_words(found: list[str]) -> Purpose | None:
    if not found:
        return None
    program = found[0].removeprefix("./").removeprefix("node_modules/.bin/")
    for known in (" ".join([program, *found[1:3]]), " ".join([program, *found[1:2]])):
        if known in PROGRAMS:
            return _checked(PROGRAMS[known], found)
    if program in _INTERPRETERS:
        script = next((word for word in found[1:] if word[0] != "-"), "")
        return _purpose_of_script(script) if "." in script else None
    if program not in PROGRAMS and "/" in found[0]:
        return _purpose_of_script(found[0])
    if program in _RUNNERS:
        return _purpose_of_named(program, found[1:])
    return _checked(PROGRAMS[program], found) if program in PROGRAMS else None


def _purpose_of_script(path: str) -> Purpose | None:
    """That of a script of the project's own, by its name: `python tools/lint.py`."""
    named = _SCRIPT.fullmatch(path[:200])
    return purpose_of_name(named[1]) if named else None


def _purpose_of_named(program: str, arguments: list[str]) -> Purpose | None:
    """That of the target that a runner is told to run: `npm run lint`, `tox -e typing`."""
    named = [word for word in arguments if word[0] != "-" and not word.isdigit()]
    named = named[1:] if named[:1] in (["run"], ["task"]) else named
    if not named or _PYTHON.fullmatch(named[0]):
        return PROGRAMS.get(program)
    if named[0] not in _RUNNERS and named[0] in PROGRAMS:
        return _checked(PROGRAMS[named[0]], named)
    if program in _SCRIPTED and named[0] == "check":
        return None  # to check a package of JavaScript can mean anything
    return purpose_of_name(named[0])


def _checked(purpose: Purpose, found: list[str]) -> Purpose:
    """A formatter that only checks lints, a linter that fixes formats, `tsc --noEmit` checks."""
    if purpose == "format" and ONLY_CHECKS.intersection(found):
        return "lint"
    if purpose == "lint" and FIXES.intersection(found):
        return "format"
    if found[0] in ("tsc", "tsgo") and any(word.lower() == "--noemit" for word in found):
        return "typecheck"
    return purpose
