"""Files that tell what cub wrote from what somebody else put there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.signed_state import (
    KEY_FILE,
    find_project_state,
    find_state_folder,
    read_signed,
    write_signed,
)

TREE = {"ok": True, "text": "a\u2028\ud800"}


@pytest.fixture
def file(home: Path) -> Path:  # noqa: ARG001 - where the state is
    return find_state_folder() / "runs" / "decision.json"


def test_what_was_written_is_read(file: Path) -> None:
    write_signed(file, TREE)
    write_signed(file, {**TREE, "ok": False})
    assert read_signed(file) == {**TREE, "ok": False}
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"true", b"1"),
        lambda data: data.splitlines()[0] + b"\n",
        lambda data: data.replace(b"\n", b"\n\n", 1),
        lambda data: data[:-2],
        lambda data: b"{}\n" + data.splitlines()[1] + b"\n",
        lambda _: b"",
        lambda _: b"[]\n",
    ],
)
def test_what_another_wrote_is_nothing(file: Path, change: object) -> None:
    write_signed(file, TREE)
    assert callable(change)
    file.write_bytes(change(file.read_bytes()))
    assert read_signed(file) == {}


def test_a_signature_holds_in_one_place(file: Path) -> None:
    write_signed(file, TREE)
    other = file.with_name("result.json")
    other.write_bytes(file.read_bytes())
    assert read_signed(other) == {}


def test_without_a_key_nothing_is_believed(file: Path) -> None:
    write_signed(file, TREE)
    (find_state_folder() / KEY_FILE).unlink()
    assert read_signed(file) == {}
    write_signed(file, TREE)
    assert read_signed(file) == TREE


def test_projects_are_told_apart_by_where_they_really_are(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert find_project_state(tmp_path / "one") == find_project_state(tmp_path / "link")
    assert find_project_state(tmp_path / "one") != find_project_state(tmp_path / "two")


def test_a_folder_that_can_not_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(CubError, match="state can't be written") as caught:
        write_signed(find_state_folder() / "x.json", TREE)
    assert "XDG_STATE_HOME" in caught.value.hint
