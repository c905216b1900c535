from __future__ import annotations

import pytest

from cub.repomap.stack.facts import Technology
from cub.repomap.stack.manifest import Manifest

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
    assert MANIFEST.resolve_path(name) == path


def test_a_package_is_known_in_any_case_and_only_in_its_ecosystem() -> None:
    assert MANIFEST.find_known("pypi", [("Django", ">=5"), ("left-pad", "")]) == (
        Technology("Django", "framework", ">=5", "a/b/pom.xml"),
    )
    assert MANIFEST.find_known("npm", [("django", "")]) == ()


def test_the_first_name_that_stands_beside_counts() -> None:
    assert MANIFEST.find_beside("nothing", "src/binary.rs", "pom.xml") == "src/binary.rs"
    assert MANIFEST.find_beside("go.mod") == ""


def test_only_folders_above_count_as_above() -> None:
    assert MANIFEST.exists_above("go.mod")
    assert not MANIFEST.exists_above("pom.xml")


def test_what_is_below_a_folder_comes_in_order() -> None:
    assert list(MANIFEST.list_below("src/bin")) == ["one.rs", "two/main.rs"]
    assert list(MANIFEST.list_below("src/bi")) == []


def test_a_glob_is_met_in_the_manifests_own_folder_only() -> None:
    assert MANIFEST.match_siblings("*.sln", "*.xml") == ["Shop.sln", "pom.xml"]
    assert MANIFEST.match_siblings("*.rs") == []
