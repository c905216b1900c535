"""Deal with what a person types while nothing reads it: forget it, or hide it until a prompt."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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
    """Let the terminal of stdin show and edit a line, or keep all keys for the next prompt."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        yield
        return
    import termios

    descriptor, flags = sys.stdin.fileno(), termios.ECHO | termios.ICANON
    before = termios.tcgetattr(descriptor)
    after = [*before]
    after[3] = before[3] | flags if is_shown else before[3] & ~flags
    termios.tcsetattr(descriptor, termios.TCSADRAIN, after)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
