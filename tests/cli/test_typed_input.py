from __future__ import annotations

import io
import os
import select
import sys
import termios
from collections.abc import Iterator

import pytest

from cub.cli.output import ask_text
from cub.cli.typed_input import discard_typed_input, set_typing


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of a terminal that is stdin."""
    ours, its = os.openpty()
    with os.fdopen(its, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield ours
    os.close(ours)


def test_what_was_typed_can_be_discarded(keyboard: int) -> None:
    with set_typing(is_shown=False):
        os.write(keyboard, b"yes, please\n")
        assert select.select([sys.stdin], [], [], 20)[0]
        discard_typed_input()
        assert not select.select([sys.stdin], [], [], 0)[0]


def test_the_terminal_is_as_before_in_the_end(keyboard: int) -> None:
    before = termios.tcgetattr(keyboard)
    with set_typing(is_shown=False):
        assert not termios.tcgetattr(keyboard)[3] & (termios.ECHO | termios.ICANON)
        with set_typing(is_shown=True):
            assert termios.tcgetattr(keyboard)[3] & termios.ECHO
            assert termios.tcgetattr(keyboard)[3] & termios.ICANON
        assert not termios.tcgetattr(keyboard)[3] & termios.ECHO
    assert termios.tcgetattr(keyboard) == before


def test_a_question_shows_when_its_answer_can_be_typed(
    keyboard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stderr(io.StringIO):
        def write(self, text: str) -> int:
            os.write(keyboard, b"yes\n" if termios.tcgetattr(keyboard)[3] & termios.ECHO else b"\n")
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", Stderr())
    with set_typing(is_shown=False):
        assert ask_text("Sure?") == "yes"
