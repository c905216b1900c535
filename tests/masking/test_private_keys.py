"""Private keys: whole, cut at either end, in whatever a tool puts around their lines, in pieces."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from random import Random
from shutil import which
from string import ascii_letters, digits

import pytest

from cub.checks.terminal_text import take_tail
from cub.masking import MASK, StreamMasker, mask_text
from tests.masking.samples import pem

Form = Callable[[int, str], str]
FORMS: dict[str, Form] = {
    "bare": lambda _, line: line,
    "pytest": lambda _, line: f"E   {line}",
    "quoted": lambda _, line: f"> {line}",
    "added": lambda _, line: f"+{line}",
    "removed": lambda _, line: f"    -  {line}",
    "table": lambda _, line: f"| {line} |",
    "numbered": lambda number, line: f"{number:>5}: {line}",
    "editor": lambda number, line: f"{number:>3} | {line}",
    "coloured": lambda _, line: f"\x1b[31m{line}\x1b[39m",
    "assertion": lambda _, line: f"E       -   '{line}\\n'",
    "compose": lambda _, line: f"web-1  | {line}",
    "stamped": lambda number, line: f"2026-01-01T00:00:{number:02d}.123Z {line}",
    "indented": lambda _, line: f"      {line}",
}


@cache
def _generated() -> tuple[str, ...]:
    """A key as openssl prints it, or one of chance where there is no openssl."""
    if program := which("openssl"):
        for words in (["genrsa", "-traditional", "2048"], ["genrsa", "2048"]):
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return tuple(done.stdout.strip().split("\n"))
    return tuple(pem())


def _leaks(text: str) -> list[str]:
    """The lines of the key's body of which 12 signs in a row can be read."""
    body = _generated()[1:-1]
    return [line for line in body for at in range(len(line) - 11) if line[at : at + 12] in text]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(("first", "last"), [(0, 99), (1, 99), (9, 99), (0, -1), (0, -9), (0, 3)])
def test_a_key_is_masked_with_either_end_missing(form: Form, first: int, last: int) -> None:
    lines = [form(number, line) for number, line in enumerate(_generated(), 1)]
    text = "\n".join(["it begins", *lines[first:last], "\nit failed: 2 tests"])
    assert _leaks(mask_text(text)) == []
    assert mask_text(text).startswith("it begins\n")
    assert mask_text(text).endswith("\nit failed: 2 tests")


@pytest.mark.parametrize("cut", range(0, 1_700, 37))
def test_a_key_that_is_cut_anywhere_is_masked(cut: int) -> None:
    whole = "\n".join(_generated())
    assert _leaks(mask_text(whole[cut:])) == []
    assert _leaks(mask_text(whole[: len(whole) - cut])) == []


@pytest.mark.parametrize("first", [0, 1, 9])
def test_a_key_in_json_is_masked_and_the_rest_is_still_json(first: int) -> None:
    text = json.dumps({"private_key": "\n".join(_generated()[first:]) + "\n", "other": "kept"})
    assert json.loads(mask_text(text))["other"] == "kept"
    for nested in (text, json.dumps({"output": text})):
        assert _leaks(mask_text(nested)) == []


def test_the_end_of_a_long_output_is_masked_before_it_is_cut() -> None:
    text = "x\n" * 10 + "\n".join(_generated()) + "\nexit 1\n"
    assert take_tail(mask_text(text), 1500).endswith(f"x\n{MASK}\nexit 1")


def test_what_is_left_out_between_two_halves_hides_no_end() -> None:
    lines = list(_generated())
    text = "\n".join([*lines[:9], "", "… 1,234 bytes left out …", *lines[12:], "failed"])
    assert _leaks(mask_text(text)) == []
    assert mask_text(text).endswith("failed")


def test_a_key_whose_lines_are_told_one_by_one_is_masked() -> None:
    mask = StreamMasker()
    lines = ["I print it:\n", *(f"{line}\n" for line in _generated()), "Done: 2 tests pass.\n"]
    told = [mask.mask(line) for line in lines]
    assert _leaks("".join(told)) == []
    assert (told[0], told[-1]) == (lines[0], lines[-1])


def test_a_piece_that_nobody_sees_may_begin_a_key() -> None:
    mask = StreamMasker()
    begin, *body = _generated()
    mask.skip(f"{begin}\n")
    assert _leaks("".join(mask.mask(f"{line}\n") for line in body)) == []


def test_a_mark_without_a_key_hides_nothing_behind_it() -> None:
    mask = StreamMasker()
    lines = [
        "Look for -----BEGIN PRIVATE KEY-----\n",
        "in all files, then tell.\n",
        "Two are there.\n",
    ]
    assert [mask.mask(line) for line in lines] == lines


def test_what_stands_between_two_keys_stays() -> None:
    key = "\n".join(_generated())
    assert mask_text(f"a\n{key}\nbetween\n{key}\nb") == f"a\n{MASK}\nbetween\n{MASK}\nb"


def test_lines_of_a_certificate_stay() -> None:
    signs = Random(14)  # always the same: one line of thousands reads as a vendor's key
    body = ["".join(signs.choices(ascii_letters + digits + "+/", k=64)) for _ in range(20)]
    text = "\n".join(pem("CERTIFICATE", body))
    assert mask_text(text) == text
