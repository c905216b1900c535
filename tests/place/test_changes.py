"""What differs between trees, and trees in which some files are edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.place.changes import (
    FileVersion,
    add_checkout_files,
    diff_trees,
    drop_paths,
    list_tree_files,
    read_files,
    replace_files,
    write_patch,
)
from cub.place.place import Place
from tests.conftest import git
from tests.place.places import begin_place, commit_files

_FILES = {"a.py": "a = 1\n", "sub/b.py": "b\n", "sub/deep/c.txt": "c\n", "bin": "\0\1"}


@pytest.fixture
def place(project: Path) -> Place:
    commit_files(project, _FILES)
    return begin_place(project)


def _edit(place: Place) -> str:
    files = {
        "a.py": FileVersion(b"a = 2\nmore\n"),
        "sub/b.py": FileVersion(None),
        "new/deep/d.sh": FileVersion(b"d\n", 0o755),
    }
    return replace_files(place.tree, place.base.tree, files)


def test_changes_have_their_kinds_and_lines(place: Place) -> None:
    diff = diff_trees(place.tree, place.base.tree, _edit(place))
    assert [(one.path, one.kind) for one in diff.changes] == [
        ("a.py", "M"), ("new/deep/d.sh", "A"), ("sub/b.py", "D")
    ]  # fmt: skip
    assert (diff.added, diff.removed) == (3, 2)
    assert diff.changes[1].new_mode == 0o100755
    assert not any(change.is_submodule for change in diff.changes)
    assert diff_trees(place.tree, place.base.tree, place.base.tree).changes == ()


def test_files_are_read_as_a_tree_has_them(place: Place) -> None:
    edited = _edit(place)
    paths = ["a.py", "sub/b.py", "nothing"]
    assert read_files(place.tree, place.base.tree, paths) == {
        "a.py": b"a = 1\n", "sub/b.py": b"b\n", "nothing": b""
    }  # fmt: skip
    assert read_files(place.tree, edited, paths)["sub/b.py"] == b""
    assert {*list_tree_files(place.tree, edited)} == {
        "a.py", "bin", "new/deep/d.sh", "sub/deep/c.txt"
    }  # fmt: skip


def test_a_folder_that_has_nothing_left_is_gone(place: Place) -> None:
    left = drop_paths(place.tree, place.base.tree, ["sub/b.py", "sub/deep/c.txt", "nothing/x"])
    assert place.tree.run("ls-tree", "--name-only", left).decode().split() == ["a.py", "bin"]
    assert drop_paths(place.tree, place.base.tree, []) == place.base.tree


def test_a_patch_leads_from_one_tree_to_the_other(place: Place, project: Path) -> None:
    edited, target = _edit(place), project.parent / "changes.patch"
    assert write_patch(place.tree, place.base.tree, edited, target)
    git(project, "apply", "--index", str(target))
    assert git(project, "write-tree").strip() == edited
    assert not write_patch(place.tree, edited, edited, target.with_name("none"))
    assert not target.with_name("none").exists()


def test_files_of_the_checkout_are_added_as_they_are_there(place: Place, project: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub/tasks.jsonl").write_text("{}\n")
    (project / "link").symlink_to("a.py")
    paths = (".cub/tasks.jsonl", ".cub/ledger.jsonl", "link")
    added = add_checkout_files(place.tree, place.base.tree, paths)
    diff = diff_trees(place.tree, place.base.tree, added)
    assert [change.path for change in diff.changes] == [".cub/tasks.jsonl"]
    assert read_files(place.tree, added, paths)[".cub/tasks.jsonl"] == b"{}\n"
