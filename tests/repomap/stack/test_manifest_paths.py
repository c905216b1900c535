from __future__ import annotations

import pytest

from cub.repomap.stack.facts import Manifest
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_beside,
    list_below,
    match_siblings,
    resolve_manifest_path,
)

PATHS = frozenset(
    {
        "a/b/pom.xml",
        "a/b/src/bin/one.rs",
        "a/b/src/bin/two/main.rs",
        "a/b/src/binary.rs",
        "a/go.mod",
        "a/b/Shop.sln",
    }
)
MANIFEST = Manifest("a/b/pom.xml", "", PATHS)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("src/x.c", "a/b/src/x.c"),
        ("./x", "a/b/x"),
        ("../c/", "a/c"),
        ("src\\x.c", "a/b/src/x.c"),
        ("../../x", "x"),
        ("../..", ""),
        ("../../../x", ""),
        ("/etc/passwd", ""),
        ("", ""),
        (".", "a/b"),
    ],
)
def test_a_path_is_told_from_the_root(name: str, path: str) -> None:
    assert resolve_manifest_path(MANIFEST, name) == path


def test_the_first_name_that_stands_beside_counts() -> None:
    assert find_beside(MANIFEST, "nothing", "src/binary.rs", "pom.xml") == "src/binary.rs"
    assert find_beside(MANIFEST, "go.mod") == ""


def test_only_folders_above_count_as_above() -> None:
    assert exists_above(MANIFEST, "go.mod")
    assert not exists_above(MANIFEST, "pom.xml")


def test_what_is_below_a_folder_comes_in_order() -> None:
    assert list(list_below(MANIFEST, "src/bin")) == ["one.rs", "two/main.rs"]
    assert list(list_below(MANIFEST, "src/bi")) == []


def test_a_glob_is_met_in_the_manifests_own_folder_only() -> None:
    assert match_siblings(MANIFEST, "*.sln", "*.xml") == ["Shop.sln", "pom.xml"]
    assert match_siblings(MANIFEST, "*.rs") == []
