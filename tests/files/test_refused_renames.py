"""A disk that refuses when files are put in place: what was done is taken back."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.journal import warn_pending_change
from tests.files.crashing import EVERY_KIND, World, calm, worlds
from tests.files.disks import die, in_child
from tests.files.worlds import change, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and links")
Refuses = Callable[[str, Path], bool]
PLACING = ("rename", "set aside")


def refusing(
    refuses: Refuses, then: Callable[[int], object] = lambda _: None, code: int = errno.EPERM
) -> Disk:
    """A disk on which some steps are not permitted. `then` is told how many steps followed."""
    after = count(1)
    refused: list[Path] = []

    def before(step: str, path: Path) -> None:
        if refused:
            then(next(after))
        if refuses(step, path):
            refused.append(path)
            raise OSError(code, os.strerror(code), str(path))

    return Disk(before=before)


def dying_at(number: int) -> Callable[[int], object]:
    """Death just before the step of that number behind the refused one."""
    return lambda now: die(Path()) if now == number else None


def once(number: int) -> Refuses:
    """The placing step of that number alone is refused."""
    numbers = count()
    return lambda step, _: step in PLACING and next(numbers) == number


def placing(folder: Path, world: World) -> Iterator[int]:
    """The numbers of the steps by which files come to their places, or go."""
    steps = calm(folder, world).steps
    return iter(range(sum(step.startswith(PLACING) for step in steps)))


@worlds
def test_a_refused_step_leaves_every_file_as_it_was(scratch: Path, world: World) -> None:
    old = calm(scratch / "o", world).old
    for number in placing(scratch / "p", world):
        root = world.make(scratch / str(number))
        inodes = {name: (root / name).lstat().st_ino for name in old}
        with pytest.raises(CubError, match="cannot be written: operation not permitted") as error:
            change(root, world.plan, refusing(once(number)))
        assert error.value.where in {edit.path for edit in world.plan.edits}
        assert error.value.hint.endswith("nothing was changed")
        assert whole(root) == old, number
        assert {name: (root / name).lstat().st_ino for name in old} == inodes


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.thorough)])
@worlds
def test_a_kill_while_it_is_taken_back_ends_all_old(
    scratch: Path, world: World, every: int
) -> None:
    old, new, _ = calm(scratch / "o", world)
    last = [*placing(scratch / "p", world)][-1]
    died, after = True, 1 - every
    while died:
        after += every
        root = world.make(scratch / str(after))
        disk = refusing(once(last), dying_at(after))
        died = in_child(lambda: change(root, world.plan, disk)) == 9  # noqa: B023
        mend(root)
        # Before the commit is taken back, the change can still be finished.
        assert whole(root) in ((old, new) if after < 3 else (old,)), after
        assert mend(root) == []
    assert after > 10


def test_where_taking_back_fails_too_the_error_says_what_is_where(scratch: Path) -> None:
    old = calm(scratch / "o", EVERY_KIND).old
    root = EVERY_KIND.make(scratch / "p")
    tries = count()

    def refuses(step: str, path: Path) -> bool:
        # Deleting fails, and so does putting back what was renamed over before.
        return step == "set aside" or (
            path.name == "plain.md" and step == "rename" and next(tries) > 0
        )

    with pytest.raises(CubError) as error:
        change(root, EVERY_KIND.plan, refusing(refuses))
    assert error.value.where == "gone.md"
    assert "taking back what was done failed at plain.md" in error.value.message
    assert "nothing was changed" not in error.value.hint
    assert "takes the rest back" in error.value.hint
    (told,) = [line for line in error.value.details if line.startswith("plain.md is new; ")]
    kept = told.rpartition(" ")[2]
    assert (root / kept).read_bytes() == old["plain.md"].content
    assert "gone.md is as it was" in error.value.details
    assert warn_pending_change(root)
    mend(root)
    assert whole(root) == old


@worlds
def test_a_killed_change_that_can_not_be_finished_is_undone(scratch: Path, world: World) -> None:
    old, _, steps = calm(scratch / "o", world)
    first = next(n for n, step in enumerate(steps, 1) if step.startswith(PLACING))
    root = world.make(scratch / "p")
    numbers = count(1)
    disk = Disk(before=lambda *_: die(root) if next(numbers) == first + 1 else None)
    assert in_child(lambda: change(root, world.plan, disk)) == 9
    said = mend(root, refusing(once(1)))
    assert [message for _, message in said] == [
        "undid a change that was interrupted: cannot be written: operation not permitted"
    ]
    assert whole(root) == old


def test_what_a_person_wrote_meanwhile_stays_and_so_does_the_old_text(scratch: Path) -> None:
    root = EVERY_KIND.make(scratch / "p")

    def refuses(step: str, _: Path) -> bool:
        if step == "set aside":
            (root / "plain.md").write_bytes(b"theirs\n")
        return step == "set aside"

    with pytest.raises(CubError) as error:
        change(root, EVERY_KIND.plan, refusing(refuses))
    (told,) = error.value.details
    assert told.startswith("plain.md was changed in the meantime, and stays; its old text is in ")
    assert (root / "plain.md").read_bytes() == b"theirs\n"
    assert (root / told.rpartition(" ")[2]).read_bytes() == b"old, and longer than what comes\r\n"
    assert not warn_pending_change(root)


def test_a_refused_cleaning_up_is_told_as_that(scratch: Path) -> None:
    new = calm(scratch / "o", EVERY_KIND).new
    root = EVERY_KIND.make(scratch / "p")
    with pytest.raises(CubError, match="everything is written, but cleaning up failed"):
        change(root, EVERY_KIND.plan, refusing(lambda step, _: step == "unlink"))
    mend(root)
    assert whole(root) == new


def test_what_is_cleaned_up_already_is_not_taken_back(scratch: Path) -> None:
    new = calm(scratch / "o", EVERY_KIND).new
    root = EVERY_KIND.make(scratch / "p")
    unlinks = count()
    last = Disk(
        before=lambda step, _: die(root) if step == "unlink" and next(unlinks) > 7 else None
    )
    assert in_child(lambda: change(root, EVERY_KIND.plan, last)) == 9
    with pytest.raises(CubError, match="interrupted: operation not permitted"):
        mend(root, refusing(lambda step, path: step == "fsync" and path == root))
    mend(root)
    assert whole(root) == new


def test_without_hard_links_a_copy_does_it(scratch: Path) -> None:
    old, new, _ = calm(scratch / "o", EVERY_KIND)
    root = EVERY_KIND.make(scratch / "p")
    change(root, EVERY_KIND.plan, refusing(lambda step, _: step == "link"))
    assert whole(root) == new
    root, third = EVERY_KIND.make(scratch / "q"), once(2)
    disk = refusing(lambda step, path: step == "link" or third(step, path))
    with pytest.raises(CubError):
        change(root, EVERY_KIND.plan, disk)
    assert whole(root) == old


def test_a_mount_point_which_is_busy_is_overwritten_in_place(scratch: Path) -> None:
    new = calm(scratch / "o", EVERY_KIND).new
    root = EVERY_KIND.make(scratch / "p")
    disk = refusing(
        lambda step, path: step == "rename" and path.name == "plain.md", code=errno.EBUSY
    )
    change(root, EVERY_KIND.plan, disk)
    assert whole(root) == new


def test_a_file_that_is_overwritten_after_all_is_taken_back_too(scratch: Path) -> None:
    old = calm(scratch / "o", EVERY_KIND).old
    root = EVERY_KIND.make(scratch / "p")

    def before(step: str, path: Path) -> None:
        if step == "rename" and path.name == "plain.md":
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        if step == "set aside":
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(path))

    with pytest.raises(CubError, match="cannot be written"):
        change(root, EVERY_KIND.plan, Disk(before=before))
    assert whole(root) == old


def test_a_file_with_a_long_name_can_go(scratch: Path) -> None:
    root = scratch.resolve()
    name = "x" * 250 + ".md"
    (root / name).write_bytes(b"old")
    change(root, Plan((FileEdit(name, b"old", b"new"),)))
    change(root, Plan((FileEdit(name, b"new", None),)))
    assert whole(root) == {}
