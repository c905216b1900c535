from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cub
from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, InternalError
from cub.files.apply import apply_plan
from cub.files.disk import Disk
from cub.files.lock import LockWaitPolicy, lock_project
from tests.files.disks import steps
from tests.files.hold_lock import holder
from tests.files.worlds import whole

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and links")
PACKAGE = Path(cub.__file__).parent
AT_ONCE = LockWaitPolicy(limit=0)


def test_the_error_says_who_holds_the_lock(root: Path) -> None:
    with holder(root) as process:
        with (
            pytest.raises(CubError, match="another cub is running here") as error,
            lock_project(root, wait=LockWaitPolicy(limit=0.2)),
        ):
            pass
        assert error.value.exit_code == 1
        assert error.value.hint
        (held,) = error.value.details
        assert held.startswith(f"held by process {process.pid} on ")


def test_a_timeout_of_nothing_does_not_wait(root: Path) -> None:
    with holder(root), pytest.raises(CubError), lock_project(root, wait=AT_ONCE):
        pass


def test_a_waiting_writer_goes_on_when_the_lock_is_free(root: Path) -> None:
    with holder(root) as process:
        process.stdin.close()
        with lock_project(root):
            assert (root / ".cub" / "lock").exists()


@posix
def test_the_lock_of_a_killed_process_never_blocks(root: Path) -> None:
    with holder(root) as process:
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert (root / ".cub" / "lock").exists()
        with lock_project(root, wait=AT_ONCE):
            pass
    assert whole(root) == {}


def test_the_lock_is_free_after_an_error(root: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_project(root):
        raise ZeroDivisionError
    with lock_project(root, wait=AT_ONCE):
        pass


def test_a_dot_cub_that_holds_nothing_but_the_lock_goes(root: Path) -> None:
    with lock_project(root):
        assert list(whole(root)) == [".cub", ".cub/lock"]
    assert whole(root) == {}


@pytest.mark.parametrize("name", ["constitution.md", "folder/x"])
def test_a_dot_cub_that_holds_anything_else_stays(root: Path, name: str) -> None:
    file = root / ".cub" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    before = whole(root)
    with lock_project(root):
        pass
    assert whole(root) == before


def test_what_is_made_under_the_lock_stays(root: Path) -> None:
    with lock_project(root):
        (root / ".cub" / "constitution.md").write_bytes(b"x")
    assert list(whole(root)) == [".cub", ".cub/constitution.md"]


def test_a_file_in_the_place_of_dot_cub_is_refused(root: Path) -> None:
    (root / ".cub").write_bytes(b"theirs")
    with (
        pytest.raises(CubError, match="this is a file, but cub needs a directory"),
        lock_project(root),
    ):
        pass
    assert (root / ".cub").read_bytes() == b"theirs"


@posix
def test_a_dot_cub_that_leads_out_of_the_project_is_refused(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / ".cub").symlink_to("../elsewhere")
    with pytest.raises(CubError, match="leads out of the project"), lock_project(root):
        pass
    assert whole(root.parent / "elsewhere") == {}


@posix
@pytest.mark.parametrize("target", ["../../theirs.md", "../inside.md"])
def test_a_lock_that_is_a_link_is_not_written_through(root: Path, target: str) -> None:
    (root / ".cub").mkdir()
    file = root / ".cub" / target
    file.write_bytes(b"theirs")
    (root / ".cub" / "lock").symlink_to(target)
    with pytest.raises(CubError, match="a symbolic link, not a file") as error, lock_project(root):
        pass
    assert (error.value.where, file.read_bytes()) == (".cub/lock", b"theirs")


@posix
@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda path: (path / "x").mkdir(parents=True), "a directory", "rm -r"),
        (os.mkfifo, "a FIFO", "rm"),
        (lambda path: path.symlink_to("nowhere"), "a symbolic link", "rm"),
        (lambda path: path.symlink_to(path.parent), "a symbolic link", "rm"),
    ],
    ids=["folder", "FIFO", "dangling link", "link to a folder"],
)
def test_another_thing_in_the_place_of_the_lock_is_named_with_what_to_do(
    root: Path, make: Callable[[Path], object], kind: str, words: str
) -> None:
    (root / ".cub").mkdir()
    make(root / ".cub/lock")
    with pytest.raises(CubError) as error, lock_project(root):
        pass
    assert str(error.value) == f".cub/lock: this is {kind}, not a file"
    assert error.value.hint == f"delete it: {words} .cub/lock"
    subprocess.run(error.value.hint.removeprefix("delete it: ").split(), cwd=root, check=True)
    with lock_project(root):
        pass


@posix
def test_a_new_dot_cub_is_on_disk_before_anything_in_it_counts(root: Path) -> None:
    taken = steps(lambda disk: held_once(root, disk))
    assert taken[:2] == [("mkdir", root / ".cub"), ("fsync", root)]
    (root / ".cub").mkdir()
    (root / ".cub/theirs").touch()
    assert ("fsync", root) not in steps(lambda disk: held_once(root, disk))


def held_once(root: Path, disk: Disk) -> None:
    with lock_project(root, disk):
        pass


def test_a_lock_that_was_given_back_is_no_leave_to_write(root: Path) -> None:
    with lock_project(root) as held:
        pass
    with pytest.raises(InternalError):
        apply_plan(Plan((FileEdit("a.md", None, b"x"),)), held)
    assert whole(root) == {}


def test_only_the_door_makes_what_writers_have_to_show() -> None:
    made = [path for path in PACKAGE.rglob("*.py") if "ProjectLock(" in path.read_text("utf-8")]
    assert made == [PACKAGE / "files" / "lock.py"]
