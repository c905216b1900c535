"""Runners of any language's tasks: their files, scripts by name, and CI."""

from __future__ import annotations

from cub.repomap.stack.runners import makefile, script_files, task_files, tool_versions

READERS = (
    *makefile.READERS,
    *task_files.READERS,
    *script_files.READERS,
    *tool_versions.READERS,
)
