"""Find what decides on checks beside the code: scripts, settings and tools, and deleted tests.

An agent may change them, so changes are reported.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.files.stat_signature import StatSignature
from cub.git.snapshot import FileChange
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import compile_ignore_patterns

# The files that runners read without being told to, by the name of their command.
_SETTINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("make", "gmake"): ("GNUmakefile", "makefile", "Makefile"),
    ("just",): ("justfile", "Justfile", ".justfile"),
    ("task",): ("Taskfile.yml", "Taskfile.yaml"),
    ("npm", "npx", "yarn", "pnpm", "bun"): ("package.json",),
    ("tox",): ("tox.ini",),
    ("nox",): ("noxfile.py",),
    ("pytest",): ("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"),
    ("mypy",): ("mypy.ini", ".mypy.ini"),
    ("ruff",): ("ruff.toml", ".ruff.toml"),
    ("pre-commit",): (".pre-commit-config.yaml",),
    ("rake",): ("Rakefile",),
    ("gradle", "gradlew"): ("build.gradle", "build.gradle.kts"),
    ("mvn", "mvnw"): ("pom.xml",),
}  # fmt: skip
_MAX_COMPARED = 1 << 20  # bytes; of a larger file, its size and times are compared
_MAX_NAMED = 3


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


def find_changed_inputs(root: Path, before: CheckInputs) -> list[CheckInput]:
    """Return the inputs that are not as they were recorded."""
    return [file for file, identity in before.items() if _identify(root, file.path) != identity]


def describe_changes(inputs: Sequence[CheckInput], changed: Sequence[FileChange]) -> list[str]:
    """Describe changes by which a check may pass that should not: inputs, and deleted tests."""
    messages = [
        f"{path}, which the check `{command}` goes by, was changed"
        for path, command in inputs[:_MAX_NAMED]
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
    for word in _split_words(command):
        for text in (word, word.partition("=")[2]):
            if text and (name := _make_inner_path(root, root / text)):
                yield name
        program = PurePosixPath(word).name
        tool = shutil.which(word, path=path) if path is not None and "/" not in word else None
        if tool and (name := _make_inner_path(root, Path(tool))):
            yield name
        for programs, settings in _SETTINGS.items():
            if program in programs:
                yield from (name for name in settings if (root / name).is_file())


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
        return blake2b(data, digest_size=20).hexdigest()
    return " ".join(map(str, StatSignature.from_stat(status)))
