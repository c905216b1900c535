"""A project's files as one thing: on disk, and as a plan leaves them. A commit's are tested with
`cub.git.CommitTree`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.file_tree import DiskTree, PlannedTree
from tests.examples import hardly_any_examples
from tests.files.worlds import change

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file in a folder, beside which there is another file."""
    (tmp_path / "theirs.md").write_bytes(b"secret")
    root = (tmp_path / "project").resolve()
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "AGENTS.md").write_bytes(b"A")
    (root / "docs" / "guide.md").write_bytes(b"G")
    return root


def test_a_folder_on_disk_is_read_as_it_is(root: Path) -> None:
    tree = DiskTree(root)
    assert (tree.read("docs/guide.md"), tree.read("nope.md")) == (b"G", None)
    assert tree.list_names("") == {"AGENTS.md", "docs"}
    assert tree.list_names("docs") == {"guide.md", "deep"}
    assert tree.list_names("nope") == tree.list_names("AGENTS.md") == frozenset()
    folders = ("", "docs", "docs/deep", "nope", "AGENTS.md")
    assert [tree.has_folder(folder) for folder in folders] == [True, True, True, False, False]
    assert tree.get_identity("nope.md") is None
    assert tree.get_identity("AGENTS.md") != tree.get_identity("docs/guide.md")


@posix
def test_one_file_with_two_names_has_one_identity(root: Path) -> None:
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "alias").symlink_to("docs")
    os.link(root / "AGENTS.md", root / "hard.md")
    tree = DiskTree(root)
    assert (
        tree.get_identity("AGENTS.md")
        == tree.get_identity("CLAUDE.md")
        == tree.get_identity("hard.md")
    )
    assert tree.resolve_path("CLAUDE.md") == "AGENTS.md"
    assert tree.resolve_path("hard.md") == "hard.md"
    assert tree.resolve_path("alias/new.md") == "docs/new.md"
    assert tree.list_names("alias") == tree.list_names("docs")


@posix
def test_what_leads_out_is_refused(root: Path) -> None:
    (root / "out.md").symlink_to("../theirs.md")
    tree = DiskTree(root)
    for ask in (tree.read, tree.resolve_path):
        with pytest.raises(CubError, match="leads out of the project"):
            ask("out.md")


def test_a_plan_hides_what_is_on_disk(root: Path) -> None:
    disk = DiskTree(root)
    tree = PlannedTree(disk, {"AGENTS.md": b"B", "docs/guide.md": None, "new/a.md": b"N"})
    assert tree.read("AGENTS.md") == b"B"
    assert tree.read("docs/guide.md") is None
    assert tree.read("new/a.md") == b"N"
    assert tree.list_names("docs") == {"deep"}
    assert tree.list_names("new") == {"a.md"}
    assert tree.has_folder("new")
    assert not tree.has_folder("newer")
    assert tree.get_identity("AGENTS.md") == disk.get_identity("AGENTS.md")
    assert disk.read("AGENTS.md") == b"A"


@posix
def test_a_plan_counts_behind_links_too(root: Path) -> None:
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "alias").symlink_to("docs")
    tree = PlannedTree(DiskTree(root), {"AGENTS.md": b"B", "docs/guide.md": None})
    assert tree.read("CLAUDE.md") == b"B"
    assert tree.read("alias/guide.md") is None
    assert tree.resolve_path("CLAUDE.md") == "AGENTS.md"


_PATHS = st.sampled_from(
    ["AGENTS.md", "docs/guide.md", "docs/new.md", "b.md", "x/y/z.md", "x/y.md"]
)
_FILES = st.dictionaries(_PATHS, st.none() | st.binary(max_size=3), max_size=6)


@hardly_any_examples
@given(before=_FILES, planned=_FILES)
def test_a_plan_reads_like_what_it_leaves(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, bytes | None],
    planned: dict[str, bytes | None],
) -> None:
    root = tmp_path_factory.mktemp("project").resolve()
    disk = DiskTree(root)
    change(root, _plan(disk, before))
    tree = PlannedTree(disk, {p: d for p, d in planned.items() if disk.read(p) != d})
    paths = ["AGENTS.md", "docs/guide.md", "docs/new.md", "b.md", "x/y/z.md", "x/y.md", "nope"]
    read = {path: tree.read(path) for path in paths}
    names = {
        folder: tree.list_names(folder) & {p.rpartition("/")[2] for p in paths}
        for folder in ("", "docs", "x/y")
    }
    change(root, _plan(disk, planned))
    assert read == {path: disk.read(path) for path in paths}
    assert names == {
        folder: disk.list_names(folder) & {p.rpartition("/")[2] for p in paths} for folder in names
    }


def _plan(disk: DiskTree, files: dict[str, bytes | None]) -> Plan:
    edits = (FileEdit(path, disk.read(path), data) for path, data in sorted(files.items()))
    return Plan(tuple(edit for edit in edits if edit.before != edit.after))
