"""Which ignored files a place shares, and which are copied into it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.process import split_nul
from cub.place.shared_files import (
    choose_ignored_files,
    copy_included_files,
    list_included_files,
    list_shared_folders,
    list_stale_extensions,
)
from tests.conftest import git

_IGNORED = "node_modules\n/.venv\nvenv/\nenv/\nvendor/\ndeps/\n.env*\ndata/\n*.so\n.cub/\n.tox\n"


class Folder:
    """A project with a commit, and files that git ignores."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write(".gitignore", _IGNORED)
        self.write("src/a.py")
        self.commit()

    def write(self, path: str, text: str = "") -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self) -> None:
        git(self.root, "add", ".")
        git(self.root, "commit", "-qm", "x")

    @property
    def ignored(self) -> list[str]:
        lines = git(self.root, "status", "--ignored=matching", "--porcelain", "-z")
        return [line[3:] for line in split_nul(lines.encode()) if line.startswith("!!")]

    def shared(self, *patterns: str) -> list[str]:
        return list_shared_folders(self.root, self.ignored, patterns)

    def included(self, *shared: str) -> list[str]:
        return list_included_files(self.root, "HEAD", self.ignored, shared)


@pytest.fixture
def folder(project: Path) -> Folder:
    return Folder(project)


@pytest.mark.parametrize(
    ("path", "beside", "shared"),
    [
        ("node_modules/oven/index.js", "", "node_modules"),
        ("packages/shop/node_modules/oven/index.js", "", "packages/shop/node_modules"),
        (".venv/bin/python", "", ".venv"),
        ("env/pyvenv.cfg", "", "env"),
        ("env/local.txt", "", ""),
        ("venv/conda-meta/history", "", "venv"),
        ("vendor/autoload.php", "composer.json", "vendor"),
        ("go/vendor/modules.txt", "go/go.mod", "go/vendor"),
        ("vendor/mine.txt", "", ""),
        ("deps/plug/mix.exs", "mix.exs", "deps"),
        ("deps/mine.txt", "", ""),
        ("data/big.bin", "", ""),
        (".tox/py312/pyvenv.cfg", "", ""),
        (".cub/node_modules/x", "", ""),
    ],
)
def test_dependency_folders_are_shared(folder: Folder, path: str, beside: str, shared: str) -> None:
    folder.write(path)
    if beside:
        folder.write(beside)
    assert folder.shared() == [shared] * bool(shared)


def test_a_folder_that_git_tracks_files_in_is_shared_by_its_parts(folder: Folder) -> None:
    folder.write("vendor/.keep")
    folder.write("Gemfile")
    git(folder.root, "add", "-f", ".")
    git(folder.root, "commit", "-qm", "x")
    folder.write("vendor/bundle/ruby/x.rb")
    folder.write("vendor/cache/x.gem")
    assert folder.shared() == ["vendor/bundle"]


def test_patterns_add_ignored_folders_and_nothing_else(folder: Folder) -> None:
    for path in ("data/models/big.bin", "data/rows/1", "deps/x/y", "loose/x", "venv/x", ".cub/c/x"):
        folder.write(path)
    assert folder.shared("/data/models") == ["data/models"]
    assert folder.shared("data/", "models") == ["data"]
    assert folder.shared("*", "!/venv", "!/venv/x") == ["data", "deps"]
    assert folder.shared("*.bin") == ["data/models"]  # all in it matches
    assert folder.shared("src/", "loose", ".cub", "[") == []
    with pytest.raises(CubError, match="git"):
        list_shared_folders(folder.root.parent, ["data/"], ["data"])


def test_nothing_in_a_shared_folder_is_shared_twice(folder: Folder) -> None:
    folder.write("data/a/node_modules/x")
    folder.write("data/b/x")
    assert list_shared_folders(folder.root, ["data/", "data/a/node_modules/"], ["data"]) == ["data"]


@pytest.mark.parametrize(
    ("text", "included"),
    [
        (".env*\n", [".env", ".env.local", "data/.env"]),
        ("# secrets\n.env*\n!.env.local\n", [".env", "data/.env"]),
        ("/.env\n", [".env"]),
        ("data/**/*.pem\n", ["data/keys/a b\n.pem"]),
        ("data/*\n!data/keys\n", ["data/.env", "data/rows"]),
        ("*\n", [".env", ".env.local", "data/.env", "data/keys/a b\n.pem", "data/rows"]),
        ("src/\nloose\n.cub\nnode_modules\n/nothing\n", []),
        ("\0\xff[\n\\\n", []),
        ("", []),
    ],
)
def test_ignored_files_that_are_named_are_included(
    folder: Folder, text: str, included: list[str]
) -> None:
    for path in (".env", ".env.local", "data/.env", "data/keys/a b\n.pem", "data/rows", "loose/.x",
                 ".cub/.env", "node_modules/a/.env"):  # fmt: skip
        folder.write(path)
    (folder.root / ".worktreeinclude").write_bytes(text.encode("latin-1"))
    assert folder.included("node_modules") == included


def test_without_its_file_nothing_is_included(folder: Folder) -> None:
    folder.write(".env")
    assert folder.included() == []
    (folder.root / ".worktreeinclude").mkdir()
    assert folder.included() == []
    (folder.root / ".worktreeinclude").rmdir()
    os.mkfifo(folder.root / ".worktreeinclude")
    assert folder.included() == []


