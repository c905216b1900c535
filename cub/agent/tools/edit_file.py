"""Replace a string in a file: the Edit tool. Every byte outside of the replacement stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from cub.agent.tools.edit_misses import explain_miss
from cub.agent.tools.file_changes import encode_text, open_edited_file, write_edited_file
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FILE_NAMES, ToolError


class EditArguments(NamedTuple):
    """Name the file, the text in it, and what replaces it."""

    file_path: Annotated[str, "The file to change.", *FILE_NAMES]
    old_string: Annotated[
        str, "The exact text to replace, without line numbers.",
        "old_str", "old_text", "old", "search", "find",
    ]  # fmt: skip
    new_string: Annotated[
        str, "The text that replaces it.", "new_str", "new_text", "new", "replace", "replacement"
    ]
    replace_all: Annotated[bool, "Replace every occurrence instead of the only one."] = False


def edit_file(arguments: EditArguments, context: ToolContext) -> ToolOutput:
    """Replace the only occurrence of a text, or all of them."""
    file = open_edited_file(arguments.file_path, context)
    if file.before is None:
        raise ToolError(f"{file.name} does not exist", hint="use Write to create it")
    old = encode_text(arguments.old_string, "old_string")
    new = encode_text(arguments.new_string, "new_string")
    if not old:
        raise ToolError("old_string is empty", hint="use Write to replace the whole file")
    if arguments.old_string == arguments.new_string:
        raise ToolError("old_string and new_string are the same")
    data, plain = file.text.text, old.replace(b"\r\n", b"\n")
    spans = _find_spans(data, plain) or _find_spans(data, old)
    if not spans:
        hint = explain_miss(data, arguments.old_string)
        raise ToolError(f"old_string is not in {file.name}", hint=hint)
    if len(spans) > 1 and not arguments.replace_all:
        raise ToolError(
            f"old_string is in {file.name} {len(spans)} times",
            hint="add lines around it until only one place has them, or set replace_all",
        )
    times = "" if len(spans) == 1 else f" in {len(spans)} places"
    after = b"".join(_replace_spans(data, spans, new))
    return write_edited_file(file, after, f"Edited {file.name}{times}.", context)


def _find_spans(data: bytes, old: bytes) -> list[tuple[int, int]]:
    """Return where `old`, with LF line ends, is in data whose line ends are LF or CRLF."""
    pattern = rb"\r?\n".join(map(re.escape, old.split(b"\n")))
    whole_end = rb"(?!\n)" if old.endswith(b"\r") else b""  # no CRLF is cut in two
    return [match.span() for match in re.finditer(pattern + whole_end, data)]


def _replace_spans(data: bytes, spans: list[tuple[int, int]], new: bytes) -> Iterator[bytes]:
    """Yield the pieces of the new data; the line ends of a replacement are those around it."""
    crlf = data.count(b"\r\n")
    is_crlf_file = 2 * crlf > data.count(b"\n")
    with_crlf = new.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if crlf else new
    at = 0
    for start, end in spans:
        yield data[at:start]
        has_crlf = data.find(b"\r\n", start, end) >= 0
        has_end = data.find(b"\n", start, end) >= 0
        yield with_crlf if has_crlf or (is_crlf_file and not has_end) else new
        at = end
    yield data[at:]


EDIT = define_tool(
    "Edit",
    "Replace a string in a file that you have read. old_string must be in the file exactly once, "
    "unless replace_all is set.",
    EditArguments,
    edit_file,
    "edit",
    subject="file_path",
)
