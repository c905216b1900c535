"""Find what decides on checks beside the code: scripts, settings and tools, and deleted tests.

An agent may change them, so changes are reported. Some define what a check runs, and not only what
it reads: their earlier content is kept, for the check to run once more as it was.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.actions.run.steering_settings import select_steering
from cub.files.read_files import make_stat_signature, read_prefix
from cub.place.changes import FileChange
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import compile_ignore_patterns
from cub.text import join_first

# The files that runners read without being told to, by the name of their command.
_PYTHON = ("sitecustomize.py", "usercustomize.py")
_SETTINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("make", "gmake"): ("GNUmakefile", "makefile", "Makefile"),
    ("just",): ("justfile", "Justfile", ".justfile"),
    ("task",): ("Taskfile.yml", "Taskfile.yaml"),
    ("npm", "npx", "yarn", "pnpm", "bun", "node"): (
        "package.json", ".npmrc", ".mocharc*", "*.config.js", "*.config.cjs", "*.config.mjs",
        "*.config.ts", "pnpm-workspace.yaml", "lerna.json",
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
_MAX_COMPARED = 1 << 20  # bytes; of a larger file, its size and times are compared
_MAX_SCRIPT = 1 << 16  # bytes that are searched for the names of programs
_MAX_NAMED = 3
# These hold dependencies that are not told apart here: with earlier ones, nothing might run.
_DEPENDENCY_MANIFESTS = ("build.gradle", "build.gradle.kts", "pom.xml", "mix.exs")
_RUNNER_CONFIG = re.compile(
    r"(?:jest|vitest|ava|karma|mocha|jasmine|playwright|cypress|web-test-runner|wtr|stryker|eslint"
    r"|prettier)\."
)
_CONFIG_OPTIONS = ("-c", "--config", "--config-file", "--rcfile", "--makefile")
# Python finds a module with the name of such a tool before the tool.
_PYTHON_TOOLS = ("tox", "nox", "pytest", "unittest", "mypy", "ruff")
# The name of a script that judges: others that a check runs may be the product.
_JUDGE = re.compile(
    r"(?:.*[-_./])?(?:checks?|tests?|runtests|lint|verify|validate|ci|smoke|e2e|qa)(?:[-_./].*)?",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(r"(?:tests?|specs?)\.\w+")  # in a folder of sources
_SCRIPTS = ("", ".sh", ".bash", ".py", ".js", ".cjs", ".mjs", ".ts", ".rb", ".pl", ".php")
_SHELL_SCRIPTS = ("", ".sh", ".bash")
_NODE_SCRIPTS = (".js", ".cjs", ".mjs", ".ts")  # `node test.js` in a package runs a test
_INTERPRETERS = ("sh", "bash", "python", "python3", "node", "ruby", "perl", "php")
_WORD = re.compile(r"[\w./@-]+")
_WORD_FILES = ("", ".sh", ".bash", ".mk", ".json", ".ini", ".yaml", ".yml")  # that name programs


class CheckInput(NamedTuple):
    """Hold the path of a file that a check goes by, and the check's command."""

    path: str
    command: str


class InputState(NamedTuple):
    """Hold what identifies a file's content, and the content and mode of one that defines a check.

    `data` is None for a file that defines none, is large, or not there. `is_setting`: a runner
    reads the file without being told to, so a new one may change what the check runs.
    """

    identity: str = ""
    data: bytes | None = None
    mode: int = 0
    is_setting: bool = False


ABSENT = InputState()
CheckInputs = Mapping[CheckInput, InputState]


def record_inputs(
    root: Path, commands: Iterable[str], path: str | None, known: CheckInputs | None = None
) -> CheckInputs:
    """Return the files below `root` that the commands go by, with the state of each.

    `path` is the PATH by which programs are found. Files that git ignores are included, and those
    that are `known` already.
    """
    files = {file: state.is_setting for file, state in (known or {}).items()}
    for command in commands:
        for name, is_setting in _find_files(root, command, path):
            files.setdefault(CheckInput(name, command), is_setting)
    states = {file: _read_state(root, file.path, is_setting=files[file]) for file in files}
    return {file: state for file, state in states.items() if state.identity}


