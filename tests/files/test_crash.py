from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.crashing import (
    EVERY_KIND,
    Choose,
    World,
    calm,
    crashes,
    each_kind,
    every_step,
    mend_until_death,
    points,
    worlds,
)
from tests.files.disks import WHOLE
from tests.files.small_fork import run_in_child
from tests.files.worlds import copy_project, mend, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@points
@worlds
@pytest.mark.parametrize("chunk", [WHOLE, 3], ids=["whole writes", "torn writes"])
def test_a_crash_at_any_step_ends_all_old_or_all_new(
    scratch: Path, world: World, chunk: int, choose: Choose
) -> None:
    old, new, _ = calm(scratch / "o", world, chunk)
    ends = []
    for step, root in crashes(scratch, world, choose, chunk):
        mend(root)
        assert whole(root) in (old, new), step
        assert mend(root) == [], step
        ends.append(whole(root) == new)
    assert ends == sorted(ends)
    assert ends[0] is False
    assert ends[-1] is True


# In the thorough tier, two tests share every other step of the recovery between them.
@pytest.mark.parametrize(
    ("choose", "every", "first"),
    [
        (each_kind, 5, 1),
        *(pytest.param(every_step, 5, first, marks=pytest.mark.thorough) for first in (1, 3)),
    ],
)
@worlds
def test_a_crash_during_recovery_is_recovered_from(
    scratch: Path, world: World, choose: Choose, every: int, first: int
) -> None:
    old, new, _ = calm(scratch / "o", world)
    left = [*crashes(scratch, world, choose, chunk=19, every=every)]
    died, again = True, first - 4
    while died:
        died, again = False, again + 4
        for step, project in left:
            root = copy_project(project, scratch / f"{project.name}-{again}")
            died |= run_in_child(mend_until_death, root, again, 19) == 9
            mend(root)
            assert whole(root) in (old, new), (step, again)
    assert again > 10


@pytest.mark.parametrize(
    ("choose", "every"), [(each_kind, 1), pytest.param(every_step, 3, marks=pytest.mark.thorough)]
)
def test_hard_links_are_still_one_file_after_recovery(
    scratch: Path, choose: Choose, every: int
) -> None:
    for step, root in crashes(scratch, EVERY_KIND, choose, chunk=3, every=every):
        mend(root)
        assert (root / "hard.md").samefile(root / "twin.md"), step


@points
def test_recovery_says_what_it_did(scratch: Path, choose: Choose) -> None:
    said = {tuple(mend(root)) for _, root in crashes(scratch, EVERY_KIND, choose)}
    where = ".cub/journal.jsonl"
    assert said == {
        (),  # it died before the journal was there, or after it was gone
        ((where, "undid a change that was interrupted"),),
        ((where, "finished a change that was interrupted"),),
    }
