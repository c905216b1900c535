"""cub's own colors in a text, as marks that nobody else's text can hold; all else is made harmless.

A mark is a style of a terminal behind a number that is drawn anew for each process. So a title,
a file name or an error of git's may be put into a styled line as it is: what of it is no mark of
this process is written out by `escape_unsafe`, and only marks become escape sequences, by
`render_styles`.

What stdout and stderr are: their encoding, and the width and the colors that they take.

Somebody else's text made fit to be shown: nothing in it stays unseen or moves a terminal.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Literal

Color = Literal["red", "green", "yellow", "cyan"]

_CODES = {"red": 31, "green": 32, "yellow": 33, "cyan": 36}
_BOLD, _DIM, _RESET = 1, 2, 0
_START = f"\x1b{os.urandom(16).hex()}"
_MARK = re.compile(rf"{_START}(\[\d+m)")


def add_style(
    text: str, fg: Color | None = None, *, bold: bool | None = None, dim: bool | None = None
) -> str:
    """A text between marks; as it is where no style is asked for."""
    wanted = (_CODES[fg] if fg else None, _BOLD if bold else None, _DIM if dim else None)
    marks = "".join(_mark(code) for code in wanted if code is not None)
    return f"{marks}{text}{_mark(_RESET)}" if marks else text


def escape_unsafe(text: str) -> str:
    """One line as a person may see it: everything but its marks is made visible."""
    if _START not in text:
        return escape_invisible(text)
    return "".join(
        _START + part if is_code else escape_invisible(part) for part, is_code in _parts(text)
    )


def render_styles(text: str, *, use_color: bool) -> str:
    """One line for a terminal: harmless, its marks as colors, or without them."""
    if _START not in text:
        return escape_invisible(text)
    return "".join(
        ("\x1b" + part) * use_color if is_code else escape_invisible(part)
        for part, is_code in _parts(text)
    )


def strip_styles(text: str) -> str:
    """A text without its marks."""
    return _MARK.sub("", text) if _START in text else text


def _parts(text: str) -> Iterable[tuple[str, bool]]:
    """The parts of a text, and of each whether it is the code of a mark."""
    return ((part, number % 2 == 1) for number, part in enumerate(_MARK.split(text)))


def _mark(code: int) -> str:
    return f"{_START}[{code}m"


_SAMPLE = "".join(map(chr, range(32, 127))) + "\n"
_FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE")
_USUAL = 80  # columns


def configure_streams() -> None:
    """File names and user text of any encoding must never end a command."""
    codecs.register_error("exact", _exact)
    if sys.stdout is None or sys.stderr is None:  # closed by the one who started cub
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            configure_encoding(stream)


def configure_encoding(stream: TextIOWrapper) -> None:
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


def flush_streams() -> None:
    """Bring out what is buffered, while errors can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()


def discard_stdout() -> None:
    """The reader of stdout is gone: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def supports_live_view(stream: IO[str]) -> bool:
    """Whether a stream is a terminal on which a view can move."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def supports_color(stream: IO[str]) -> bool:
    """Colors on a terminal, or where they are forced; none where the person or it wants none.

    NO_COLOR decides before the others (no-color.org); an empty one is none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCED):
        return True
    return supports_live_view(stream)


def get_help_width() -> int:
    """The columns for a page of help; in a pipe, those that COLUMNS asks for."""
    said = os.environ.get("COLUMNS", "")
    return get_width(sys.stdout) or (int(said) if said.isdecimal() else 0) or _USUAL


def get_width(stream: IO[str]) -> int | None:
    """The columns of the terminal that a stream goes to; None for a file or a pipe."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    try:
        columns = int(said) if said.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except OSError:  # a terminal that does not know
        columns = 0
    return columns or _USUAL


# Printable by their category, and yet nothing to see: fillers, joiners, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f"
    "\U000e0100-\U000e01ef]"
)
_EMOJI = "\ufe0f"  # behind a symbol, it only says: in color


def escape_invisible(line: str) -> str:
    """A line with everything that a reader can't see written out: controls, bidi marks, tags."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        c if _is_seen(c, before) else _escaped(c)
        for c, before in zip(line, f" {line}", strict=False)
    )


def _is_seen(character: str, before: str) -> bool:
    if character == _EMOJI:
        return unicodedata.category(before) == "So"
    return character == "\t" or (character.isprintable() and not _UNSEEN.match(character))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
