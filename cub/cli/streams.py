"""What stdout and stderr are: their encoding, and the width and the colors that they take."""

from __future__ import annotations

import codecs
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import IO

_SAMPLE = "".join(map(chr, range(32, 127))) + "\n"
_FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE")
_USUAL = 80  # columns


def prepare() -> None:
    """File names and user text of any encoding must never end a command."""
    codecs.register_error("exact", _exact)
    if sys.stdout is None or sys.stderr is None:  # closed by the one who started cub
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            make_fit_for_any_text(stream)


def make_fit_for_any_text(stream: TextIOWrapper) -> None:
    """See to it that any text can be printed: in the stream's encoding, or else in UTF-8."""
    encoding = stream.encoding
    try:
        plain = _SAMPLE.encode(encoding)
        begins = plain.startswith(_SAMPLE[0].encode(encoding))
        fits = begins and plain.decode(encoding) == _SAMPLE
    except UnicodeError:  # "idna", "punycode" and "undefined" are names of encodings, too
        plain, fits = b"", False
    # A byte that is no text stands for itself only where a character of ASCII is one byte, too.
    errors = "exact" if plain == _SAMPLE.encode("ascii") or not fits else "backslashreplace"
    # A text that is piped on must not get other line ends on the way, as on Windows.
    stream.reconfigure(encoding=encoding if fits else "utf-8", errors=errors, newline="\n")


def _exact(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes that are no text come out as they were read; what can't be shown is escaped."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def flush() -> None:
    """Bring out what is buffered, while errors can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()


def abandon() -> None:
    """The reader of stdout is gone: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def can_move(stream: IO[str]) -> bool:
    """Whether a stream is a terminal on which a view can move."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def takes_colors(stream: IO[str]) -> bool:
    """Colors on a terminal, or where they are forced; none where the person or it wants none.

    NO_COLOR decides before the others (no-color.org); an empty one is none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCED):
        return True
    return can_move(stream)


def help_width() -> int:
    """The columns for a page of help; in a pipe, those that COLUMNS asks for."""
    said = os.environ.get("COLUMNS", "")
    return width_of(sys.stdout) or (int(said) if said.isdecimal() else 0) or _USUAL


def width_of(stream: IO[str]) -> int | None:
    """The columns of the terminal that a stream goes to; None for a file or a pipe."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    try:
        columns = int(said) if said.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except OSError:  # a terminal that does not know
        columns = 0
    return columns or _USUAL
