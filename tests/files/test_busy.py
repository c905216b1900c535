"""A file that is a mount point can't be renamed over: the system says that it is busy."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from cub.files.disk import Disk
from tests.files.crashing import EVERY_KIND, calm
from tests.files.worlds import build, change, whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links")


def test_a_mount_point_is_overwritten_in_place(scratch: Path) -> None:
    def mounted(step: str, path: Path) -> None:
        if step == "rename" and path.name == "plain.md":
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))

    new = calm(scratch, EVERY_KIND).new
    root = build(scratch / "project")
    change(root, disk=Disk(before=mounted))
    assert whole(root) == new
