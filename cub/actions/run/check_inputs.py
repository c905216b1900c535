"""Find what decides on checks beside the code: scripts, settings and tools, and deleted tests.

An agent may change them, so changes are reported.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.files.stat_signature import StatSignature
from cub.git.snapshot import FileChange
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import compile_ignore_patterns

# The files that runners read without being told to, by the name of their command.
_PYTHON = ("sitecustomize.py", "usercustomize.py")
_SETTINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("make", "gmake"): ("GNUmakefile", "makefile", "Makefile"),
    ("just",): ("justfile", "Justfile", ".justfile"),
    ("task",): ("Taskfile.yml", "Taskfile.yaml"),
    ("npm", "npx", "yarn", "pnpm", "bun", "node"): (
        "package.json", ".npmrc", ".mocharc*", "*.config.js", "*.config.cjs", "*.config.mjs",
        "*.config.ts",
    ),
    ("tox",): ("tox.ini", *_PYTHON),
    ("nox",): ("noxfile.py", *_PYTHON),
    ("pytest", "py.test"): (
        "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py",
        "*/conftest.py", *_PYTHON,
    ),
    ("python", "python3", "unittest"): _PYTHON,
    ("mypy",): ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    ("ruff",): ("ruff.toml", ".ruff.toml", "pyproject.toml"),
    ("pre-commit",): (".pre-commit-config.yaml",),
    ("rake",): ("Rakefile",),
    ("rspec",): (".rspec", "spec/spec_helper.rb"),
    ("phpunit",): ("phpunit.xml", "phpunit.xml.dist"),
    ("mix",): ("mix.exs", "test/test_helper.exs"),
    ("cargo",): (".cargo/config.toml",),
    ("gradle", "gradlew"): ("build.gradle", "build.gradle.kts", "gradle.properties"),
    ("mvn", "mvnw"): ("pom.xml",),
}  # fmt: skip
# Of these files, what else they say changes in daily work, such as dependencies.
_UNRELATED_KEYS = (
    "dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "version",
)  # fmt: skip
_UNRELATED_TOOLS = ("poetry", "uv", "pdm", "hatch", "setuptools")
_MAX_COMPARED = 1 << 20  # bytes; of a larger file, its size and times are compared
_MAX_SCRIPT = 1 << 16  # bytes that are searched for the names of programs
_MAX_NAMED = 3
_INTERPRETERS = ("sh", "bash", "python", "python3", "node", "ruby", "perl", "php")
_WORD = re.compile(r"[\w./@-]+")


class CheckInput(NamedTuple):
    """Hold the path of a file that a check goes by, and the check's command."""

    path: str
    command: str


CheckInputs = Mapping[CheckInput, str]


def record_inputs(root: Path, commands: Iterable[str], path: str | None) -> CheckInputs:
    """Return the files below `root` that the commands go by, with what identifies their content.

    `path` is the PATH by which programs are found. Files that git ignores are included.
    """
    return {
        CheckInput(name, command): _identify(root, name)
        for command in commands
        for name in dict.fromkeys(_find_files(root, command, path))
    }


def find_changed_inputs(before: CheckInputs, after: CheckInputs) -> list[CheckInput]:
    """Return the inputs that are new, gone, or not what they were."""
    files = dict.fromkeys([*before, *after])
    return [file for file in files if before.get(file) != after.get(file)]


def describe_changes(
    inputs: Sequence[CheckInput], before: CheckInputs, changed: Sequence[FileChange]
) -> list[str]:
    """Describe changes by which a check may pass that should not: inputs, and deleted tests."""
    messages = [
        f"{file.path}, which the check `{file.command}` goes by, "
        + ("was changed" if file in before else "is new")
        for file in inputs[:_MAX_NAMED]
    ]
    classifier = FileClassifier(change.path for change in changed)
    deleted = [change.path for change in changed if change.kind == "D"]
    tests = [path for path in deleted if classifier.classify(path) is FileKind.TEST]
    messages += [f"the test {path} was deleted" for path in tests[:_MAX_NAMED]]
    more = max(0, len(inputs) - _MAX_NAMED) + max(0, len(tests) - _MAX_NAMED)
    return [*messages, f"and {more} more"] if more else messages


