"""What a target is for by its name: the one table of words that all readers share."""

from __future__ import annotations

import re

from cub.repomap.stack.facts import Purpose

_NAMES: dict[Purpose, str] = {
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
PURPOSES: dict[str, Purpose] = {
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
_PLAIN: dict[Purpose, tuple[str, ...]] = {
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


def purpose_of_name(name: str) -> Purpose | None:
    """What a target of this name is for: test for "test:unit", nothing for "docs:build"."""
    found = _words(name)
    if not found or _OTHER.intersection(found):
        return None
    if found == ["run"]:  # beside other words, it means anything
        return "run"
    purposes = [PURPOSES[word] for word in found if word in PURPOSES]
    if "typecheck" in purposes or "typecheck" in "".join(found):
        return "typecheck"
    if "format" in purposes:
        return "lint" if "check" in found else "format"
    strong = [PURPOSES[word] for word in found if word in PURPOSES and word not in _WEAK]
    return next(iter([*strong, *purposes]), None)


def rank_of_name(name: str) -> int:
    """How plainly a target's name says its purpose, 0 first: "test" before "test:unit"."""
    purpose = purpose_of_name(name)
    plain = _PLAIN[purpose] if purpose else ()
    if name.lower() in plain:
        return plain.index(name.lower())
    return 10 + len(_SEPARATORS.findall(name[:_LONGEST]))


def is_plain_name(name: str) -> bool:
    """Whether the name says the purpose and nothing else."""
    return rank_of_name(name) < 10


def is_vague_name(name: str) -> bool:
    """Whether what a target runs may tell its purpose: "check", "ci", "run-all"."""
    found = _words(name)
    known = [word for word in found if word in PURPOSES]
    return bool(known and _WEAK.issuperset(known)) or not _VAGUE.isdisjoint(found)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name[:_LONGEST])]
