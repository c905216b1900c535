"""Runners of any language's tasks: their files, scripts by name, and CI."""

from __future__ import annotations

from cub.repomap.stack.readers import makefile, task_runners, version_files

READERS = (
    *makefile.READERS,
    *task_runners.TASK_FILES_READERS,
    *task_runners.READERS,
    *version_files.TOOL_VERSIONS_READERS,
)
