"""Deal with what a person types while nothing reads it: forget it, hide it, or take it later."""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O?.)?", re.DOTALL)
_ERASED_CHARACTER = re.compile(r"[^\n\x7f\b][\x7f\b]")
_ERASED_LINE = re.compile(r"[^\n]*[\x15\x03]")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def discard_typed_input() -> None:
    """Forget what was typed before a question was seen: it is no answer to it."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


@contextmanager
def set_typing(*, is_shown: bool) -> Iterator[None]:
    """Let the terminal of stdin show what is typed, and take whole lines, or neither."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    descriptor, flags = sys.stdin.fileno(), termios.ECHO | termios.ICANON
    before = termios.tcgetattr(descriptor)
    after = [*before[:6], [*before[6]]]
    after[3] = before[3] | flags if is_shown else before[3] & ~flags
    if not is_shown:
        after[6][termios.VMIN], after[6][termios.VTIME] = 1, 0
    termios.tcsetattr(descriptor, termios.TCSADRAIN, after)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def take_typed_text() -> str:
    """Return what was typed until now, as it would stand in a line that is edited."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        return ""
    data, descriptor = b"", sys.stdin.fileno()
    while select.select([descriptor], [], [], 0)[0]:
        piece = os.read(descriptor, 4096)
        if not piece:
            break
        data += piece
    return interpret_typed_text(data.decode("utf-8", "replace"))


def interpret_typed_text(text: str) -> str:
    """Return a text without keys that move the cursor, and without what Backspace has erased."""
    text = _ESCAPE_SEQUENCE.sub("", text).replace("\r", "\n")
    text = _ERASED_LINE.sub("", text)
    while (shorter := _ERASED_CHARACTER.sub("", text)) != text:
        text = shorter
    return _CONTROL.sub("", text).strip("\n")
