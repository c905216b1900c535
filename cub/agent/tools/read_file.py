"""Show a file with line numbers, or an image: the Read tool."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

from cub.agent.conversation import ImageBlock
from cub.agent.tools.file_text import FileText, decode_file
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FILE_NAMES, UNLISTED, ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, cut_line, join_bounded, quote_name
from cub.files.read_files import describe_file_type, open_regular_file
from cub.text import join_first, suggest_similar

_DEFAULT_LIMIT = 2_000
_MAX_FILE_BYTES = 64 << 20
# Spaces, hyphens, marks and directions that a model takes for a space, or overlooks.
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u202a-\u202f\u205f\u2060\u2066-\u2069\ufeff]"
)
MAX_IMAGE_BYTES = 3_750_000  # services take 5 MB in base64


class ReadArguments(NamedTuple):
    """Name the file, and the lines of it."""

    file_path: Annotated[str, "The file to read.", *FILE_NAMES]
    offset: Annotated[int, "The first line to show, counted from 1.", "start_line", "start"] = 1
    limit: Annotated[int, "How many lines to show at most.", "max_lines"] = _DEFAULT_LIMIT
    end_line: Annotated[int, UNLISTED, "end"] = 0


def read_text_or_image(arguments: ReadArguments, context: ToolContext) -> ToolOutput:
    """Return lines of a text file, each with its number, or an image, and note the file as known.

    Raises ToolError for what is neither, or has more than 64 MiB.
    """
    if arguments.offset < 0 or arguments.limit < 1:
        raise ToolError("offset and limit are at least 1")
    if arguments.end_line and arguments.end_line < arguments.offset:
        raise ToolError("end_line is before start_line")
    path = context.resolve_path(arguments.file_path)
    name = quote_name(context.describe_path(path))
    data = _read_bytes(path, name)
    media_type, text = detect_image(data), decode_file(data)
    if media_type:
        output = _show_image(data, media_type, name)
    elif text.is_binary:
        raise ToolError(f"{name} is a binary file", hint="use Bash with a program that reads it")
    else:
        output = ToolOutput(_show_lines(text, arguments, name))
    context.reads.record_file(path, data)
    return output


def _read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a regular file; nothing else is opened to read."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ToolError(f"{name} does not exist", hint=_suggest_name(path)) from None
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(
            f"{name} is a directory", hint=f"use Glob with the pattern * and the path {name}"
        )
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{name} is {describe_file_type(status.st_mode)}, not a regular file")
    with os.fdopen(open_regular_file(os.fsencode(path)), "rb") as file:
        data = file.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        raise ToolError(
            f"{name} has {status.st_size:,} bytes, more than the {_MAX_FILE_BYTES:,} that are read",
            hint="use Bash to see a part of it, such as with `sed -n`",
        )
    return data


def _suggest_name(path: Path) -> str:
    """Return a hint with a name in the folder that is similar; "" if there is none."""
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names, and not paths
    except OSError:
        return ""
    similar = suggest_similar(path.name, names)
    return f"did you mean {quote_name(similar)}?" if similar else ""


def detect_image(data: bytes) -> str:
    """Return the media type of an image that models see; "" for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _show_image(data: bytes, media_type: str, name: str) -> ToolOutput:
    if len(data) > MAX_IMAGE_BYTES:
        raise ToolError(
            f"the image {name} has {len(data):,} bytes, more than the {MAX_IMAGE_BYTES:,} that "
            "models take",
            hint="make it smaller, and read the copy",
        )
    text = f"{name}: {media_type}, {len(data):,} bytes"
    return ToolOutput(text, images=(ImageBlock(media_type, b64encode(data).decode()),))


def _show_lines(file_text: FileText, arguments: ReadArguments, name: str) -> str:
    """Return the lines with their numbers, after notes on what the text does not show."""
    data = file_text.text
    if not data:
        return f"{name} is empty."
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    first = arguments.offset or 1  # some models count from 0 where they want the beginning
    last = min(first + arguments.limit - 1, arguments.end_line or count, count)
    if first > count:
        raise ToolError(f"{name} has {count:,} lines: there is no line {first:,}")
    cut = f"… cut at {MAX_RESULT_CHARS:,} characters: read on with offset and limit"
    text = join_bounded(_number_lines(data, first, last), MAX_RESULT_CHARS, cut)
    more = f"… {count - last:,} more lines: read on with offset {last + 1}"
    rest = [more] if last < count and not text.endswith(cut) else []
    return "\n".join([*_list_notes(file_text, count), *_list_unseen(text), text, *rest])


def _number_lines(data: bytes, first: int, last: int) -> Iterator[str]:
    """Yield lines without splitting all of a large file."""
    for number, line in enumerate(islice(BytesIO(data), first - 1, last), first):
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
        yield f"{number}\t{cut_line(text)}"


def _list_notes(file_text: FileText, count: int) -> Iterator[str]:
    data, codec = file_text.text, file_text.codec
    crlf = data.count(b"\r\n")
    if codec:
        yield f"(This file is {codec}.)"
    if crlf:
        part = "" if crlf >= count - 1 else f" in {crlf:,} of {count:,} lines"
        yield f"(This file has CRLF line ends{part}.)"
    try:
        data.decode()
    except UnicodeDecodeError:
        is_not = f"not valid {codec}" if codec else "not UTF-8"
        yield f"(This file is {is_not}: � marks bytes that can't be shown.)"


def _list_unseen(text: str) -> Iterator[str]:
    """Yield a note on characters that look like a space or like nothing, with their first lines."""
    for character in sorted(set(_UNSEEN.findall(text))):
        shown = (line.partition("\t") for line in text.split("\n"))
        numbers = [number for number, _, line in shown if character in line]
        name = f"U+{ord(character):04X} {unicodedata.name(character)}"
        yield f"({name} is in line{'s' * (len(numbers) > 1)} {join_first(numbers)}.)"


READ = define_tool(
    "Read",
    "Read a text file, or see an image (PNG, JPEG, GIF or WebP). Each line has its number and a "
    f"tab before it. Up to {_DEFAULT_LIMIT:,} lines are shown: use offset and limit for others.",
    ReadArguments,
    read_text_or_image,
    "read",
    subject="file_path",
)
