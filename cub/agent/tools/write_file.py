"""Write a whole file: the Write tool."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from cub.agent.tools.file_changes import encode_text, open_edited_file, write_edited_file
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FILE_NAMES


class WriteArguments(NamedTuple):
    """Name the file and its new content."""

    file_path: Annotated[str, "The file to write.", *FILE_NAMES]
    content: Annotated[str, "The whole content of the file.", "contents", "file_text", "text"]


def write_file(arguments: WriteArguments, context: ToolContext) -> ToolOutput:
    """Write the content exactly as it is, in the encoding of the file that it replaces.

    Folders that are missing are made.
    """
    file = open_edited_file(arguments.file_path, context)
    content = arguments.content.removeprefix("\ufeff" if file.text.mark else "")
    after = encode_text(content, "content")
    size = len(file.text.encode(after))
    verb = "Created" if file.before is None else "Replaced"
    return write_edited_file(file, after, f"{verb} {file.name}: {size:,} bytes.", context)


WRITE = define_tool(
    "Write",
    "Write a whole file; missing directories are created. Read an existing file before you replace "
    "it, and prefer Edit for a part of one.",
    WriteArguments,
    write_file,
    "edit",
    subject="file_path",
)
