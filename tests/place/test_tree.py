"""Trees of a place: what is checked out in them, what git makes of what became of it, and when the
commands of `run.setup` run again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.place.checkout import TreeGit, find_checkout
from cub.place.folder import make_folders_usable
from cub.place.place import Place
from cub.place.tree import (
    check_out_tree,
    list_edited_paths,
    make_setup_key,
    read_tree_state,
    update_tree,
)
from tests.conftest import git, tree
from tests.place.places import begin_place, commit_files

_FILES = {
    "a.py": "a = 1\n", "sub/b.py": "b = 1\n", "sub/deep/c.txt": "c\n",
    ".gitignore": "*.log\nout/\n", ".gitattributes": "*.txt text eol=crlf\n",
}  # fmt: skip


@pytest.fixture
def place(project: Path) -> Place:
    commit_files(project, _FILES)
    return begin_place(project)


def _is_excluded(path: str) -> bool:
    return path == "private.py"


def _state(place: Place, size: int = 1 << 20) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    state = read_tree_state(place.tree, _is_excluded, size)
    return _diff(place, state.tree), state.ignored_paths, state.repositories


def _diff(place: Place, new: str) -> str:
    words = ("diff-tree", "-r", "--name-status", place.base.tree, new)
    return " ".join(place.tree.run(*words).decode().split())


def test_a_tree_has_the_files_of_its_commit_as_git_writes_them(place: Place, project: Path) -> None:
    assert tree(place.folder.tree) == tree(project) | {"sub/deep/c.txt": b"c\r\n"}
    assert _state(place) == ("", (), ())
    assert git(place.folder.tree, "status", "--porcelain") == ""


def test_what_was_done_in_a_tree_is_in_its_state(place: Place) -> None:
    top = place.folder.tree
    (top / "a.py").write_text("a = 2\n")
    (top / "sub/deep/c.txt").unlink()
    (top / "new").mkdir()
    (top / "new/d é.py").write_text("d\n")
    (top / "private.py").write_text("mine\n")
    (top / "x.log").write_text("log\n")
    (top / "__pycache__").mkdir()
    (top / "__pycache__/a.pyc").write_text("")
    (top / "sub/b.py").chmod(0o755)
    git(top, "init", "-q", "inner")
    state = read_tree_state(place.tree, _is_excluded)
    assert _diff(place, state.tree).split()[:2] == ["M", "a.py"]
    listed = place.tree.list_items("ls-tree", "-r", "-z", "--name-only", state.tree)
    assert {"new/d é.py"} == {*listed} - {*_FILES}
    assert "sub/deep/c.txt" not in listed
    assert b"100755" in place.tree.run("ls-tree", state.tree, "sub/b.py")
    assert state.ignored_paths == ("x.log",)
    assert state.repositories == ("inner/",)


def test_a_folder_may_become_a_file_and_a_file_a_folder(place: Place) -> None:
    top = place.folder.tree
    (top / "a.py").unlink()
    (top / "a.py").mkdir()
    (top / "a.py/inner").write_text("x")
    for path in (top / "sub/b.py", top / "sub/deep/c.txt"):
        path.unlink()
    (top / "sub/deep").rmdir()
    (top / "sub").rmdir()
    (top / "sub").symlink_to("a.py")
    assert _state(place)[0] == "D a.py A a.py/inner A sub D sub/b.py D sub/deep/c.txt"
    check_out_tree(place.tree, place.base.tree)
    assert _state(place) == ("", (), ())


def test_large_files_are_named_and_left_out(place: Place) -> None:
    (place.folder.tree / "large.bin").write_bytes(b"x" * 2000)
    (place.folder.tree / "a.py").write_bytes(b"y" * 2000)
    state = read_tree_state(place.tree, _is_excluded, 1000)
    assert {*state.oversized_files} == {"large.bin", "a.py"}
    assert state.tree == place.base.tree


def test_what_keeps_git_from_reading_does_not(place: Place) -> None:
    """FIFOs would have it wait for ever; folders and files without rights can't be opened."""
    top = place.folder.tree
    os.mkfifo(top / "pipe")
    (top / "nested/.git").mkdir(parents=True)
    os.mkfifo(top / "nested/.git/HEAD")
    (top / "sub/new.py").write_text("new\n")
    (top / "sub/new.py").chmod(0)
    (top / "sub/b.py").write_text("b = 2\n")
    (top / "sub").chmod(0)
    make_folders_usable(top)
    changed, _, _ = _state(place)
    assert changed == "M sub/b.py A sub/new.py"
    assert not os.path.lexists(top / "pipe")


