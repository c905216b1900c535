"""Python: all of its manifests."""

from __future__ import annotations

from cub.repomap.stack.readers import pyproject, python_tools, requirements, setup_files

READERS = (
    *pyproject.READERS,
    *setup_files.READERS,
    *requirements.READERS,
    *python_tools.READERS,
)
