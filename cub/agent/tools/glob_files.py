"""Find files by their names: the Glob tool."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from cub.agent.tools.project_files import (
    compile_search_glob,
    list_searched_files,
    name_found_files,
    resolve_search_path,
)
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FOLDER_NAMES, ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, join_bounded, make_valid_text

_MAX_FILES = 200


class GlobArguments(NamedTuple):
    """Hold a pattern, and the folder that it is relative to."""

    pattern: Annotated[
        str, "Such as `*.md`, `src/**/*.{ts,tsx}` or `**/test_*.py`.", "glob", "query"
    ]
    path: Annotated[str, "The directory to search in.", *FOLDER_NAMES] = "."


def glob_files(arguments: GlobArguments, context: ToolContext) -> ToolOutput:
    """Return the files that match, the newest first. Raises ToolError if there is no folder."""
    folder = resolve_search_path(arguments.path, context)
    if not folder.is_dir():
        raise ToolError(f"{arguments.path} is not a directory")
    is_match, name_file = compile_search_glob(arguments.pattern), name_found_files(folder, context)
    files = [file for file in list_searched_files(folder, context) if is_match(file.path)]
    files.sort(key=lambda file: -file.mtime_ns)
    if not files:
        return ToolOutput("No file matches.")
    lines = [make_valid_text(name_file(file.path)) for file in files[:_MAX_FILES]]
    if len(files) > _MAX_FILES:
        lines.append(f"… {len(files) - _MAX_FILES:,} more files: use a narrower pattern or path")
    return ToolOutput(join_bounded(lines, MAX_RESULT_CHARS, "… cut: use a narrower pattern"))


GLOB = define_tool(
    "Glob",
    "Find files by a pattern of their paths, the newest first. Files that git ignores are left "
    "out, unless path is an ignored directory.",
    GlobArguments,
    glob_files,
    "read",
    subject="pattern",
    search="pattern",
)
