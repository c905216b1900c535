"""Show on stderr that something goes on, and for how long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Thread

from cub.cli import output
from cub.cli.tables import measure_width
from cub.cli.terminal import choose_marks, get_width, supports_live_view
from cub.text import truncate_text

_FRAMES, _PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
_SECONDS = 0.1  # for each frame


class Spinner:
    """Draw a label on the last line of stderr's terminal, if that is one, until it is hidden.

    Whoever prints hides it first. All methods belong to one thread; another one draws.
    """

    def __init__(self) -> None:
        self._label, self._since = "", 0.0
        self._is_drawn = self._is_closed = False
        self._changed = Condition()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Draw inside the context."""
        if output.is_muted() or not supports_live_view(sys.stderr):
            yield
            return
        self._is_closed = False
        thread = Thread(target=self._draw_frames, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.hide()
            with self._changed:
                self._is_closed = True
                self._changed.notify()
            thread.join()

    def show(self, label: str) -> None:
        """Show what goes on from now on; the seconds count from here."""
        with self._changed:
            self._label, self._since = label, time.monotonic()
            self._changed.notify()

    def hide(self) -> None:
        """Erase it, so that a line can be printed."""
        with self._changed:
            self._label = ""
            if self._is_drawn:
                output.draw_on_last_line("")
                self._is_drawn = False

    def _draw_frames(self) -> None:
        frames, number = choose_marks(sys.stderr, _FRAMES, _PLAIN_FRAMES), 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or self._label)
                if self._is_closed:
                    return
                number += 1
                text = self._describe((get_width(sys.stderr) or 80) - 3)
                output.draw_on_last_line(f"{frames[number % len(frames)]} {text}")
                self._is_drawn = True
                self._changed.wait(_SECONDS)

    def _describe(self, width: int) -> str:
        """Return the label and how long it is there, in at most `width` columns."""
        seconds = int(time.monotonic() - self._since)
        end = f" {seconds} s" if seconds else ""
        limit = max(0, width - len(end))
        if measure_width(self._label) > limit:
            return truncate_text(self._label, limit if self._label.isascii() else limit // 2) + end
        return self._label + end
