from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator

import pytest

from cub.cli.typed_input import (
    discard_typed_input,
    interpret_typed_text,
    set_typing,
    take_typed_text,
)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("hello", "hello"),
        ("one\rtwo\r", "one\ntwo"),
        ("hex\x7fllo", "hello"),
        ("ab\x7f\x7f\x7fc", "c"),
        ("\x7f\x7fa", "a"),
        ("a\r\x7fb", "a\nb"),
        ("wrong\x15right", "right"),
        ("wrong\x03", ""),
        ("a\x1b[Db\x1b[1;5Cc\x1bOA", "abc"),
        ("\x1b[200~pasted\x1b[201~", "pasted"),
        ("tab\there\x00", "tabhere"),
        ("Grüße", "Grüße"),
    ],
)
def test_typed_keys_are_the_text_of_a_line(typed: str, text: str) -> None:
    assert interpret_typed_text(typed) == text


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of a terminal that is stdin."""
    ours, its = os.openpty()
    with os.fdopen(its, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield ours
    os.close(ours)


def test_what_was_typed_is_taken_once(keyboard: int) -> None:
    with set_typing(is_shown=False):
        os.write(keyboard, b"for later")
        assert take_typed_text() == "for later"
        assert take_typed_text() == ""


def test_what_was_typed_can_be_discarded(keyboard: int) -> None:
    with set_typing(is_shown=False):
        os.write(keyboard, b"y\n")
        discard_typed_input()
        assert take_typed_text() == ""


def test_the_terminal_is_as_before_in_the_end(keyboard: int) -> None:
    before = termios.tcgetattr(keyboard)
    with set_typing(is_shown=False):
        assert not termios.tcgetattr(keyboard)[3] & (termios.ECHO | termios.ICANON)
        with set_typing(is_shown=True):
            assert termios.tcgetattr(keyboard)[3] & termios.ECHO
            assert termios.tcgetattr(keyboard)[3] & termios.ICANON
        assert not termios.tcgetattr(keyboard)[3] & termios.ECHO
    assert termios.tcgetattr(keyboard) == before
