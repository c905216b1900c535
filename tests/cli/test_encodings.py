"""Whatever encoding the surroundings ask for, everything can be printed."""

from __future__ import annotations

import io
import sys

import pytest

from cub.cli import terminal
from tests.conftest import Cub

TEXT = "plain \udcff caf\u00e9 \u2192 \U0001f43b\n"
# How the text comes out: as the encoding has it, escaped where it has none.
SHOWN = {
    "utf-8": b"plain \xff caf\xc3\xa9 \xe2\x86\x92 \xf0\x9f\x90\xbb\n",
    "ascii": b"plain \xff caf\\xe9 \\u2192 \\U0001f43b\n",
    "latin-1": b"plain \xff caf\xe9 \\u2192 \\U0001f43b\n",
}
# Encodings in which ASCII is not one byte a character: UTF-8 in their place.
UNFIT = ["cp037", "utf-16", "utf-8-sig", "undefined"]


def printed(encoding: str) -> bytes:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    terminal.configure_streams()  # names the way to print what is no text
    terminal.configure_encoding(stream)
    for character in TEXT:
        stream.write(character)
    stream.flush()
    return raw.getvalue()


@pytest.mark.parametrize("encoding", SHOWN)
def test_any_text_can_be_printed(encoding: str) -> None:
    assert printed(encoding) == SHOWN[encoding]


@pytest.mark.parametrize("encoding", UNFIT)
def test_an_encoding_that_does_not_extend_ascii_is_passed_over(encoding: str) -> None:
    assert printed(encoding) == SHOWN["utf-8"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs such a name")
@pytest.mark.parametrize("encoding", ["utf-16", "undefined"])
def test_a_command_ends_as_it_does_elsewhere(cub_interpreter: Cub, encoding: str) -> None:
    done = cub_interpreter("-C", "no\udcff", "status", PYTHONIOENCODING=encoding)
    assert done.code == 1
    assert "no such directory" in done.err
