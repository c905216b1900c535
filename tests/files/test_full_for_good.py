from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.crashing import calm
from tests.files.disks import refuse
from tests.files.linked import LINKED, build, overwriting
from tests.files.worlds import change, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and hard links")


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
