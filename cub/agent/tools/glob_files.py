"""Find files by their names: the Glob tool."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Annotated, NamedTuple

from cub.agent.tools.project_files import (
    compile_search_glob,
    list_searched_files,
    name_found_files,
    resolve_search_path,
)
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FOLDER_NAMES, ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, join_bounded, quote_name

_MAX_FILES = 200


class GlobArguments(NamedTuple):
    """Hold a pattern, and the folder that it is relative to."""

    pattern: Annotated[
        str, "Such as `*.md`, `src/**/*.{ts,tsx}` or `**/test_*.py`.",
        "glob", "query", "glob_pattern",
    ]  # fmt: skip
    path: Annotated[str, "The directory to search in.", *FOLDER_NAMES] = "."


def glob_files(arguments: GlobArguments, context: ToolContext) -> ToolOutput:
    """Return the files that match, the newest first. Raises ToolError if there is no folder."""
    folder = resolve_search_path(arguments.path, context)
    if not folder.is_dir():
        raise ToolError(f"{arguments.path} is not a directory")
    is_match = compile_search_glob(arguments.pattern.rstrip("/"), folder)
    name_file = name_found_files(folder, context)
    files = sorted(list_searched_files(folder, context), key=lambda file: -file.mtime_ns)
    paths = [file.path for file in files]
    if arguments.pattern.endswith("/"):
        paths = _list_folders(paths)
    paths = [path for path in paths if is_match(path.rstrip("/"))]
    if not paths:
        return ToolOutput("No file matches.")
    lines = [quote_name(name_file(path)) for path in paths[:_MAX_FILES]]
    if len(paths) > _MAX_FILES:
        lines.append(f"… {len(paths) - _MAX_FILES:,} more files: use a narrower pattern or path")
    return ToolOutput(join_bounded(lines, MAX_RESULT_CHARS, "… cut: use a narrower pattern"))


def _list_folders(paths: Iterable[str]) -> list[str]:
    """Return the directories above files, each with a slash at its end."""
    parents = {parent for path in paths for parent in PurePosixPath(path).parents if parent.name}
    return sorted(f"{parent}/" for parent in parents)


GLOB = define_tool(
    "Glob",
    "Find files by a pattern of their paths, the newest first. Files that git ignores are left "
    "out, unless path is an ignored directory. A pattern such as `*/` finds directories.",
    GlobArguments,
    glob_files,
    "read",
    subject="pattern",
    search="pattern",
)