def find_protected_path(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """Return the first path that matches a pattern in .gitignore syntax; "" for none."""
    if not patterns:
        return ""
    spec = compile_ignore_patterns(patterns)
    return next((path for path in paths if spec.match_file(path)), "")


def _find_files(root: Path, command: str, path: str | None) -> Iterator[str]:
    """Yield the files of the project that a command names, or that its programs read."""
    words = _split_words(command)
    programs = list(map(_get_name, words))
    for word in words:
        for text in (word, word.partition("=")[2]):
            if text and (name := _make_inner_path(root, root / text)):
                yield name
                programs += map(_get_name, _read_words(root, name))
        tool = shutil.which(word, path=path) if path is not None and "/" not in word else None
        if tool and (name := _make_inner_path(root, Path(tool))):
            yield name
    yield from _find_settings(root, programs)


def _find_settings(root: Path, programs: list[str]) -> Iterator[str]:
    """Yield what the programs read, and what those read that a Makefile or a script names.

    That includes modules with the name of a program, which Python finds first, and the programs of
    Node.js packages.
    """
    folder = root / "node_modules" / ".bin"
    binaries = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    visited = set[str]()
    for program in programs:  # grows
        if program in visited:
            continue
        visited.add(program)
        for name in _list_settings(root, program):
            yield name
            nested = _read_words(root, name)
            programs += map(_get_name, nested)
            for before, word in pairwise(nested):
                if _get_name(before) in _INTERPRETERS and _make_inner_path(root, root / word):
                    yield word
        if program in binaries:
            yield f"node_modules/.bin/{program}"


def _list_settings(root: Path, program: str) -> Iterator[str]:
    for programs, patterns in _SETTINGS.items():
        if program not in programs:
            continue
        for pattern in (*patterns, f"{program}.py", f"{program}/__init__.py"):
            files = root.glob(pattern) if "*" in pattern else [root / pattern]
            yield from (file.relative_to(root).as_posix() for file in files if file.is_file())


def _read_words(root: Path, name: str) -> list[str]:
    """Return the words of a script or of the file of a runner: there may be programs among them."""
    if PurePosixPath(name).suffix not in ("", ".sh", ".bash", ".mk", ".json", ".ini"):
        return []
    with suppress(OSError, ValueError):
        text = read_prefix(os.fspath(root), name, _MAX_SCRIPT).decode("utf-8", "replace")
        return _WORD.findall(text)
    return []


def _get_name(word: str) -> str:
    return word.rpartition("/")[2]


def _split_words(command: str) -> list[str]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:  # an open quote: the shell will say so
        return command.split()


def _make_inner_path(root: Path, file: Path) -> str:
    """Return a file's path relative to `root`; "" if it is not a file below it."""
    try:
        if not file.is_file():
            return ""
    except (OSError, ValueError):
        return ""
    name = os.path.relpath(os.path.normpath(file), root)
    return "" if name.startswith("..") else name.replace(os.sep, "/")


def _identify(root: Path, name: str) -> str:
    """Return what tells one content from another; "" if there is no file."""
    try:
        status, data = (root / name).stat(), b""
        if status.st_size <= _MAX_COMPARED:
            real = os.path.relpath(os.path.realpath(root / name), root)
            data = read_prefix(os.fspath(root), real, _MAX_COMPARED)
    except OSError:
        return ""
    if data or not status.st_size:
        return blake2b(_select_settings(name, data), digest_size=20).hexdigest()
    return " ".join(map(str, StatSignature.from_stat(status)))


def _select_settings(name: str, data: bytes) -> bytes:
    """Return what of a manifest may steer a check, as JSON; other files as they are."""
    base = PurePosixPath(name).name
    try:
        if base == "package.json":
            tree = json.loads(data)
            steering = {k: v for k, v in tree.items() if k not in _UNRELATED_KEYS}
        elif base == "pyproject.toml":
            tree = tomllib.loads(data.decode()).get("tool", {})
            steering = {k: v for k, v in tree.items() if k not in _UNRELATED_TOOLS}
        else:
            return data
        return json.dumps(steering, default=str, sort_keys=True).encode()
    except (ValueError, AttributeError, RecursionError):
        return data
