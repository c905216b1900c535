from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.errors import CubError
from tests.files.crashing import EVERY_KIND, Choose, World, calm, each_kind, points, worlds
from tests.files.disks import WHOLE, interrupt, refuse, stopping
from tests.files.worlds import change, mend, whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links")


def stopped_at(number: int, root: Path, world: World, stop: Callable[[Path], None]) -> str:
    """Stop at a step; the name of what came out of it."""
    try:
        change(root, world.plan, stopping({number: stop}, chunk=9))
    except (CubError, KeyboardInterrupt) as error:
        return "CubError" if isinstance(error, CubError) else "KeyboardInterrupt"
    return ""


@points
@worlds
@pytest.mark.parametrize(("stop", "name"), [(refuse, "CubError"), (interrupt, "KeyboardInterrupt")])
def test_an_error_at_any_step_ends_all_old_or_all_new(
    scratch: Path, world: World, stop: Callable[[Path], None], name: str, choose: Choose
) -> None:
    old, new, names = calm(scratch, world, chunk=9)
    ends = []
    # An error may come at each piece of a file, where a death is tried at some of them.
    numbers = choose(names) if choose is each_kind else range(1, len(names) + 1)
    for number in numbers:
        step = names[number - 1]
        if step.startswith("link") and stop is refuse:
            continue  # a copy does it, too
        root = world.make(scratch / str(number))
        assert stopped_at(number, root, world, stop) == name, step
        mend(root)
        assert whole(root) in (old, new), step
        ends.append(whole(root) == new)
    assert ends == sorted(ends)


@worlds
def test_a_full_disk_changes_nothing_and_leaves_nothing(scratch: Path, world: World) -> None:
    old, _, names = calm(scratch, world, chunk=WHOLE)
    # Space can run out only where something is written: afterwards names alone change.
    writes = [n for n, name in enumerate(names, 1) if name.startswith(("create", "write", "mkdir"))]
    for number in writes:
        root = world.make(scratch / str(number))
        with pytest.raises(CubError, match="no space left on device") as error:
            change(root, world.plan, stopping({number: refuse}))
        assert error.value.hint == "free some disk space; nothing was changed"
        assert whole(root) == old, names[number - 1]


@worlds
def test_an_interrupt_before_the_commit_leaves_no_trace(scratch: Path, world: World) -> None:
    old, _, names = calm(scratch, world)
    commit = [n for n, name in enumerate(names, 1) if name == "write .cub/journal.jsonl"][1]
    for number in range(1, commit + 1):
        root = world.make(scratch / str(number))
        with pytest.raises(KeyboardInterrupt):
            change(root, world.plan, stopping({number: interrupt}))
        assert whole(root) == old, names[number - 1]


def test_the_error_names_the_file_and_no_temporary_one(scratch: Path) -> None:
    names = calm(scratch, EVERY_KIND).steps
    told = set()
    for number, step in enumerate(names, 1):
        if step.startswith("create") and "journal" not in step:
            root = EVERY_KIND.make(scratch / str(number))
            with pytest.raises(CubError) as error:
                change(root, EVERY_KIND.plan, stopping({number: refuse}))
            told.add(error.value.where)
    assert told == {edit.path for edit in EVERY_KIND.plan.edits if edit.after is not None}
