from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from cub.edit.plan import Edit, Plan
from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.crashing import World, calm
from tests.files.disks import refuse
from tests.files.worlds import change, whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and hard links")

OLD, NEW = b"the old bytes, and more of them", b"the new bytes"


def build(root: Path) -> Path:
    root.mkdir(parents=True)
    for name in ("a.md", "b.md"):
        (root / name).write_bytes(OLD)
        os.link(root / name, root / f"twin-of-{name}")
    return root.resolve()


LINKED = World(
    build, Plan((Edit("a.md", OLD, NEW), Edit("b.md", OLD, NEW * 9), Edit("c.md", None, NEW)))
)


def overwriting(folder: Path) -> Iterator[tuple[int, str]]:
    """The steps in which a file is overwritten in place: there the disk may still be full."""
    for number, step in enumerate(calm(folder, LINKED, chunk=7).steps, 1):
        if step.endswith((" a.md", " b.md")):
            yield number, step


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
