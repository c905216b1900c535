from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.crashing import EVERY_KIND, GOING, World, calm, crashes
from tests.files.disks import WHOLE, die, in_child, stopping
from tests.files.worlds import mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
worlds = pytest.mark.parametrize("world", [EVERY_KIND, GOING], ids=["every kind", "leaving"])


@worlds
@pytest.mark.parametrize("chunk", [WHOLE, 3], ids=["whole writes", "torn writes"])
def test_a_crash_at_any_step_ends_all_old_or_all_new(
    scratch: Path, world: World, chunk: int
) -> None:
    old, new, _ = calm(scratch / "o", world, chunk)
    ends = []
    for step, root in crashes(scratch, world, chunk):
        mend(root)
        assert whole(root) in (old, new), step
        assert mend(root) == [], step
        ends.append(whole(root) == new)
    assert ends == sorted(ends)
    assert ends[0] is False
    assert ends[-1] is True


@worlds
def test_a_crash_during_recovery_is_recovered_from(scratch: Path, world: World) -> None:
    old, new, _ = calm(scratch / "o", world)
    died, again = True, 0
    while died:
        died, again = False, again + 1
        for step, root in crashes(scratch / str(again), world, chunk=19, every=5):
            disk = stopping({again: die}, chunk=19)
            died |= in_child(lambda: mend(root, disk)) == 9  # noqa: B023 - runs at once
            mend(root)
            assert whole(root) in (old, new), (step, again)
    assert again > 10


def test_hard_links_are_still_one_file_after_recovery(scratch: Path) -> None:
    for step, root in crashes(scratch, EVERY_KIND, chunk=3, every=3):
        mend(root)
        assert (root / "hard.md").samefile(root / "twin.md"), step


def test_recovery_says_what_it_did(scratch: Path) -> None:
    said = {tuple(mend(root)) for _, root in crashes(scratch, EVERY_KIND)}
    where = ".cub/journal.jsonl"
    assert said == {
        (),  # it died before the journal was there, or after it was gone
        ((where, "undid a change that was interrupted"),),
        ((where, "finished a change that was interrupted"),),
    }
