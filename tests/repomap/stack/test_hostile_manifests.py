"""What the readers of all ecosystems owe: no crash, no long wait, the same facts each time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.data import load_table
from cub.repomap.stack.facts import Fact
from cub.repomap.stack.manifest import Manifest, ManifestReader
from cub.repomap.stack.manifest_index import find_manifests, load_readers
from tests.examples import few_examples
from tests.repomap.stack.projects import Files
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
    test_php,
    test_ruby,
    test_rust,
    test_scala,
    test_swift,
)

# The readers of tests/repomap/stack/test_hostile.py are left out.
MODULES = {
    "elixir", "dotnet", "go", "gradle", "infrastructure", "maven", "c_cpp", "php", "ruby", "rust",
    "scala", "swift",
}  # fmt: skip
READERS = tuple(
    reader
    for row, reader in zip(load_table("manifests")["manifests"], load_readers(), strict=True)
    if row.get("read", "").partition(".")[0] in MODULES
)
TESTS = (
    test_elixir, test_cmake, test_containers, test_dotnet, test_go, test_gradle,
    test_infrastructure, test_maven, test_c_cpp, test_php, test_ruby, test_rust, test_scala,
    test_swift,
)  # fmt: skip
PROJECTS: list[Files] = [files for test in TESTS for files, _ in test.CASES.values()]


def manifests(files: Files) -> list[tuple[ManifestReader, Manifest]]:
    """Each manifest of a project with each of its readers."""
    paths = frozenset(files)
    return [
        (READERS[number], Manifest(found.path, dedent(str(files[found.path])), paths))
        for found in find_manifests(sorted(paths), READERS)
        for number in found.readers
    ]


GOOD = [each for files in PROJECTS for each in manifests(files)]
# The smallest texts that begin something which readers look for.
PIECES = sorted(
    {
        piece
        for _, manifest in GOOD
        for piece in re.findall(r"[\w.-]+[ \t]*[(:=\[{]?|[^\w\s]+|\s+", manifest.text)
    }
)


def facts(reader: ManifestReader, manifest: Manifest) -> tuple[Fact, ...] | str:
    """What a reader says, or the words of its refusal."""
    try:
        return tuple(reader.read(manifest))
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "too deeply nested"


@st.composite
def mutated(draw: st.DrawFn) -> tuple[ManifestReader, Manifest]:
    """A good manifest with parts cut out, doubled, or taken from elsewhere."""
    reader, manifest = draw(st.sampled_from(GOOD))
    text = manifest.text
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=5) | st.just(text[start:end] * 2))
        text = text[:start] + piece + text[end:]
    return reader, manifest._replace(text=text)


def test_every_reader_has_a_good_manifest() -> None:
    seen = {id(reader) for reader, _ in GOOD}
    assert [reader.globs for reader in READERS if id(reader) not in seen] == []


@few_examples
@given(mutated())
def test_a_broken_manifest_is_refused_by_a_value_error_at_most(
    case: tuple[ManifestReader, Manifest],
) -> None:
    assert isinstance(facts(*case), tuple | str)


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
        [facts(reader, one._replace(paths=kind(one.paths))) for reader, one in GOOD]
        for kind in (Ascending, Descending)
    )
    assert first == second


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: "+".join(reader.globs))
@pytest.mark.parametrize(
    "size",
    [1, 200, 10_000, pytest.param(100_000, marks=pytest.mark.thorough)],
    ids="{} pieces".format,
)
def test_deep_nesting_ends(reader: ManifestReader, size: int) -> None:
    path = reader.globs[0].replace("*", "x")
    for piece in ("[", "{", '{"a":', "(", "<a>", "${", "a(", " a:\n", "- "):
        manifest = Manifest(path, piece * size, frozenset({path}))
        assert isinstance(facts(reader, manifest), tuple | str)
