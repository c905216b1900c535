"""Mark cub's own styles in text, make everything else harmless, and set up the streams.

A mark is a style with a random number for each process, so a title, a file name or an error of
git's can be part of a styled line: what is not a mark of this process is written out by
`escape_unsafe`, and only marks become escape sequences, by `render_styles`.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import unicodedata
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Literal, TextIO

TextStyle = Literal["bold", "dim", "red", "green", "yellow", "cyan"]

_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_RESET = 0
_START = f"\x1b{os.urandom(16).hex()}"
_MARK = re.compile(rf"{_START}(\[\d+m)")


def add_style(text: str, *styles: TextStyle | None) -> str:
    """Return a text between marks; unchanged if no style is given."""
    marks = "".join(_make_mark(_CODES[style]) for style in styles if style)
    return f"{marks}{text}{_make_mark(_RESET)}" if marks else text


def escape_unsafe(text: str) -> str:
    """Return one line with everything but its marks made visible."""
    return _rewrite_marks(text, lambda code: f"{_START}{code}")


def render_styles(text: str, *, use_color: bool) -> str:
    """Return one line for a terminal: harmless, with its marks as colors or without them."""
    return _rewrite_marks(text, lambda code: f"\x1b{code}" if use_color else "")


def strip_styles(text: str) -> str:
    """Return a text without its marks."""
    return _MARK.sub("", text) if _START in text else text


def _rewrite_marks(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a line with the code of each mark rewritten, and all else made visible."""
    if _START not in text:
        return escape_invisible(text)
    parts = enumerate(_MARK.split(text))
    return "".join(rewrite(part) if n % 2 else escape_invisible(part) for n, part in parts)


def _make_mark(code: int) -> str:
    return f"{_START}[{code}m"


_SAMPLE = "".join(map(chr, range(32, 127))) + "\n"
_FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE")
_DEFAULT_WIDTH = 80  # columns


def configure_streams() -> None:
    """Set up the streams so that no file name or text in any encoding ends a command."""
    _open_standard_files()
    codecs.register_error("exact", _handle_encode_error)
    if sys.stdout is None or sys.stderr is None:  # closed by the one who started cub
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            configure_encoding(stream)


def _open_standard_files() -> None:
    """Open the null device as each standard file that is closed: another file would get its number,
    and what a command is given as stdin would take the place of that.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def configure_encoding(stream: TextIOWrapper) -> None:
    """Ensure that any text can be printed: in UTF-8 unless the encoding extends ASCII."""
    try:
        extends_ascii = _SAMPLE.encode(stream.encoding) == _SAMPLE.encode("ascii")
    except UnicodeError:  # "undefined" is the name of an encoding, too
        extends_ascii = False
    encoding = stream.encoding if extends_ascii else "utf-8"
    # A text that is piped on must not get other line ends on the way, as on Windows.
    stream.reconfigure(encoding=encoding, errors="exact", newline="\n")


def _handle_encode_error(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write invalid bytes as they were read; escape what can't be shown."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def choose_marks(stream: TextIO, marks: str, plain: str) -> str:
    """Return the marks if a stream's encoding has them all, or else the plain ones."""
    try:
        marks.encode(stream.encoding)
    except UnicodeError:
        return plain
    return marks


def discard_unwritten_output() -> None:
    """Discard what nobody can read any more: the interpreter's last flush would complain of it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def supports_live_view(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal on which a view can move."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def supports_color(stream: IO[str]) -> bool:
    """Return whether a stream takes colors: on a terminal, or if forced; not if switched off.

    NO_COLOR decides before the others (no-color.org); an empty one counts as unset.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCED):
        return True
    return supports_live_view(stream)


def get_help_width() -> int:
    """Return the columns for a page of help; in a pipe, those of COLUMNS."""
    columns = os.environ.get("COLUMNS", "")
    return get_width(sys.stdout) or (int(columns) if columns.isdecimal() else 0) or _DEFAULT_WIDTH


def get_width(stream: IO[str]) -> int | None:
    """Return the columns of a stream's terminal; None for a file or a pipe."""
    if not stream.isatty():
        return None
    variable = os.environ.get("COLUMNS", "")
    try:
        columns = (
            int(variable) if variable.isdecimal() else os.get_terminal_size(stream.fileno()).columns
        )
    except OSError:  # a terminal that does not know
        columns = 0
    return columns or _DEFAULT_WIDTH


# Printable by their category, and yet nothing to see: fillers, joiners, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
_EMOJI = "\ufe0f\u200d"  # after a symbol, they only ask for color, or join it with the next one
_JOINERS = re.compile("[\u0600-\u0dff][\u200c\u200d]")  # they are spelling in these scripts


def escape_invisible(line: str) -> str:
    """Write out everything that a reader can't see: controls, bidi marks, tags."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        c if _is_seen(c, before) else c.encode("unicode_escape").decode("ascii")
        for c, before in zip(line, f" {line}", strict=False)
    )


def _is_seen(character: str, before: str) -> bool:
    if character in _EMOJI and (unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f"):
        return True
    if _JOINERS.match(before + character):
        return True
    return character == "\t" or (character.isprintable() and not _UNSEEN.match(character))
