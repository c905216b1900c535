from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.stack.facts import Fact
from cub.repomap.stack.manifest import Manifest, ManifestReader
from cub.repomap.stack.manifest_index import find_manifests, load_readers
from tests.examples import few_examples

READERS = load_readers()


def nothing(manifest: Manifest) -> tuple[Fact, ...]:  # noqa: ARG001
    return ()


ANY = [
    ManifestReader(("b.toml", "*.sln", "vite.config.*", ".*rc"), nothing),
    ManifestReader(("a.toml", ".ci/*.yml", "needs/*.txt", "x-*.txt", "*-x.txt"), nothing),
]


@pytest.mark.parametrize(
    "path",
    [
        "a.toml", "sub/a.toml", "a/b/c.sln", "a.b.sln", "vite.config.ts", "vite.config.x.y",
        ".ci/one.yml", "needs/one.txt", "x-one.txt", "sub/one-x.txt", ".somerc", "sub/.xrc",
        "testing/a.toml", "latest/a.toml", "[a]/a.toml", "a b/a.toml",
    ],
)  # fmt: skip
def test_a_file_that_meets_a_glob_is_a_manifest(path: str) -> None:
    assert [found.path for found in find_manifests([path, "README.md"], ANY)] == [path]


@pytest.mark.parametrize(
    "path",
    [
        "A.toml", "a.toml.bak", "a.toml/x", ".ci/one/two.yml", "x/.ci/one.yml", "one.txt", "x.txt",
        "sln", "vite.conf.ts", "vite/config.ts", "x/needs/one.txt",
        ".hidden/a.toml", "a/.hidden/b/a.toml", "node_modules/x/a.toml", "vendor/a.toml",
        "third_party/x/a.toml", "tests/a.toml", "a/test/a.toml", "a/testdata/a.toml",
        "fixtures/a.toml", "examples/x/a.toml", "docs/a.toml", "dist/a.toml", "a/template-b/a.toml",
        "{{ cookiecutter.name }}/a.toml",
    ],
)  # fmt: skip
def test_other_files_are_none(path: str) -> None:
    assert find_manifests([path], ANY) == []


def test_shallow_ones_come_first_then_those_of_the_first_reader() -> None:
    paths = ["z/b.toml", "a/b/b.toml", "a.toml", "a/a.toml", "a/b.toml", "b.toml", "a.toml"]
    assert [found.path for found in find_manifests(paths, ANY)] == [
        "b.toml", "a.toml", "a/b.toml", "z/b.toml", "a/a.toml", "a/b/b.toml",
    ]  # fmt: skip


def test_a_file_can_have_several_readers() -> None:
    assert find_manifests(["a.toml"], [ANY[1], ANY[0], ANY[1]])[0].readers == (0, 2)


ODD = st.text(alphabet="ab./-*[]{}\n\\é", min_size=1, max_size=30)
NAMES = st.sampled_from([glob.replace("*", "x") for one in READERS for glob in one.globs])


@few_examples
@given(st.lists(ODD | NAMES | st.builds("{}/{}".format, ODD, NAMES)))
def test_any_names_can_be_looked_at(paths: list[str]) -> None:
    found = find_manifests(paths, READERS)
    assert {one.path for one in found} <= set(paths)


def test_every_reader_can_be_met() -> None:
    for reader in READERS:
        for glob in reader.globs:
            path = glob.replace("*", "x").replace("?", "x").replace("[", "").replace("]", "")
            assert find_manifests([path], [reader]), glob
