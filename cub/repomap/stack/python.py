"""Python: all of its manifests."""

from __future__ import annotations

from cub.repomap.stack import pyproject, python_configs, python_files, python_setup

READERS = (
    *pyproject.READERS,
    *python_setup.READERS,
    *python_files.READERS,
    *python_configs.READERS,
)
