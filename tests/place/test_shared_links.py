"""How the person's dependency folders get into a tree that is elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.place.shared_links import link_shared_folders, list_mount_points, make_mount_points


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout and a tree, both with the package of a workspace."""
    top, tree = tmp_path / "top", tmp_path / "tree"
    for folder in (top, tree):
        (folder / "packages/oven").mkdir(parents=True)
        (folder / "packages/oven/index.js").write_text(folder.name)
    for path in ("semver/bin/semver.js", ".pnpm/salt/index.js", "@types/node/index.d.ts"):
        (top / "node_modules" / path).parent.mkdir(parents=True)
        (top / "node_modules" / path).write_text("theirs")
    (top / "node_modules/.bin").mkdir()
    return top, tree


@pytest.mark.parametrize(
    ("name", "text", "file", "content"),
    [
        ("oven", "../packages/oven", "oven/index.js", "tree"),
        ("@bakery/oven", "../../packages/oven", "@bakery/oven/index.js", "tree"),
        ("oven", "{top}/packages/oven", "oven/index.js", "tree"),
        ("bakery", "..", "bakery/packages/oven/index.js", "tree"),
        ("salt", ".pnpm/salt", "salt/index.js", "theirs"),
        (".bin/semver", "../semver/bin/semver.js", ".bin/semver", "theirs"),
        ("other", "{top}/../other", "other", "elsewhere"),
    ],
)
def test_a_link_of_node_modules_leads_to_the_trees_own_package(
    trees: tuple[Path, Path], name: str, text: str, file: str, content: str
) -> None:
    top, tree = trees
    (top.parent / "other").write_text("elsewhere")
    link = top / "node_modules" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(text.format(top=top))
    link_shared_folders(top, tree, ["node_modules"])
    assert (tree / "node_modules" / file).read_text() == content
    assert (tree / "node_modules/@types/node/index.d.ts").read_text() == "theirs"
    assert sorted(path.name for path in (tree / "node_modules").iterdir()) == sorted(
        path.name for path in (top / "node_modules").iterdir()
    )


def test_other_folders_are_one_link(trees: tuple[Path, Path]) -> None:
    top, tree = trees
    (top / "env/lib").mkdir(parents=True)
    link_shared_folders(top, tree, ["env", "nothing", "packages/oven/index.js"])
    link_shared_folders(top, tree, ["env"])
    assert (tree / "env").readlink() == top / "env"
    assert not (tree / "nothing").exists()


def test_nothing_is_linked_past_what_is_in_the_way(trees: tuple[Path, Path]) -> None:
    top, tree = trees
    for path in ("a/env", "b/env", "packages/env"):
        (top / path).mkdir(parents=True)
    (tree / "a").symlink_to(top.parent)
    (tree / "b").write_text("tracked")
    link_shared_folders(top, tree, ["a/env", "b/env", "packages/env"])
    assert not (top.parent / "env").exists()
    assert (tree / "b").read_text() == "tracked"
    assert (tree / "packages/env").is_symlink()


def test_mount_points_are_folders_of_the_tree_itself(trees: tuple[Path, Path]) -> None:
    top, tree = trees
    paths = ["a/env", "b/env", "packages/env", "gone", "packages/oven/index.js"]
    for path in paths[:3]:
        (top / path).mkdir(parents=True)
    (tree / "a").symlink_to(top.parent)
    (tree / "b").write_text("tracked")
    make_mount_points(top, tree, paths)
    make_mount_points(top, tree, paths)
    assert not (top.parent / "env").exists()
    assert list_mount_points(top, tree, paths) == ["packages/env"]
    (tree / "packages/env").rmdir()
    (tree / "packages/env").symlink_to(top)
    assert list_mount_points(top, tree, paths) == []
