"""What a target or a command line is for, by its name and by what it runs.

What a target is for by its name: the one table of words that all readers share.

Named targets of a project (scripts, environments, tasks) as commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from cub.repomap.stack.command_lines import (
    CHECK_OPTIONS,
    FIX_OPTIONS,
    PROGRAM_PURPOSES,
    split_commands,
    unwrap_command,
)
from cub.repomap.stack.facts import CommandPurpose, Manifest, ProjectCommand

__all__ = [
    "detect_command_purpose",
    "detect_name_purpose",
    "detect_target_purpose",
    "rank_target_name",
]

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
_FIRST: tuple[CommandPurpose, ...] = (
    "test",
    "build",
    "run",
    "lint",
    "typecheck",
    "format",
    "install",
)


def detect_command_purpose(line: str) -> CommandPurpose | None:
    """What a command line is for: test for "pytest -q", build for "tsc -b && vite build"."""
    found = {_purpose_of_words(unwrap_command(part)) for part in split_commands(line[:2000])}
    return next((purpose for purpose in _FIRST if purpose in found), None)


def detect_target_purpose(name: str, line: str = "") -> CommandPurpose | None:
    """What a target is for by its name, or by what it runs where the name says too little.

    What installs or starts something on the way to its aim tells nothing of the aim. A target
    called `dev` that only runs a bundler watches files, and starts nothing.
    """
    by_name = detect_name_purpose(name)
    if (
        by_name == "run"
        and detect_command_purpose(split_commands(line)[-1] if split_commands(line) else "")
        == "build"
    ):
        return None
    by_line = detect_command_purpose(line) if line and is_vague_target_name(name) else None
    if by_line == "build" and "check" in name and re.search(r"\btsc\b", line):
        return "typecheck"
    return by_name if by_line in (None, "install", "run") else by_line


def _purpose_of_words(found: list[str]) -> CommandPurpose | None:
    if not found:
        return None
    program = found[0].removeprefix("./").removeprefix("node_modules/.bin/")
    for known in (" ".join([program, *found[1:3]]), " ".join([program, *found[1:2]])):
        if known in PROGRAM_PURPOSES:
            return _checked(PROGRAM_PURPOSES[known], found)
    if program in _INTERPRETERS:
        script = next((word for word in found[1:] if word[0] != "-"), "")
        return _purpose_of_script(script) if "." in script else None
    if program not in PROGRAM_PURPOSES and "/" in found[0]:
        return _purpose_of_script(found[0])
    if program in _RUNNERS:
        return _purpose_of_named(program, found[1:])
    return _checked(PROGRAM_PURPOSES[program], found) if program in PROGRAM_PURPOSES else None


def _purpose_of_script(path: str) -> CommandPurpose | None:
    """That of a script of the project's own, by its name: `python tools/lint.py`."""
    named = _SCRIPT.fullmatch(path[:200])
    return detect_name_purpose(named[1]) if named else None


def _purpose_of_named(program: str, arguments: list[str]) -> CommandPurpose | None:
    """That of the target that a runner is told to run: `npm run lint`, `tox -e typing`."""
    named = [word for word in arguments if word[0] != "-" and not word.isdigit()]
    named = named[1:] if named[:1] in (["run"], ["task"]) else named
    if not named or _PYTHON.fullmatch(named[0]):
        return PROGRAM_PURPOSES.get(program)
    if named[0] not in _RUNNERS and named[0] in PROGRAM_PURPOSES:
        return _checked(PROGRAM_PURPOSES[named[0]], named)
    if program in _SCRIPTED and named[0] == "check":
        return None  # to check a package of JavaScript can mean anything
    return detect_name_purpose(named[0])


def _checked(purpose: CommandPurpose, found: list[str]) -> CommandPurpose:
    """A formatter that only checks lints, a linter that fixes formats, `tsc --noEmit` checks."""
    if purpose == "format" and CHECK_OPTIONS.intersection(found):
        return "lint"
    if purpose == "lint" and FIX_OPTIONS.intersection(found):
        return "format"
    if found[0] in ("tsc", "tsgo") and any(word.lower() == "--noemit" for word in found):
        return "typecheck"
    return purpose


