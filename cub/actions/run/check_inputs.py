"""What decides on checks beside the code: the scripts, settings and tools that their commands name,
and tests that are deleted. Who works on a task may change them, and somebody has to be told.
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
_LARGEST = 1 << 20  # bytes that are compared; of a larger file, what the disk says of it
_MANY = 3  # that are named


class CheckInput(NamedTuple):
    """A file that a check goes by, and the check's command."""

    path: str
    command: str


CheckInputs = Mapping[CheckInput, str]


def record_inputs(root: Path, commands: Iterable[str], path: str | None) -> CheckInputs:
    """Record what the commands go by below `root`, with what tells one content from another.

    `path` is the PATH by which programs are found. Git's ignoring of a file makes no difference.
    """
    found = {}
    for command in commands:
        for name in dict.fromkeys(_find_files(root, command, path)):
            found[CheckInput(name, command)] = _identify(root, name)
    return found


def find_changed_inputs(root: Path, before: CheckInputs) -> list[CheckInput]:
    """Find what is not as it was recorded."""
    return [one for one, identity in before.items() if _identify(root, one.path) != identity]


def describe_changes(inputs: Sequence[CheckInput], changed: Sequence[FileChange]) -> list[str]:
    """Tell of changes by which a check may pass that should not: changed inputs, deleted tests."""
    said = [
        f"{one.path}, which the check `{one.command}` goes by, was changed"
        for one in inputs[:_MANY]
    ]
    kinds = FileClassifier(one.path for one in changed)
    gone = [
        one.path for one in changed if one.kind == "D" and kinds.classify(one.path) is FileKind.TEST
    ]
    said += [f"the test {path} was deleted" for path in gone[:_MANY]]
    more = max(0, len(inputs) - _MANY) + max(0, len(gone) - _MANY)
    return [*said, f"and {more} more"] if more else said


def find_protected_path(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """Find the first path that one of the patterns, as in a .gitignore, protects; "" for none."""
    if not patterns:
        return ""
    spec = compile_ignore_patterns(patterns)
    return next((path for path in paths if spec.match_file(path)), "")


def _find_files(root: Path, command: str, path: str | None) -> Iterator[str]:
    """The files of the project that a command names, or that its programs read by themselves."""
    for word in _words(command):
        for text in (word, word.partition("=")[2]):
            if text and (name := _inner(root, root / text)):
                yield name
        program = PurePosixPath(word).name
        tool = shutil.which(word, path=path) if path is not None and "/" not in word else None
        if tool and (name := _inner(root, Path(tool))):
            yield name
        for programs, settings in _SETTINGS.items():
            if program in programs:
                yield from (name for name in settings if (root / name).is_file())


def _words(command: str) -> list[str]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:  # an open quote: the shell will say so
        return command.split()


def _inner(root: Path, file: Path) -> str:
    """A file as a path below `root`; "" for what is none, or is elsewhere."""
    try:
        if not file.is_file():
            return ""
    except (OSError, ValueError):
        return ""
    name = os.path.relpath(os.path.normpath(file), root)
    return "" if name.startswith("..") else name.replace(os.sep, "/")


def _identify(root: Path, name: str) -> str:
    """What tells a content from another one; "" where there is no file."""
    try:
        found = (root / name).stat()
        data = read_prefix(os.fspath(root), os.path.relpath(os.path.realpath(root / name), root),
                          _LARGEST) if found.st_size <= _LARGEST else b""  # fmt: skip
    except OSError:
        return ""
    if data or not found.st_size:
        return blake2b(data, digest_size=20).hexdigest()
    return " ".join(map(str, StatSignature.from_stat(found)))
