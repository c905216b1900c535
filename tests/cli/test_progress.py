"""The bar shows on a terminal, once patience is at its end, and is gone before what comes next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Screen, in_terminal
from tests.command_line import Result, run_program
from tests.conftest import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
ERASE = "\x1b[2K"


def script(folder: Path, done: tuple[int, ...], patience: float, total: int = 3) -> str:
    """A program with a bar that is told these numbers of `total`, and then prints a line."""
    path = folder / "bar.py"
    path.write_text(
        "from cub.cli.plan_command import ProgressBar as Bar\n"
        f"with Bar(patience={patience}) as bar:\n"
        f"    for done in {done}:\n        bar(done, {total}, 'Reading files')\n"
        "    print('The result.')\n"
    )
    return str(path)


def shown(folder: Path, home: Path, *done: int, patience: float = 0, total: int = 3) -> Screen:
    return in_terminal(cwd=folder, home=home, program=(script(folder, done, patience, total),))


def test_it_shows_how_far_the_work_is(tmp_path: Path, home: Path) -> None:
    seen = shown(tmp_path, home, 1, 2, 3).text
    assert seen.index("Reading files") < seen.index("33%") < seen.index("67%")


@pytest.mark.parametrize("done", [(1, 2, 3), (1, 3, 3), (1, 4)])
def test_what_is_printed_when_all_is_done_stands_alone(
    tmp_path: Path, home: Path, done: tuple[int, ...]
) -> None:
    seen = shown(tmp_path, home, *done).text
    assert seen.endswith(f"{ERASE}The result.\n")


@pytest.mark.parametrize("done", [(), (3,), (4, 3)])
def test_it_does_not_show_when_there_is_nothing_left_to_do(
    tmp_path: Path, home: Path, done: tuple[int, ...]
) -> None:
    assert shown(tmp_path, home, *done).text == "The result.\n"


def test_it_does_not_show_for_quick_work(tmp_path: Path, home: Path) -> None:
    assert shown(tmp_path, home, 1, 2, 3, patience=3600).text == "The result.\n"


def test_it_shows_at_once_for_work_that_will_take_long(tmp_path: Path, home: Path) -> None:
    seen = shown(tmp_path, home, 0, patience=3600, total=12_000_000).text
    assert "Reading files" in seen


def test_it_does_not_show_in_a_pipe(tmp_path: Path, home: Path) -> None:
    words = [sys.executable, script(tmp_path, (1, 2, 3), 0)]
    done = run_program(words, cwd=tmp_path, environ=environment(home))
    assert done == Result(0, "The result.\n", "")
