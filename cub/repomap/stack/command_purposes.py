"""Tell what a command line or a target is for, by its name and by what it runs.

The words come from `programs.toml` and `targets.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from cub.repomap.data import index_words, load_table, load_words
from cub.repomap.stack.command_lines import (
    get_command_words,
    split_commands,
    unwrap_command,
)
from cub.repomap.stack.facts import CommandPurpose, ProjectCommand
from cub.repomap.stack.manifest import Manifest

_PYTHON = re.compile(r"(?:py|pypy)[\d.]*")  # an environment of tox that only says the version
_SCRIPT = re.compile(r"(?:.*/)?([\w-]+)(?:\.(?:py|sh|[cm]?[jt]s|rb|php|pl|bash))?")
# Of several commands in one line, the one for the first of these purposes counts.
_PRECEDENCE: tuple[CommandPurpose, ...] = (
    "test", "build", "run", "lint", "typecheck", "format", "install",
)  # fmt: skip
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_MAX_NAME_CHARS = 80
_MIN_ODD_RANK = 10  # of a name that is not plain
_MAX_LINE_CHARS = 2000
_TARGET = re.compile(r"[A-Za-z0-9_][\w.:@/+-]{0,60}", re.ASCII)  # what no shell takes apart


def build_target_commands(
    manifest: Manifest,
    command_by_target: Mapping[str, str],
    format_invocation: Callable[[str], str],
) -> tuple[ProjectCommand, ...]:
    """Return the commands for the targets whose purpose is known, the plainest names first.

    `command_by_target` maps a target to what it runs, "" if that is not known;
    `format_invocation` says what to type for it. If a target is just called `lint`, others that
    lint are its parts or variants, and are left out; those of tests stay, because one test suite
    is worth running on its own.
    """
    ranked = [
        (rank_target_name(name), purpose, name)
        for name, line in command_by_target.items()
        if _TARGET.fullmatch(name) and (purpose := detect_target_purpose(name, line))
    ]
    return tuple(
        manifest.make_command(purpose, format_invocation(name), "target")._replace(
            runs=command_by_target[name]
        )
        for purpose, name in _drop_variants(sorted(ranked, key=lambda target: target[0]))
    )


def _drop_variants(
    ranked: list[tuple[int, CommandPurpose, str]],
) -> Iterator[tuple[CommandPurpose, str]]:
    plain: set[CommandPurpose] = set()
    for _, purpose, name in ranked:
        if purpose not in plain or purpose == "test":
            yield purpose, name
        if rank_target_name(name) < _MIN_ODD_RANK:
            plain.add(purpose)


def detect_target_purpose(name: str, line: str = "") -> CommandPurpose | None:
    """Return what a target is for by its name, or by what it runs if the name says too little.

    What installs or starts something on the way tells nothing of the aim. A target called `dev`
    that only runs a bundler watches files, and starts nothing.
    """
    by_name = detect_name_purpose(name)
    if by_name == "run" and detect_command_purpose("".join(split_commands(line)[-1:])) == "build":
        return None
    by_line = detect_command_purpose(line) if line and _is_vague_name(name) else None
    if by_line == "build" and "check" in name and re.search(r"\btsc\b", line):
        return "typecheck"
    return by_name if by_line in (None, "install", "run") else by_line


def detect_command_purpose(line: str) -> CommandPurpose | None:
    """Return what a command line is for: test for "pytest -q"; None if that is not known."""
    parts = split_commands(line[:_MAX_LINE_CHARS])
    purposes = {_detect_words_purpose(unwrap_command(part)) for part in parts}
    return next((purpose for purpose in _PRECEDENCE if purpose in purposes), None)


def _detect_words_purpose(words: list[str]) -> CommandPurpose | None:
    if not words:
        return None
    purposes: dict[str, CommandPurpose] = index_words("programs", "purposes")
    program = words[0].removeprefix("./").removeprefix("node_modules/.bin/")
    for known in (" ".join([program, *words[1:3]]), " ".join([program, *words[1:2]])):
        if known in purposes:
            return _apply_options(purposes[known], words)
    if program in get_command_words("interpreters"):
        script = next((word for word in words[1:] if word[0] != "-"), "")
        return _detect_script_purpose(script) if "." in script else None
    if program not in purposes and "/" in words[0]:
        return _detect_script_purpose(words[0])
    if program in get_command_words("target_runners"):
        return _detect_run_target_purpose(program, words[1:])
    return _apply_options(purposes[program], words) if program in purposes else None


def _detect_script_purpose(path: str) -> CommandPurpose | None:
    """Return the purpose of the project's own script, by its name: `python tools/lint.py`."""
    script = _SCRIPT.fullmatch(path[:200])
    return detect_name_purpose(script[1]) if script else None


