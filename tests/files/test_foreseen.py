"""What keeps a file from being written and can be seen: found before anything is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CombinedError, CubError
from cub.files.disk import Disk
from tests.command_line import run_program
from tests.conftest import environment
from tests.files import run_plan
from tests.files.worlds import PLAN, Tree, build, change, whole

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs chattr and mounts")
Flag = Callable[[Path, str], None]
CHANGED = ["plain.md", "hard.md", "real/target.md", "gone.md"]
LINE = [sys.executable, run_plan.__file__]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


@pytest.fixture
def flag() -> Iterator[Flag]:
    """Sets a flag of chattr's, which is taken away again behind the test."""
    chattr, flagged = shutil.which("chattr"), list[tuple[str, Path]]()

    def set_flag(path: Path, letter: str) -> None:
        line = [chattr or "", f"+{letter}", str(path)]
        if not chattr or subprocess.run(line, capture_output=True, check=False).returncode:
            pytest.skip("no such flags here")
        flagged.append((letter, path))

    yield set_flag
    for letter, path in flagged:
        subprocess.run([chattr or "", f"-{letter}", str(path)], check=True)


def refused(root: Path, plan: Plan = PLAN) -> CubError:
    """What a plan is refused with; nothing but looking is done."""
    before, done = whole(root), set[str]()
    with pytest.raises(CubError, match="nothing was written") as error:
        change(root, plan, Disk(before=lambda step, _: done.add(step)))
    assert (done, _without_lock(whole(root))) == ({"try"}, _without_lock(before))
    return error.value


def _without_lock(tree: Tree) -> Tree:
    return {name: entry for name, entry in tree.items() if name not in (".cub", ".cub/lock")}


@pytest.mark.parametrize("letter", ["a", "i"], ids=["append-only", "immutable"])
@pytest.mark.parametrize("name", CHANGED)
def test_a_file_with_a_flag(root: Path, flag: Flag, name: str, letter: str) -> None:
    flag(root / name, letter)
    error = refused(root)
    assert (root / error.where).resolve() == root / name
    assert "operation not permitted" in error.message


@pytest.mark.parametrize("folder", ["real", "new"])
def test_a_folder_that_is_immutable(root: Path, flag: Flag, folder: str) -> None:
    (root / folder).mkdir(exist_ok=True)
    flag(root / folder, "i")
    assert f"make the directory {folder} writable" in refused(root).hint


def test_all_of_them_are_told_at_once(root: Path, flag: Flag) -> None:
    for name in ("plain.md", "gone.md"):
        flag(root / name, "i")
    error = refused(root)
    assert isinstance(error, CombinedError)
    assert [one.where for one in error.errors] == ["plain.md", "gone.md"]


def run(prefix: list[str], root: Path) -> str:
    words = [*prefix, *LINE, str(root)]
    done = run_program(words, cwd=root, environ=environment(root.parent))
    assert done.code == 1, done.err
    return done.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away")
@pytest.mark.parametrize("name", ["plain.md", "gone.md"])
def test_a_file_of_somebody_else_in_a_sticky_folder(
    root: Path, unprivileged: list[str], name: str
) -> None:
    root.chmod(0o1777)
    for path in (root, root / name):
        os.chown(path, 12345, 12345)
    (root / name).chmod(0o666)
    before = whole(root)
    line = [part.replace("-dac_override", "-fowner,-dac_override") for part in unprivileged]
    assert f"{name}: this may not be changed: operation not permitted" in run(line, root)
    assert whole(root) == before


@pytest.mark.parametrize("name", ["plain.md", "real"])
def test_a_mount_that_is_read_only(root: Path, may_mount: list[str], name: str) -> None:
    before = whole(root)
    bind = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    error = run([*may_mount, "sh", "-c", bind, str(root / name)], root)
    assert "read-only file system" in error or "this file is read-only" in error
    assert whole(root) == before


def test_a_look_does_nothing_to_a_folder_that_has_just_come(root: Path) -> None:
    (root / "empty").mkdir()
    Disk().try_replace(root / "empty")
    assert (root / "empty").is_dir()


def test_a_flag_of_another_file_is_no_obstacle(root: Path, flag: Flag) -> None:
    flag(root / "plain.md", "i")
    change(root, Plan((FileEdit("made.md", None, b"new"),)))
    assert (root / "made.md").read_bytes() == b"new"
