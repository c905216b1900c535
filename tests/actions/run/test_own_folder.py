"""`.cub` put back as it was, where something of another kind stands in its place."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from cub.actions.run.own_folder import Restored, record_modes, restore_modes


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / ".cub"
    folder.mkdir(mode=0o755)
    (folder / "map.md").write_text("map")
    (folder / "map.md").chmod(0o640)
    (folder / "half.tmp").touch()
    return tmp_path


def _rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_as_it_was_is_left_alone(root: Path) -> None:
    before = record_modes(root)
    assert [*before] == [".cub", ".cub/map.md"]
    assert restore_modes(root, before) == Restored([], [])


def test_rights_are_given_back(root: Path) -> None:
    before = record_modes(root)
    (root / ".cub/map.md").chmod(0o666)
    (root / ".cub").chmod(0o777)
    assert restore_modes(root, before) == Restored([], [".cub", ".cub/map.md"])
    assert (_rights(root / ".cub"), _rights(root / ".cub/map.md")) == (0o755, 0o640)


def test_a_link_in_the_place_of_the_folder_goes_and_nothing_that_it_leads_to(root: Path) -> None:
    before, elsewhere = record_modes(root), root / "elsewhere"
    (root / ".cub").rename(elsewhere)
    (root / ".cub").symlink_to(elsewhere)
    assert restore_modes(root, before).replaced == [".cub was replaced by a link"]
    assert [*(root / ".cub").iterdir()] == []
    assert not (root / ".cub").is_symlink()
    assert (elsewhere / "map.md").read_text() == "map"
    assert sorted(path.name for path in root.iterdir()) == [".cub", "elsewhere"]


def test_a_file_in_the_place_of_the_folder_gets_another_name(root: Path) -> None:
    before = record_modes(root)
    shutil.rmtree(root / ".cub")
    (root / ".cub").write_text("mine")
    assert restore_modes(root, before).replaced == [".cub was replaced by a file"]
    aside = next(root.glob(".cub.replaced-*"))
    assert aside.read_text() == "mine"
    assert (root / ".cub").is_dir()