def test_more_entries_than_a_command_line_takes(folder: Folder) -> None:
    entries = [f"data/{number:05}-{'x' * 60}" for number in range(1200)]
    folder.write("data/.keep")
    git(folder.root, "add", "-f", ".")
    git(folder.root, "commit", "-qm", "x")
    for path in entries:
        folder.write(path)
    folder.write("venv/00001-x")
    folder.write(".worktreeinclude", "*1-*\n")
    expected = [path for path in entries if "1-" in path]
    assert folder.included("venv") == expected


def test_links_with_the_name_of_a_dependency_folder_are_included(folder: Folder) -> None:
    (folder.root / ".venv").symlink_to("/opt/venv")
    (folder.root / "data").mkdir()
    (folder.root / ".env").symlink_to("/etc/hostname")
    assert (folder.shared(), folder.included()) == ([], [".venv"])


def test_what_the_base_has_is_not_included(folder: Folder) -> None:
    folder.write(".env", "mine")
    git(folder.root, "add", "-f", ".env")
    git(folder.root, "commit", "-qm", "x")
    git(folder.root, "rm", "-q", "--cached", ".env")
    folder.write(".env.local")
    folder.write(".worktreeinclude", ".env*")
    assert folder.ignored == [".env", ".env.local"]
    assert folder.included() == [".env.local"]


def test_copies_have_the_modes_and_times_of_their_files(folder: Folder, tmp_path: Path) -> None:
    file = folder.write("data/keys/run", "#!/bin/sh\n")
    file.chmod(0o750)
    os.utime(file, ns=(5, 7_000_000_123))
    (folder.root / "data/link").symlink_to("../outside")
    paths, tree = ["data/keys/run", "data/link", "data/gone"], tmp_path / "tree"
    tree.mkdir()
    assert copy_included_files(folder.root, tree, paths) == paths[:2]
    status = (tree / "data/keys/run").stat()
    assert (status.st_mode & 0o7777, status.st_mtime_ns) == (0o750, 7_000_000_123)
    assert (tree / "data/keys/run").read_text() == "#!/bin/sh\n"
    assert (tree / "data/link").readlink() == Path("../outside")


def test_a_copy_replaces_that_of_an_earlier_attempt(folder: Folder, tmp_path: Path) -> None:
    folder.write(".env", "mine")
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.write_text("")
    tree.mkdir()
    (tree / ".env").symlink_to(outside)
    assert copy_included_files(folder.root, tree, [".env"]) == [".env"]
    assert ((tree / ".env").read_text(), outside.read_text()) == ("mine", "")
    assert not (tree / ".env").is_symlink()


def test_nothing_is_copied_past_what_is_in_the_way(folder: Folder, tmp_path: Path) -> None:
    for path in ("data/key", "venv/a/key", "deps"):
        folder.write(path, "mine")
    os.mkfifo(folder.root / "pipe")
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    (tree / "deps").mkdir(parents=True)
    (tree / "data").symlink_to(outside)
    (tree / "venv").write_text("tracked")
    paths = ["data/key", "venv/a/key", "deps", "pipe"]
    assert copy_included_files(folder.root, tree, paths) == []
    assert (list(outside.iterdir()), (tree / "venv").read_text()) == ([], "tracked")


def test_too_much_to_copy_is_refused(folder: Folder, tmp_path: Path) -> None:
    with folder.write("data/big.bin").open("wb") as file:
        file.truncate((1 << 30) + 1)
    tree = tmp_path / "tree"
    tree.mkdir()
    with pytest.raises(CubError, match=r"are 1 with 1,024 MB, more than 10,000") as refused:
        copy_included_files(folder.root, tree, ["data/big.bin"])
    assert ".worktreeinclude" in refused.value.hint
    assert list(tree.iterdir()) == []


def test_what_was_built_beside_sources_is_included(folder: Folder) -> None:
    folder.write(".gitignore", f"{_IGNORED}*.egg-info/\n_version.py\n")
    folder.commit()
    for path in ("src/a/_version.py",
                 "src/_fast.cpython-312-x86_64-linux-gnu.so", "src/a.egg-info/PKG-INFO",
                 "data/b.so", "src/a.egg-info/x/y", "node_modules/c.so", ".cub/d.so",
                 ".env"):  # fmt: skip
        folder.write(path)
    folder.write(".worktreeinclude", "*.so\n.env\n")
    assert choose_ignored_files(folder.root, "HEAD", ["deps"]) == (
        ("node_modules",),
        (".env", "data/b.so", "src/_fast.cpython-312-x86_64-linux-gnu.so",
         "src/a.egg-info/PKG-INFO", "src/a/_version.py"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "may"),
    [("src/fast.c", True), ("src/Fast.PYX", True), ("lib.rs", True), ("a.py", False), ("c", False)],
)
def test_extensions_whose_sources_may_have_changed_are_stale(path: str, may: bool) -> None:
    assert list_stale_extensions([".env", "a.so", "a.pyd"], ["README.md", path]) == (
        ["a.so", "a.pyd"] * may
    )
