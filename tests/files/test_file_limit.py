from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.crashing import EVERY_KIND, GOING, World, calm
from tests.files.disks import in_child
from tests.files.worlds import change, whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")


def limited(root: Path, world: World, limit: int) -> int:
    """Carry out the plan in a process whose files may not grow beyond `limit` bytes."""

    def work() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            change(root, world.plan)
        except CubError:
            os._exit(1)

    return in_child(work)


def journal_size(root: Path, world: World) -> int:
    """How long the journal gets; its temporary names all have one length."""
    sizes: list[int] = []

    def look(step: str, path: Path) -> None:
        if (step, path.name) == ("unlink", "journal.jsonl"):
            sizes.append(path.stat().st_size)

    change(world.make(root), world.plan, Disk(before=look))
    return sizes[0]


# The last bytes of the journal are what matters: there, everything else is written already.
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("world", [EVERY_KIND, GOING], ids=["every kind", "leaving"])
def test_a_file_that_may_not_grow_means_all_old_and_an_error(
    scratch: Path, world: World, every: int
) -> None:
    old, new, _ = calm(scratch, world)
    size = journal_size(scratch / "measured", world)
    codes = []
    for limit in sorted(
        {
            *range(0, size - 30, size * every // 40),
            *range(size - 30, size + 2, every),
            *range(size - 2, size + 2),
        }
    ):
        root = world.make(scratch / str(limit))
        codes.append(limited(root, world, limit))
        assert whole(root) == (old if codes[-1] else new), limit
    assert codes == sorted(codes, reverse=True)
    assert (codes[0], codes[-1]) == (1, 0)