def test_checking_out_again_writes_what_differs_and_deletes_the_rest(place: Place) -> None:
    top, kept = place.folder.tree, "cache"
    before = (top / "sub/b.py").stat().st_mtime_ns
    (top / "a.py").write_text("a = 9\n")
    (top / kept).mkdir()
    (top / kept / "x.log").write_text("")
    (top / "out").mkdir()
    (top / "out/y").write_text("")
    git(top, "init", "-q", "other")
    check_out_tree(place.tree, place.base.tree, [kept])
    assert (top / "a.py").read_text() == "a = 1\n"
    assert (top / "sub/b.py").stat().st_mtime_ns == before
    assert {path.name for path in top.iterdir()} == {
        ".git", ".gitignore", ".gitattributes", "a.py", "sub", kept,
    }  # fmt: skip


@pytest.mark.parametrize("data", [b"", b"DIRC\0\0\0\2 broken"])
def test_a_broken_index_is_made_anew(place: Place, data: bytes) -> None:
    (place.folder.tree / "a.py").write_text("a = 9\n")
    place.tree.index.write_bytes(data)
    check_out_tree(place.tree, place.base.tree)
    assert (place.folder.tree / "a.py").read_text() == "a = 1\n"


def test_edits_of_files_that_git_tracks_can_be_taken_over(place: Place) -> None:
    place.check_out(place.base.tree)
    top = place.folder.checks
    assert list_edited_paths(place.checks) == []
    (top / "a.py").write_text("a = 2\n")
    (top / "sub/b.py").unlink()
    (top / "report.xml").write_text("x")
    paths = list_edited_paths(place.checks)
    assert paths == ["a.py", "sub/b.py"]
    assert _diff(place, update_tree(place.checks, paths)) == "M a.py D sub/b.py"


def test_nothing_is_written_into_the_persons_repository(place: Place, project: Path) -> None:
    before = sorted(path for path in (project / ".git").rglob("*"))
    (place.folder.tree / "a.py").write_text("a = 3\n")
    tree_id = _state(place)[0]
    assert tree_id == "M a.py"
    place.check_out(place.read_state().tree)
    assert sorted(path for path in (project / ".git").rglob("*")) == before


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("package-lock.json", True),
        ("packages/shop/package.json", True),
        ("uv.lock", True),
        ("requirements-dev.txt", True),
        ("tools/setup.sh", True),
        ("tools/other.sh", False),
        ("src/a.py", False),
    ],
)
def test_the_files_that_name_dependencies_count(
    project: Path, tmp_path: Path, path: str, changes: bool
) -> None:
    first = _make_key(project, tmp_path, path, "1")
    assert first == _make_key(project, tmp_path, "README.md", "2")
    assert (_make_key(project, tmp_path, path, "2") != first) is changes


def test_the_commands_count(project: Path, tmp_path: Path) -> None:
    commands: tuple[list[str], ...] = (["a"], ["a", "b"], ["a b"], [])
    keys = [_make_key(project, tmp_path, "uv.lock", "1", *words) for words in commands]
    assert len(set(keys)) == 4


def _make_key(root: Path, tmp_path: Path, path: str, text: str, *commands: str) -> str:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    git(root, "add", ".")
    tree = git(root, "write-tree").strip()
    runner = TreeGit(find_checkout(root), root, tmp_path / "index", root / ".git/objects")
    return make_setup_key(runner, tree, commands or ["npm ci && sh ./tools/setup.sh"])
