from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.crashing import calm
from tests.files.disks import die, in_child, refuse, stopping
from tests.files.linked import LINKED, build, overwriting
from tests.files.worlds import change, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and hard links")


def test_a_disk_that_fills_up_while_overwriting_changes_nothing(scratch: Path) -> None:
    old = calm(scratch / "o", LINKED).old
    for number, step in overwriting(scratch):
        root = build(scratch / str(number))
        with pytest.raises(CubError, match="cannot be written: no space left on device"):
            change(root, LINKED.plan, stopping({number: refuse}, chunk=29))
        assert whole(root) == old, step


def test_a_disk_that_stays_full_is_no_obstacle_to_taking_back(scratch: Path) -> None:
    old = calm(scratch / "o", LINKED).old
    for number, step in overwriting(scratch):
        root = build(scratch / str(number))
        taken = count(1)

        def full(name: str, path: Path, start: int = number, steps: count[int] = taken) -> None:
            now = next(steps)
            grows = name == "create" or (name == "write" and path.name == "journal.jsonl")
            if now == start or (now > start and grows):
                refuse(path)

        with pytest.raises(CubError, match="cannot be written: no space left on device"):
            change(root, LINKED.plan, Disk(before=full, chunk=7))
        assert whole(root) == old, step


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_crash_while_overwriting_is_taken_back_ends_all_old_or_all_new(
    scratch: Path, every: int
) -> None:
    old, new, _ = calm(scratch / "o", LINKED)
    for number, step in [*overwriting(scratch)][::every]:
        died, after = True, 1 - every
        while died:
            after += every
            root = build(scratch / f"{number}-{after}")
            disk = stopping({number: refuse, number + after: die}, chunk=29)
            died = in_child(lambda: change(root, LINKED.plan, disk)) == 9  # noqa: B023
            mend(root)
            assert whole(root) in (old, new), (step, after)
        assert after > 5


def test_what_a_person_writes_meanwhile_is_not_taken_back(scratch: Path) -> None:
    root = build(scratch / "project")
    commits, refusals = iter([False, True]), iter([True])

    def disturb(step: str, path: Path) -> None:
        if step == "fsync" and path.name == "journal.jsonl" and next(commits, False):
            (root / "a.md").write_bytes(b"theirs\n")
        if step == "truncate" and path.name == "b.md" and next(refusals, False):
            refuse(path)

    with suppress(CubError):
        change(root, LINKED.plan, Disk(before=disturb))
    assert (root / "twin-of-a.md").read_bytes() == b"theirs\n"


OLD, NEW = b"old\n", b"new\n"
TWO = Plan((FileEdit("a.md", OLD, NEW), FileEdit("b.md", OLD, NEW)))


def change_until_refused(root: Path, disturb: Callable[[], object]) -> CubError:
    """Have the second of two files refused, and something else done just before; the error."""
    root.mkdir()
    for name in ("a.md", "b.md"):
        (root / name).write_bytes(OLD)

    def before(step: str, path: Path) -> None:
        if step == "rename" and path.name == "b.md":
            disturb()
            refuse(path)

    with pytest.raises(CubError) as error:
        change(root.resolve(), TWO, Disk(before=before))
    return error.value


def test_the_old_text_of_a_file_that_somebody_changed_is_in_a_file_that_is_named(
    scratch: Path,
) -> None:
    root = scratch / "project"
    error = change_until_refused(root, lambda: (root / "a.md").write_bytes(b"theirs\n"))
    (old,) = root.glob(".a.md.*")
    assert old.read_bytes() == OLD
    (said,) = error.details
    assert said == f"a.md was changed in the meantime, and stays; its old text is in {old.name}"
    assert (root / "a.md").read_bytes() == b"theirs\n"
    assert (root / "b.md").read_bytes() == OLD


def test_what_is_no_old_text_any_more_is_not_put_back(scratch: Path) -> None:
    root = scratch / "project"

    def spoil() -> None:
        (old,) = root.glob(".a.md.*")
        old.write_bytes(b"theirs\n")

    error = change_until_refused(root, spoil)
    assert error.message.startswith("interrupted:")
    mend(root.resolve())
    assert [(root / name).read_bytes() for name in ("a.md", "b.md")] == [NEW, NEW]
