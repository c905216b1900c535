"""Python: all of its manifests."""

from __future__ import annotations

from cub.repomap.stack.python import configs, files, pyproject, setup

READERS = (
    *pyproject.READERS,
    *setup.READERS,
    *files.READERS,
    *configs.READERS,
)
