"""Read what a pipe or a file brings on stdin, without waiting for a pipe that nobody writes to."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import BinaryIO, NamedTuple

from cub.cli import output
from cub.context.text_reader import MAX_TEXT_BYTES, decode_text
from cub.edit.plan import PlanWarning
from cub.errors import UsageError
from cub.files.read_files import make_os_error

STDIN = "stdin"
_PATIENCE = 3.0  # seconds until the first byte has to be there
_CHUNK_BYTES = 1 << 16
_MAX_READ_BYTES = 100 * MAX_TEXT_BYTES  # a pipe may never end


class PipedText(NamedTuple):
    """Hold what stdin has brought, and warnings about it."""

    text: str = ""
    warnings: tuple[PlanWarning, ...] = ()


def read_piped_text(patience: float = _PATIENCE) -> PipedText:
    """Return the text of a pipe or a file on stdin; none for anything else.

    A pipe that brings nothing for some seconds is left alone, with a warning: this process may have
    inherited it from a program that keeps it open.
    """
    if not _has_input():
        return PipedText()
    if not _is_ready(patience):
        message = f"stdin is open, but nothing came in {patience:g} seconds; it is not read"
        hint = "add `< /dev/null` to read nothing, or use --exec for a slow command"
        return PipedText(warnings=(PlanWarning(message, STDIN, hint=hint),))
    return _read()


def read_requested_text(option: str) -> PipedText:
    """Return the text that an option takes from stdin. Raises UsageError if there is none."""
    hint = "send the text through a pipe or from a file"
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError(f"{option} reads stdin, but stdin is a terminal", hint=hint)
    piped = wait_for_text()
    if not piped.text.strip():
        raise UsageError(f"{option} reads stdin, but stdin is empty", hint=hint)
    return piped


def wait_for_text() -> PipedText:
    """Return the text of stdin, however long it takes; none of a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return PipedText()
    if not _is_ready(_PATIENCE):
        output.print_message("Waiting for stdin. Press Ctrl-C to stop.")
    return _read()


def _has_input() -> bool:
    """Return whether stdin is a pipe or a file: nothing else ends by itself."""
    if sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):  # it is in memory
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _is_ready(patience: float) -> bool:
    """Return whether stdin can be read, or has ended; wait for that a short time."""
    try:
        return bool(select.select([sys.stdin.fileno()], [], [], patience)[0])
    except (OSError, ValueError):  # it is in memory, or Windows can't tell
        return True


def _read() -> PipedText:
    try:
        data, left_out = _read_both_ends(sys.stdin.buffer)
    except OSError as error:
        raise make_os_error(error, STDIN, "cannot be read") from error
    decoded = decode_text(data)
    problems = [decoded.problem] if decoded.problem else []
    if left_out:
        problems.append(
            f"this text is longer than {MAX_TEXT_BYTES:,} bytes; {left_out} are left out"
        )
    warnings = (PlanWarning(problem, STDIN) for problem in problems)
    return PipedText(decoded.text, tuple(warnings))


def _read_both_ends(stream: BinaryIO) -> tuple[bytes, str]:
    """Return the first and the last bytes of a long stream, and how many bytes are left out."""
    half = MAX_TEXT_BYTES // 2
    first, last, total = stream.read(half) or b"", bytearray(), 0
    while total < _MAX_READ_BYTES and (chunk := stream.read(_CHUNK_BYTES)):
        total += len(chunk)
        last += chunk
        if len(last) > MAX_TEXT_BYTES:
            del last[:-half]
    if total <= half:
        return first + last, ""
    size = f"{total - half:,} bytes in the middle"
    size += " and all that follows" if total >= _MAX_READ_BYTES else ""
    return b"%s\n%s\n%s" % (first, f"… {size} left out …".encode(), last[-half:]), size