_NAMES: dict[CommandPurpose, str] = {
    "install": "install setup bootstrap deps dependencies",
    "build": "build compile dist bundle assemble package",
    "test": "test tests runtest runtests unittest unittests unit e2e spec specs check pytest jest"
    " vitest mocha cypress playwright tox",
    "lint": "lint linter linters linting lints eslint ruff clippy flake8 pylint style vet"
    " golangci rubocop biome oxlint stylelint",
    "format": "fmt format formatting fix fixup prettier black gofmt rustfmt",
    "typecheck": "typecheck typechecking types type typing mypy pyright tsc checktypes",
    "run": "dev start serve server runserver develop",
}
TARGET_WORD_PURPOSES: dict[str, CommandPurpose] = {
    word: purpose for purpose, listed in _NAMES.items() for word in listed.split()
}
# A target with one of these does something else, or more, than what its other words say.
_OTHER = frozenset({
    "bench", "benchmark", "benchmarks", "bump", "changelog", "ci", "clean", "cov", "cover",
    "coverage", "cross", "debug", "demo", "deploy", "doc", "docker", "docs", "documentation",
    "example", "examples", "fuzz", "headed", "help", "hook", "hooks", "image", "images",
    "inspect", "legacy", "license", "licenses", "mutation", "open", "perf", "prepublish",
    "profile", "publish", "purge", "push", "release", "report", "reports", "site", "snapshot",
    "snapshots", "stop", "storybook", "stress", "tag", "ui", "uninstall", "uninstalls",
    "update", "upgrade", "version", "watch", "watcher", "watching", "website",
})  # fmt: skip
# Words that say too little: what such a target runs tells more.
_WEAK = frozenset({"check", "style", "setup", "package", "type", "types", "fix", "unit"})
_VAGUE = frozenset({
    "all", "check", "ci", "default", "full", "prepush", "precommit", "qa", "quality", "validate",
    "verify",
})  # fmt: skip
_PLAIN: dict[CommandPurpose, tuple[str, ...]] = {
    "install": ("install", "setup", "bootstrap", "deps"),
    "build": ("build", "compile", "dist", "bundle"),
    "test": ("test", "tests", "unit", "check"),
    "lint": ("lint", "linting", "style"),
    "format": ("format", "fmt", "fix"),
    "typecheck": ("typecheck", "typing", "types", "mypy", "tsc"),
    "run": ("dev", "start", "serve", "run", "runserver"),
}
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_LONGEST = 80


def detect_name_purpose(name: str) -> CommandPurpose | None:
    """What a target of this name is for: test for "test:unit", nothing for "docs:build"."""
    found = _words(name)
    if not found or _OTHER.intersection(found):
        return None
    if found == ["run"]:  # beside other words, it means anything
        return "run"
    purposes = [TARGET_WORD_PURPOSES[word] for word in found if word in TARGET_WORD_PURPOSES]
    if "typecheck" in purposes or "typecheck" in "".join(found):
        return "typecheck"
    if "format" in purposes:
        return "lint" if "check" in found else "format"
    strong = [
        TARGET_WORD_PURPOSES[word]
        for word in found
        if word in TARGET_WORD_PURPOSES and word not in _WEAK
    ]
    return next(iter([*strong, *purposes]), None)


def rank_target_name(name: str) -> int:
    """How plainly a target's name says its purpose, 0 first: "test" before "test:unit"."""
    purpose = detect_name_purpose(name)
    plain = _PLAIN[purpose] if purpose else ()
    if name.lower() in plain:
        return plain.index(name.lower())
    return 10 + len(_SEPARATORS.findall(name[:_LONGEST]))


def is_plain_target_name(name: str) -> bool:
    """Whether the name says the purpose and nothing else."""
    return rank_target_name(name) < 10


def is_vague_target_name(name: str) -> bool:
    """Whether what a target runs may tell its purpose: "check", "ci", "run-all"."""
    found = _words(name)
    known = [word for word in found if word in TARGET_WORD_PURPOSES]
    return bool(known and _WEAK.issuperset(known)) or not _VAGUE.isdisjoint(found)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name[:_LONGEST])]


_NAME = re.compile(r"[A-Za-z0-9_][\w.:@/+-]{0,60}", re.ASCII)  # what no shell takes apart


def build_target_commands(
    manifest: Manifest,
    command_by_target: Mapping[str, str],
    format_invocation: Callable[[str], str],
) -> tuple[ProjectCommand, ...]:
    """The commands for those of the targets whose purpose is known, the plainest names first.

    `command_by_target` maps a target to what it runs, "" where that is not known;
    `format_invocation` says what to type for it. Where a target is just called `lint`, others that
    lint are its parts or variants, and are left out; those of tests stay, because one test suite is
    worth running by itself.
    """
    found = [
        (rank_target_name(name), purpose, name)
        for name, line in command_by_target.items()
        if _NAME.fullmatch(name) and (purpose := detect_target_purpose(name, line))
    ]
    return tuple(
        ProjectCommand(purpose, format_invocation(name), manifest.path, manifest.folder, "target")
        for purpose, name in _without_variants(sorted(found, key=lambda one: one[0]))
    )


def _without_variants(
    found: list[tuple[int, CommandPurpose, str]],
) -> Iterator[tuple[CommandPurpose, str]]:
    plain: set[CommandPurpose] = set()
    for _, purpose, name in found:
        if purpose not in plain or purpose == "test":
            yield purpose, name
        if is_plain_target_name(name):
            plain.add(purpose)
