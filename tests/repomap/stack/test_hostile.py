"""Whatever stands in a manifest, it costs that manifest alone, and the facts are the same."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cub.repomap.data import load_table
from cub.repomap.stack.facts import Fact, ProjectStack
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.manifest_index import find_manifests, load_readers
from tests.examples import few_examples, keep_few
from tests.repomap.stack.projects import Files, stack_of
from tests.repomap.stack.readers import (
    test_c_cpp,
    test_cmake,
    test_containers,
    test_dotnet,
    test_elixir,
    test_go,
    test_gradle,
    test_infrastructure,
    test_maven,
    test_node_files,
    test_php,
    test_pyproject,
    test_python_files,
    test_ruby,
    test_rust,
    test_scala,
    test_swift,
    test_task_files,
)

READERS = load_readers()

BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n".encode()
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "nothing": b"",
    "blanks": b" \n\t\r\n",
    "NULs": b"\0" * 1000,
    "a binary": bytes(range(256)) * 100,
    "10 MB": b'{"a": 1}' * 1_250_000,
    "open brackets": b"[" * 20_000,
    "open braces": b"{" * 20_000,
    "open objects": b'{"a":' * 20_000,
    "open tags": b"<a>" * 20_000,
    "open parentheses": b"(" * 20_000,
    "open calls": b"a(" * 20_000,
    "open variables": b"${" * 20_000,
    "one long line": b"x" * 20_000,
    "many words": b"a " * 20_000,
    "many quotes": b"'\"" * 20_000,
    "many colons": b"a:" * 20_000,
    "many keys": b" a:\n" * 20_000,
    "many equals": b"a=" * 20_000,
    "backslashes": b"\\" * 20_000,
    "backslashed lines": b"\\\n" * 20_000,
    "dots": b"a." * 20_000,
    "comments": b"/*" * 20_000,
    "dashes": b"- " * 20_000,
    "a bomb of aliases": BOMB,
    "half a character": b'{"name": "\\ud83e", "description": "\\udc00"}',
    "CR only": b"a: b\rc: d\r",
    "conflict": b"<<<<<<< HEAD\na = 1\n=======\n>>>>>>> x\n",
}
# One file for each reader, and made-up manifests that can be read.
NAMES = sorted({reader.globs[0].replace("*", "x") for reader in READERS})
TABLES = (
    *test_pyproject.COMMANDS.values(),
    *test_python_files.COMMANDS.values(),
    *test_python_files.TECHNOLOGIES.values(),
    *test_node_files.COMMANDS.values(),
    *test_node_files.TECHNOLOGIES.values(),
    *test_task_files.COMMANDS.values(),
)
MODULES = (
    test_c_cpp, test_cmake, test_containers, test_dotnet, test_elixir, test_go, test_gradle,
    test_infrastructure, test_maven, test_php, test_ruby, test_rust, test_scala, test_swift,
)  # fmt: skip
PROJECTS: list[Files] = [
    *(files for files, _ in TABLES),
    *(files for module in MODULES for files, _ in module.CASES.values()),
]
GOOD = [
    (found.readers, Manifest(found.path, dedent(str(files[found.path])), frozenset(files)))
    for files in PROJECTS
    for found in find_manifests(sorted(files), READERS)
]
PIECES = st.sampled_from(
    [
        "name", "version", "scripts", "test", "dependencies", "tool", "project", "jobs", "steps",
        "run", "a", "1", "true", "null", "pytest", "\n", "\n  ", "\n- ", "\t", " ", '"', "'", ":",
        ": ", "=", ",", "[", "]", "{", "}", "(", ")", "<", ">", "</", "/>", "#", "//", "/*", "*/",
        "\\", "$", "${{", "`", "&a", "*a", "|", "%", "@", "!", "é", "\x00", "\u2028", "\ud83e",
        "def ", "do", "end", "setup(", "[project]\n", "[tool.", '{"scripts": {', "tasks:\n",
        "test:\n\tx\n", "<project>", "import ", "'''", "🐻",
    ]
)  # fmt: skip


def shown(stack: ProjectStack) -> list[str]:
    """Every text of the stack that would come into a map."""
    commands = [one._replace(runs="") for one in stack.commands]  # the lines behind a target
    rows = (stack.technologies, commands, stack.entry_points, stack.packages, stack.omissions)
    return [text for row in rows for one in row for text in one]


@pytest.mark.parametrize("name", keep_few(NAMES, 60))
def test_hostile_files_cost_themselves_alone(name: str) -> None:
    for data in HOSTILE.values():
        stack = stack_of({name: data})
        assert all(note.path == name for note in stack.omissions)
        assert all(text.isprintable() for text in shown(stack))


@settings(few_examples, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(NAMES), st.lists(PIECES, max_size=60))
def test_any_text_can_be_read(name: str, pieces: list[str]) -> None:
    text = "".join(pieces).encode("utf-8", "surrogatepass")
    assert all(text.isprintable() for text in shown(stack_of({name: text})))


@settings(
    few_examples,
    max_examples=2 * few_examples.max_examples,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.sampled_from(GOOD),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), st.one_of(PIECES, st.none()))),
)
def test_manifests_that_are_changed_at_random_can_be_read(
    good: tuple[tuple[int, ...], Manifest], changes: list[tuple[int, int, str | None]]
) -> None:
    path, text, _ = good[1]
    for start, length, piece in changes:
        again = text[start : start + length] if piece is None else ""
        text = text[:start] + (piece or again + again) + text[start + length :]
    stack = stack_of({path: text.encode("utf-8", "surrogatepass"), "Makefile": "test:\n\tx\n"})
    assert all(text.isprintable() for text in shown(stack))
    assert path == "Makefile" or "make test" in [one.text for one in stack.commands]


def test_every_reader_has_a_good_manifest() -> None:
    modules = {module.__name__.rpartition("test_")[2] for module in MODULES}
    seen = {number for numbers, _ in GOOD for number in numbers}
    for number, row in enumerate(load_table("manifests")["manifests"]):
        if row.get("read", "").partition(".")[0] in modules:
            assert number in seen, row


class Ascending(frozenset[str]):
    """Paths in the order of their names instead of that of their hashes."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


class Descending(frozenset[str]):
    """Paths in the opposite order."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__(), reverse=True))


def test_no_reader_depends_on_the_order_of_the_paths() -> None:
    # One pass after the other: readers remember the order of the last paths, which are equal.
    first, second = (
        [read_facts(one._replace(paths=kind(one.paths)), *numbers) for numbers, one in GOOD]
        for kind in (Ascending, Descending)
    )
    assert first == second


def read_facts(manifest: Manifest, *numbers: int) -> list[Fact] | str:
    """What readers say, or the words of a refusal."""
    try:
        return [fact for number in numbers for fact in READERS[number].read(manifest)]
    except ValueError as error:
        return str(error)
