"""A session at a terminal: a person who types, and the screen that they see."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte

from tests.conftest import environment
from tests.fork_server import ForkedProcess, start_cub

_PATIENCE = 30.0
_BLANK_LINES = re.compile(r"\n{4,}")


class _AnsweringScreen(pyte.Screen):
    """A screen that tells the program where its cursor is, as terminals do."""

    def __init__(self, columns: int, lines: int, descriptor: int) -> None:
        super().__init__(columns, lines)
        self._descriptor = descriptor

    def write_process_input(self, data: str) -> None:
        os.write(self._descriptor, data.encode())


class TypedSession:
    """A program in a terminal, whose screen is read while waiting for what it shows."""

    def __init__(self, process: ForkedProcess, descriptor: int, columns: int, lines: int) -> None:
        self.process, self._descriptor = process, descriptor
        self._screen = _AnsweringScreen(columns, lines, descriptor)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def screen(self) -> str:
        """What is on the screen; many blank lines in a row are one mark."""
        text = "\n".join(line.rstrip() for line in self._screen.display).strip("\n")
        return _BLANK_LINES.sub("\n\n[blank lines]\n\n", text)

    def read_styles(self) -> list[list[pyte.screens.Char]]:
        """The characters of all lines, with their styles."""
        screen = self._screen
        return [
            [screen.buffer[line][column] for column in range(screen.columns)]
            for line in range(screen.lines)
        ]

    def type(self, text: str, wait: str = "") -> None:
        """Type something once the screen has `wait`."""
        if wait:
            self.wait_for(wait)
        os.write(self._descriptor, text.encode())

    def send(self, text: str, wait: str) -> None:
        """Send a prompt, and wait until the screen has a text, and then a new prompt."""
        self.wait_for_prompt()
        self.type(f"{text}\r")
        self.wait_for(wait)
        self.wait_for_prompt()

    def wait_for_prompt(self) -> None:
        """Wait until the last input line is empty, with the status line below."""
        self.wait_until(lambda text: bool(re.search(r"\n>\n(?:.*\n)*.*context left", f"\n{text}")))

    def wait_for(self, text: str) -> None:
        """Wait until the screen has a text."""
        self.wait_until(lambda screen: text in screen)

    def wait_until(self, is_there: Callable[[str], bool]) -> None:
        """Wait until the screen is as it should be."""
        end = time.monotonic() + _PATIENCE
        while not is_there(self.screen):
            assert self._read(end - time.monotonic()), f"it shows:\n{self.screen}"

    def finish(self) -> int:
        """Read to the end of the program; its exit code."""
        end = time.monotonic() + _PATIENCE
        while self._read(end - time.monotonic()):
            pass
        return self.process.wait()

    def hang_up(self) -> int:
        """Close the terminal, as a person does with its window; the exit code."""
        os.close(self._descriptor)
        self._descriptor = -1
        return self.process.wait()

    def close(self) -> None:
        """End the program, and close the terminal."""
        self.process.kill()
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self.process.wait()

    def _read(self, seconds: float) -> bool:
        """Show what comes; False at the end, or if nothing comes."""
        if not select.select([self._descriptor], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:  # Linux says so when the last process has left the terminal
            return False
        self._stream.feed(data)
        return bool(data)


@contextmanager
def open_session(
    *arguments: str, cwd: Path, home: Path, columns: int = 100, lines: int = 90, **env: str
) -> Iterator[TypedSession]:
    """Run cub in a terminal of this size, with colors."""
    kept = {k: v for k, v in environment(home).items() if k not in ("NO_COLOR", "COLUMNS")}
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = start_cub(
        arguments,
        cwd=cwd,
        environ={**kept, "TERM": "xterm-256color", **env},
        descriptors=(its, its, its),
        start_new_session=True,
        controls_terminal=True,
    )
    os.close(its)
    session = TypedSession(process, ours, columns, lines)
    try:
        yield session
    finally:
        session.close()
