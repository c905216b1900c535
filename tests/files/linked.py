"""A project of hard-linked files: they are overwritten in place, and that can be taken back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cub.edit.plan import FileEdit, Plan
from tests.files.crashing import World, calm

OLD, NEW = b"the old bytes, and more of them", b"the new bytes"


def build(root: Path) -> Path:
    root.mkdir(parents=True)
    for name in ("a.md", "b.md"):
        (root / name).write_bytes(OLD)
        os.link(root / name, root / f"twin-of-{name}")
    return root.resolve()


LINKED = World(
    build,
    Plan((FileEdit("a.md", OLD, NEW), FileEdit("b.md", OLD, NEW * 9), FileEdit("c.md", None, NEW))),
)


def overwriting(folder: Path) -> Iterator[tuple[int, str]]:
    """The steps in which a file is overwritten in place: there the disk may still be full."""
    for number, step in enumerate(calm(folder, LINKED, chunk=29).steps, 1):
        if step.endswith((" a.md", " b.md")) and not step.startswith("try"):
            yield number, step