def add_earlier_states(
    before: CheckInputs, after: CheckInputs, read_old: Callable[[list[str]], Mapping[str, bytes]]
) -> CheckInputs:
    """Return `before` and what else of `after` was there already: a check may go by it only now."""
    new = [file for file in after if file not in before]
    data = read_old([file.path for file in new]) if new else {}
    old = {file: data[file.path] for file in new if data[file.path]}
    states = {
        file: _make_state(file.path, content, is_setting=after[file].is_setting)
        for file, content in old.items()
    }
    return {**before, **states}


def find_changed_inputs(before: CheckInputs, after: CheckInputs) -> list[CheckInput]:
    """Return the inputs that are new, gone, or not what they were."""
    return [
        file
        for file in dict.fromkeys([*before, *after])
        if before.get(file, ABSENT).identity != after.get(file, ABSENT).identity
    ]


def describe_changes(
    inputs: Sequence[CheckInput],
    before: CheckInputs,
    changed: Sequence[FileChange],
    *,
    is_red: bool,
) -> list[str]:
    """Describe changes by which a check may pass that should not: inputs, and tests.

    `is_red`: a check failed before, so that a weaker test may look like a fix.
    """
    messages = [
        f"{file.path}, which the check `{file.command}` goes by, "
        + ("was changed" if file in before else "is new")
        for file in inputs[:_MAX_NAMED]
    ]
    tests = select_tests(changed)
    deleted = [change.path for change in tests if change.kind == "D"]
    messages += [f"the test {path} was deleted" for path in deleted[:_MAX_NAMED]]
    if is_red and tests and len(tests) == len(changed):
        names = join_first([change.path for change in tests])
        messages.append(f"a check failed before, and only tests were changed: {names}")
    more = max(0, len(inputs) - _MAX_NAMED) + max(0, len(deleted) - _MAX_NAMED)
    return [*messages, f"and {more} more"] if more else messages


def select_tests(changes: Sequence[FileChange]) -> list[FileChange]:
    """Return the changes of tests and of their data."""
    classifier = FileClassifier(change.path for change in changes)
    return [
        change
        for change in changes
        if classifier.classify(change.path) is FileKind.TEST
        or _TEST_NAME.fullmatch(PurePosixPath(change.path).name)
    ]


