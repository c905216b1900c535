"""A command in a terminal of its own, with a person who answers."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.fork_server import ForkedProcess, start_cub

_PATIENCE = 30
_PROGRESS = re.compile(
    r"\x1b\[\?25l[^\n]*\n\x1b\[\?25h\r\x1b\[1A\x1b\[2K"
    r"|\x1b\[\?25[lh]|.*\x1b\[2K|.*━.*\r|\x1b\[\d*[A-Z]"
)


@dataclass(frozen=True, slots=True)
class Screen:
    """What a person saw, and the exit code."""

    code: int
    text: str


def in_terminal(
    *arguments: str,
    cwd: Path,
    home: Path,
    answer: str | signal.Signals | Callable[[], str] = "",
    at: str = "",
    program: Sequence[str] = (),
    **env: str,
) -> Screen:
    """Run cub, or another `program` of Python's, in a terminal with colors; when it has printed
    `at`, `answer` it; a function does something first, and returns what to type.
    """
    if os.name == "nt":
        pytest.skip("needs a pseudo terminal")
    kept = {k: v for k, v in environment(home).items() if k not in ("NO_COLOR", "TERM")}
    environ = {**kept, "TERM": "xterm", **env}
    ours, its = os.openpty()
    with _start(arguments, program, cwd, environ, its) as process:
        os.close(its)
        try:
            text = _read(ours, at) if at else b""
            if isinstance(answer, signal.Signals):
                text += _read(ours, press=lambda: process.send_signal(answer))
            else:
                os.write(ours, (answer() if callable(answer) else answer).encode())
                text += _read(ours)
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(ours)
    assert process.returncode is not None
    return Screen(process.returncode, text.decode().replace("\r\n", "\n"))


def remove_progress(text: str) -> str:
    """Leave out progress, which comes and goes on the same line, on a machine that is busy."""
    return _PROGRESS.sub("", text)


def _start(
    arguments: Sequence[str],
    program: Sequence[str],
    cwd: Path,
    environ: Mapping[str, str],
    terminal: int,
) -> ForkedProcess | subprocess.Popen[bytes]:
    streams = (terminal, terminal, terminal)
    if not program:
        return start_cub(
            arguments, cwd=cwd, environ=environ, descriptors=streams, start_new_session=True
        )
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        cwd=cwd,
        env=environ,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )


def _read(descriptor: int, until: str = "", press: Callable[[], None] | None = None) -> bytes:
    """Everything that is printed, to the end or up to some words.

    `press` is done at once and again after each second without output, as a person does with ^C:
    a signal that comes just before a program begins to wait for input is not noticed until it
    comes again.
    """
    text, waited = b"", 0
    ready: list[int] = []
    while not (until and until.encode() in text):
        if press and not ready:
            press()
        ready, _, _ = select.select([descriptor], [], [], 1.0)
        waited = 0 if ready else waited + 1
        assert waited < _PATIENCE, f"nothing for {_PATIENCE} s after {text!r}"
        if ready and not (piece := _piece(descriptor)):
            break
        text += piece if ready else b""
    return text


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # Linux says so when the last process has left the terminal
        return b""
