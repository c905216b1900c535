from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files import exclusive
from tests.files.hold_lock import holder
from tests.files.worlds import whole

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder.resolve()


def test_the_error_says_who_holds_the_lock(root: Path) -> None:
    with holder(root) as process:
        with (
            pytest.raises(CubError, match="another cub is at work here") as error,
            exclusive(root, 0.2),
        ):
            pass
        assert error.value.exit_code == 1
        assert error.value.hint
        (held,) = error.value.details
        assert held.startswith(f"held by process {process.pid} on ")


def test_a_timeout_of_nothing_does_not_wait(root: Path) -> None:
    with holder(root), pytest.raises(CubError), exclusive(root, timeout=0):
        pass


def test_a_waiting_writer_goes_on_when_the_lock_is_free(root: Path) -> None:
    with holder(root) as process:
        assert process.stdin is not None
        process.stdin.close()
        with exclusive(root, timeout=30):
            assert (root / ".cub" / "lock").exists()


@posix
def test_the_lock_of_a_killed_process_never_blocks(root: Path) -> None:
    with holder(root) as process:
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert (root / ".cub" / "lock").exists()
        with exclusive(root, timeout=0):
            pass
    assert whole(root) == {}


def test_the_lock_is_free_after_an_error(root: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(root):
        raise ZeroDivisionError
    with exclusive(root, timeout=0):
        pass


def test_a_dot_cub_that_holds_nothing_but_the_lock_goes(root: Path) -> None:
    with exclusive(root):
        assert list(whole(root)) == [".cub", ".cub/lock"]
    assert whole(root) == {}


@pytest.mark.parametrize("name", ["constitution.md", "folder/x"])
def test_a_dot_cub_that_holds_anything_else_stays(root: Path, name: str) -> None:
    file = root / ".cub" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    before = whole(root)
    with exclusive(root):
        pass
    assert whole(root) == before


def test_what_is_made_under_the_lock_stays(root: Path) -> None:
    with exclusive(root):
        (root / ".cub" / "constitution.md").write_bytes(b"x")
    assert list(whole(root)) == [".cub", ".cub/constitution.md"]


def test_a_file_in_the_place_of_dot_cub_is_refused(root: Path) -> None:
    (root / ".cub").write_bytes(b"theirs")
    with pytest.raises(CubError, match="this is a file, where cub needs a folder"), exclusive(root):
        pass
    assert (root / ".cub").read_bytes() == b"theirs"


@posix
def test_a_dot_cub_that_leads_out_of_the_project_is_refused(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / ".cub").symlink_to("../elsewhere")
    with pytest.raises(CubError, match="leads out of the project"), exclusive(root):
        pass
    assert whole(root.parent / "elsewhere") == {}


@posix
@pytest.mark.parametrize("target", ["../../theirs.md", "../inside.md"])
def test_a_lock_that_is_a_link_is_not_written_through(root: Path, target: str) -> None:
    (root / ".cub").mkdir()
    file = root / ".cub" / target
    file.write_bytes(b"theirs")
    (root / ".cub" / "lock").symlink_to(target)
    with pytest.raises(CubError), exclusive(root):
        pass
    assert file.read_bytes() == b"theirs"
