"""Change a file for the tools that do: only what the model knows, and never a managed section."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cub.agent.tools.file_text import FileText, decode_file
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.tool_text import join_bounded, make_valid_text, quote_name
from cub.edit.sections import list_section_lines
from cub.edit.unified_diff import format_hunks
from cub.files.single_file import read_single_file, replace_single_file

_MAX_PREVIEW_CHARS = 20_000


class EditedFile(NamedTuple):
    """Hold a file that is to be changed: its real path, its name for messages, and its bytes.

    `before` is None if there is no file. `text` is what they say.
    """

    path: Path
    name: str
    before: bytes | None
    text: FileText


def open_edited_file(file_path: str, context: ToolContext) -> EditedFile:
    """Read the file that a tool is to change.

    Raises ToolError if it is git's own, or one that the model doesn't know as it is now.
    """
    path = context.resolve_path(file_path)
    name = quote_name(context.describe_path(path))
    if ".git" in {part.casefold() for part in path.parts}:
        raise ToolError(f"{name} belongs to git", hint="use Bash to run git commands")
    before = read_single_file(path, name)
    if before is not None and (reason := context.reads.explain_unknown(path, before)):
        raise ToolError(f"{name} was not changed: {reason}")
    return EditedFile(path, name, before, decode_file(before or b""))


def write_edited_file(
    file: EditedFile, text: bytes, summary: str, context: ToolContext
) -> ToolOutput:
    """Replace the text of a file, note that the model knows it, and return what to tell.

    The file keeps its encoding. Raises ToolError, with nothing written, if a managed section would
    be another one; CubError if the file has changed since it was opened, or can't be written.
    """
    _require_same_section(file.text.text, text, file.name)
    after = file.text.encode(text)
    replace_single_file(file.path, file.before, after, file.name)
    context.reads.record_file(file.path, after)
    lines = (make_valid_text(line) for line in format_hunks(file.text.text, text))
    preview = join_bounded(lines, _MAX_PREVIEW_CHARS, "… the rest of the diff is not shown")
    return ToolOutput(summary, changed=(file.path,), preview=preview)


def encode_text(text: str, argument: str) -> bytes:
    """Return a model's text in UTF-8; ToolError if it has half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"{argument} is not valid Unicode: {error.reason}") from error


def _require_same_section(before: bytes, after: bytes, name: str) -> None:
    """Raise ToolError if the lines of a managed section change; if it is damaged, its markers."""
    lines = list_section_lines(before)
    if not lines or lines == list_section_lines(after):
        return
    raise ToolError(
        f"this would change cub's managed section of {name}; nothing was written",
        hint="leave the lines from its BEGIN to its END marker as they are, and write your text "
        "outside of them: `cub update` makes the section from cub's templates",
    )