def _detect_run_target_purpose(program: str, arguments: list[str]) -> CommandPurpose | None:
    """Return the purpose of the target that a runner runs: `npm run lint`, `tox -e typing`."""
    purposes: dict[str, CommandPurpose] = index_words("programs", "purposes")
    names = [word for word in arguments if word[0] != "-" and not word.isdigit()]
    names = names[1:] if names[:1] in (["run"], ["task"]) else names
    if not names or _PYTHON.fullmatch(names[0]):
        return purposes.get(program)
    if names[0] not in get_command_words("target_runners") and names[0] in purposes:
        return _apply_options(purposes[names[0]], names)
    if program in get_command_words("script_runners") and names[0] == "check":
        return None  # to check a package of JavaScript can mean anything
    return detect_name_purpose(names[0])


def _apply_options(purpose: CommandPurpose, words: list[str]) -> CommandPurpose:
    """Return the purpose with options: a formatter that checks lints, `tsc --noEmit` checks."""
    if purpose == "format" and get_command_words("check_options").intersection(words):
        return "lint"
    if purpose == "lint" and get_command_words("fix_options").intersection(words):
        return "format"
    if words[0] in ("tsc", "tsgo") and any(word.lower() == "--noemit" for word in words):
        return "typecheck"
    return purpose


def detect_name_purpose(name: str) -> CommandPurpose | None:
    """Return what a target of this name is for: test for "test:unit", None for "docs:build"."""
    words = _split_name(name)
    if not words or load_words("targets", "special", "other").intersection(words):
        return None
    if words == ["run"]:  # beside other words, it means anything
        return "run"
    purpose_by_word: dict[str, CommandPurpose] = index_words("targets", "words")
    known = [word for word in words if word in purpose_by_word]
    purposes = [purpose_by_word[word] for word in known]
    if "typecheck" in purposes or "typecheck" in "".join(words):
        return "typecheck"
    if "format" in purposes:
        return "lint" if "check" in words else "format"
    weak = load_words("targets", "special", "weak")
    strong = [purpose_by_word[word] for word in known if word not in weak]
    return next(iter([*strong, *purposes]), None)


def rank_target_name(name: str) -> int:
    """Return how plainly a name says its purpose, 0 first: "test" before "test:unit"."""
    purpose = detect_name_purpose(name)
    plain_names: list[str] = load_table("targets")["plain_names"][purpose] if purpose else []
    if name.lower() in plain_names:
        return plain_names.index(name.lower())
    return _MIN_ODD_RANK + len(_SEPARATORS.findall(name[:_MAX_NAME_CHARS]))


def iter_named_targets(names: Iterable[str]) -> Iterator[tuple[CommandPurpose, str]]:
    """Yield each name that says its purpose, once, the plainest names first."""
    for name in sorted(set(names), key=lambda name: (rank_target_name(name), name)):
        if purpose := detect_name_purpose(name):
            yield purpose, name


def _is_vague_name(name: str) -> bool:
    """Tell if what a target runs may tell its purpose: "check", "ci", "run-all"."""
    words = _split_name(name)
    known = [word for word in words if word in index_words("targets", "words")]
    only_weak = bool(known) and load_words("targets", "special", "weak").issuperset(known)
    return only_weak or not load_words("targets", "special", "vague").isdisjoint(words)


def _split_name(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name[:_MAX_NAME_CHARS])]