def find_protected_path(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """Return the first path that matches a pattern in .gitignore syntax; "" for none."""
    if not patterns:
        return ""
    spec = compile_ignore_patterns(patterns)
    return next((path for path in paths if spec.match_file(path)), "")


def _find_files(root: Path, command: str, path: str | None) -> Iterator[tuple[str, bool]]:
    """Yield the files of the project that a command names, and those that its programs read.

    The second value says whether a program reads it as a setting, or is the file.
    """
    words = _split_words(command)
    values = [word.partition("=")[2] for word in words]  # such as of --prefix=web
    folders = [root, *_iter_folders(root, root, [*words, *values])]
    programs = list(map(_get_name, words))
    for before, word in pairwise(["", *words]):
        option, _, value = word.partition("=")
        for text, folder in product((word, value), folders):
            if text and (name := _make_inner_path(root, folder / text)):
                yield name, (option if text is value else before) in _CONFIG_OPTIONS
                nested = _read_words(root, name)
                programs += map(_get_name, nested)
                folders += _iter_folders(root, root, nested)
        tool = shutil.which(word, path=path) if path is not None and "/" not in word else None
        if tool and (name := _make_inner_path(root, Path(tool))):
            yield name, True
    yield from _find_settings(root, folders, programs)


def _find_settings(
    root: Path, folders: list[Path], programs: list[str]
) -> Iterator[tuple[str, bool]]:
    """Yield what the programs read in the folders, and what those read that such a file names.

    That includes modules with the name of a program, which Python finds first, and the programs of
    Node.js packages. The second value is False for scripts that a Makefile or a script runs.
    """
    folder = root / "node_modules" / ".bin"
    binaries = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    known, visited = set[str](), set[tuple[str, Path]]()
    while new := set(product(_list_patterns(set(programs)), folders)) - visited:
        visited |= new
        names = {
            file.relative_to(root).as_posix()
            for pattern, folder in new
            for file in (folder.glob(pattern) if "*" in pattern else [folder / pattern])
            if file.is_file()
        }
        for name in sorted(names - known):
            known.add(name)
            yield name, True
            nested, folder = _read_words(root, name), (root / name).parent
            programs += map(_get_name, nested)
            folders += _iter_folders(root, folder, nested)
            for before, word in pairwise(nested):
                is_run = _get_name(before) in _INTERPRETERS or word.startswith("./")
                if is_run and (inner := _make_inner_path(root, folder / word)):
                    yield inner, False
    for program in sorted(binaries.intersection(programs)):
        yield f"node_modules/.bin/{program}", True


def _iter_folders(root: Path, base: Path, words: Iterable[str]) -> Iterator[Path]:
    """Yield the folders that the words name; `packages/*` names all in `packages`."""
    for word in {word.rstrip("*") for word in words if not word.startswith((".", "node_modules"))}:
        folder = Path(os.path.normpath(base / word))
        with suppress(OSError):  # such as of a name that is too long
            if root in folder.parents and folder.is_dir():
                yield folder
                if word.endswith("/"):
                    yield from (inner for inner in folder.iterdir() if inner.is_dir())


def _list_patterns(programs: set[str]) -> set[str]:
    """Return which files the programs read in a folder: names, or patterns of them."""
    tools = programs.intersection(_PYTHON_TOOLS)
    patterns = {f"{tool}{end}" for tool in tools for end in (".py", "/__init__.py")}
    for names, files in _SETTINGS.items():
        if programs.intersection(names):
            patterns.update(files)
    return patterns


def _read_words(root: Path, name: str) -> list[str]:
    """Return the words of a script or of the file of a runner: there may be programs among them."""
    if PurePosixPath(name).suffix not in _WORD_FILES:
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


def _read_state(root: Path, name: str, *, is_setting: bool) -> InputState:
    """Return the state of a file; `ABSENT` if there is none."""
    try:
        status, data = (root / name).stat(), b""
        if status.st_size <= _MAX_COMPARED:
            real = os.path.relpath(os.path.realpath(root / name), root)
            data = read_prefix(os.fspath(root), real, _MAX_COMPARED)
    except OSError:
        return ABSENT
    if data or not status.st_size:
        state = _make_state(name, data, is_setting=is_setting)
        return state._replace(mode=stat.S_IMODE(status.st_mode))
    return InputState(" ".join(map(str, make_stat_signature(status))), is_setting=is_setting)


def _make_state(name: str, data: bytes, *, is_setting: bool) -> InputState:
    identity = blake2b(select_steering(name, data), digest_size=20).hexdigest()
    defines_check = _defines_check(name, is_setting=is_setting)
    return InputState(identity, data if defines_check else None, is_setting=is_setting)


def _defines_check(name: str, *, is_setting: bool) -> bool:
    """Return whether a file says what a check runs, and is neither a test nor a task's product."""
    path = PurePosixPath(name)
    if is_setting:
        is_general = ".config." in path.name and not _RUNNER_CONFIG.match(path.name)
        return not is_general and path.name not in _DEPENDENCY_MANIFESTS
    if path.suffix not in _SCRIPTS or not _JUDGE.fullmatch(name):
        return False
    is_test = FileClassifier((name,)).classify(name) is FileKind.TEST
    is_test |= path.suffix in _NODE_SCRIPTS and _TEST_NAME.fullmatch(path.name) is not None
    return path.suffix in _SHELL_SCRIPTS or not is_test
