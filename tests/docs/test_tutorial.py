"""The tutorial, typed in from its first command to its last."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import environment

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_END = "\x1e"
_CODE = 'echo "exit code $?"'


@dataclass(frozen=True, slots=True)
class Command:
    """A line behind `$ `, and the lines that the tutorial shows below it."""

    text: str
    shown: tuple[str, ...]


def commands() -> list[Command]:
    page = PAGE.read_text(encoding="utf-8")
    return [command for block in _BLOCK.findall(page) for command in _commands(block)]


def _commands(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        text, *shown = part.splitlines()
        yield Command(text, tuple(shown))


def typed(lines: list[str], folder: Path, home: Path) -> list[tuple[int, list[str]]]:
    """The exit code and the output lines of each command, all typed into one bash."""
    script = 'cub() { "$PYTHON" -m cub "$@"; }\nexec 2>&1\n'
    for line in lines:
        script += f"{line}\ncode=$?; printf '%s%d%s' '{_END}' $code '{_END}'; (exit $code)\n"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**environment(home), "PYTHON": sys.executable},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    parts = done.stdout.split(_END)[:-1]
    return [
        (int(code), output.splitlines())
        for output, code in zip(parts[::2], parts[1::2], strict=True)
    ]


def difference(shown: tuple[str, ...], real: list[str]) -> str:
    """The first shown line that is not where the tutorial has it; "" if all of them are.

    Lines stand together as in the real output, except where a lone `…` leaves some out.
    """
    at, free = 0, False
    for line in shown:
        if line == "…":
            free = True
            continue
        found = next((n for n in range(at, len(real)) if _same(line, real[n])), None)
        if found is None or (found != at and not free):
            return line
        at, free = found + 1, False
    return "" if free or at == len(real) else f"nothing more, but there is: {real[at]}"


def _same(shown: str, real: str) -> bool:
    if shown.endswith("…"):
        return real.startswith(shown[:-1])
    return shown == real.rstrip()  # editors and git dislike blanks at the end of a line


@pytest.mark.skipif(shutil.which("bash") is None, reason="the tutorial is written for a shell")
def test_every_command_does_what_the_tutorial_says(tmp_path: Path, home: Path) -> None:
    told = [command for command in commands() if not command.text.startswith("pip install ")]
    folder = tmp_path / "work"
    folder.mkdir()
    results = typed([command.text for command in told], folder, home)
    assert len(results) == len(told), results[-1:]
    following = [command.text for command in told[1:]] + [""]
    failed = []
    for command, (code, output), after in zip(told, results, following, strict=True):
        assert difference(command.shown, output) == "", f"{command.text}:\n" + "\n".join(output)
        if code:
            failed.append((command.text, code))
            assert after == _CODE, f"{command.text} exits {code}, and the tutorial does not say so"
    assert failed == [("cub update", 1)]


@pytest.mark.parametrize(
    ("shown", "real", "first"),
    [
        (("a", "b"), ["a", "b"], ""),
        (("a", "…"), ["a", "b", "c"], ""),
        (("…", "c"), ["a", "b", "c"], ""),
        (("a", "…", "c"), ["a", "b", "c"], ""),
        (("lon…",), ["longer"], ""),
        (("a", "c"), ["a", "b", "c"], "c"),
        (("b", "…", "a"), ["a", "b"], "b"),
        (("…", "b", "…", "a"), ["a", "b"], "a"),
        (("a",), ["a", "b"], "nothing more, but there is: b"),
        ((), ["a"], "nothing more, but there is: a"),
    ],
)
def test_shown_lines_are_compared_in_order(
    shown: tuple[str, ...], real: list[str], first: str
) -> None:
    assert difference(shown, real) == first
