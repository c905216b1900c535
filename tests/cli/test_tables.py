"""Every table at the widths that people have: text gives way; ids, paths and numbers never do."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cub.actions.run.run_folders import STATUS_FILE, RunFolder, write_json
from cub.cli.tables import layout_rows, measure_width, wrap_text
from cub.cli.terminal import add_style
from tests.cli.terminal import in_terminal, remove_progress
from tests.examples import few_examples

WORDS = st.text("ab cé漢", max_size=30)
CELLS = st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=5)


@few_examples
@given(CELLS, st.integers(20, 60))
def test_no_cell_but_prose_is_broken(rows: list[tuple[str, ...]], width: int) -> None:
    for row, lines in zip(rows, layout_rows(rows, width, prose=(1, 3)), strict=True):
        assert all(any(cell.rstrip(" ") in line for line in lines) for cell in (row[0], row[2]))


@few_examples
@given(CELLS, st.integers(20, 60))
def test_no_word_is_lost_or_broken(rows: list[tuple[str, ...]], width: int) -> None:
    for row, lines in zip(rows, layout_rows(rows, width, prose=(0, 1, 2, 3)), strict=True):
        assert _find_words(" ".join(row)) == _find_words(" ".join(lines))


def _find_words(text: str) -> list[str]:
    """A text's words, without their order; a Chinese character is one."""
    return sorted(text.replace("漢", " 漢 ").split())


def test_a_cell_without_spaces_stays_in_its_column() -> None:
    rows = layout_rows([("/a", "漢" * 15)], 24, prose=(1,))
    assert rows == [["/a  " + "漢" * 10, "    " + "漢" * 5]]


def test_text_without_spaces_is_wrapped_and_its_marks_begin_no_line() -> None:
    text = "- 漢字漢字漢字漢字漢字漢字\u300c漢\u300d\u3002漢字foo漢字\uff08漢字\uff09\u3002"
    assert wrap_text(text, 15, "  ") == [
        "- 漢字漢字漢字",
        "  漢字漢字漢字",
        "  \u300c漢\u300d\u3002漢字",
        "  foo漢字\uff08漢",
        "  字\uff09\u3002",
    ]


@few_examples
@given(CELLS, st.integers(36, 60))
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, ...]], width: int) -> None:
    # 26 wide characters and the indentation of a folded row are as much as fits.
    short = [tuple(cell[:16] for cell in row) for row in rows]
    for lines in layout_rows(short, width, prose=(1,)):
        assert max(map(measure_width, lines)) <= width


@few_examples
@given(CELLS, st.integers(8, 60))
@example([("      ab cé",) * 4], 24)  # the indentation of a cell was added to its column
@example([("", "", "", "aa 漢")], 8)  # the least width of a text was more than a folded row has
@example([("", "", "", " aaaaa")], 8)  # a word that does not fit, in an indented cell
def test_prose_is_as_narrow_as_its_words(rows: list[tuple[str, ...]], width: int) -> None:
    cells = [cell for row in rows for cell in row]
    longest = max(measure_width(word) for cell in cells for word in cell.split(" "))
    # A word that does not fit behind the indentation of a folded row stands there whole, and
    # behind the indentation of its cell.
    leading = max(len(cell) - len(cell.lstrip(" ")) for cell in cells)
    most = width if longest <= width - 4 else leading + longest + 4
    for lines in layout_rows(rows, width, prose=(0, 1, 2, 3)):
        assert max(map(measure_width, lines), default=0) <= most


@given(WORDS, st.integers(1, 40), st.text(" ", max_size=6))
@example("      ab cé", 8, "")
def test_an_indentation_gives_way_to_words(text: str, width: int, indent: str) -> None:
    assume(max(map(measure_width, text.split(" "))) <= width)
    assert max(map(measure_width, wrap_text(text, width, indent))) <= width


def test_what_fits_is_one_line_with_aligned_columns() -> None:
    rows = [("id", "title"), ("漢字", "x"), ("abcdef", "y")]
    assert layout_rows(rows, 20) == [["id      title"], ["漢字    x"], ["abcdef  y"]]


def test_text_is_wrapped_beside_what_stands_whole() -> None:
    rows = [("id", "title"), ("bakery-00007", "Bake the bread until it is brown all over")]
    assert layout_rows(rows, 40, prose=(1,)) == [
        ["id            title"],
        ["bakery-00007  Bake the bread until it is", "              brown all over"],
    ]


def test_a_row_is_folded_where_wrapping_does_not_suffice() -> None:
    rows = [("path", "n", "why"), ("packages/some/where/AGENTS.md", "12", "because it is so")]
    assert layout_rows(rows, 36, prose=(2,)) == [
        ["path                           n", "    why"],
        ["packages/some/where/AGENTS.md  12", "    because it is so"],
    ]


def test_a_word_that_is_wider_than_the_terminal_stands_whole_on_a_line() -> None:
    assert wrap_text("see " + "x" * 50 + " there", 20, "  ") == ["see", "  " + "x" * 50, "  there"]


def test_styles_take_no_room() -> None:
    text = f"{add_style('error:', 'red')} it is so"
    assert wrap_text(text, 15) == [text]


LONG = "packages/a-long-name/deep/below/it"
KEY = "bakery-of-ada-lovelace-00007"
COMMANDS = [
    "status", "task list", f"task show {KEY}", "task list --tree", "ledger list", "ledger stats",
    f"ledger show {KEY}", "ledger tail", "config show", "trust --show", "run status",
    f"init {LONG} --dry-run", "update --check .", f"prompt {KEY} --explain", "task stats",
    "run --dry-run --harness scripted",
]  # fmt: skip
WHOLE = {
    "status": [f"{LONG}/AGENTS.md", "in place", "opencode,"],
    "task list": [KEY, "in_progress", "(ada-lovelace-of-the-bakery)"],
    "task list --tree": [KEY],
    f"task show {KEY}": [KEY, f"{LONG}/oven.py", "ada-lovelace-of-the-bakery"],
    "ledger list": [KEY, "1,234,567", "12m 30s", "claude-opus-4-1-20250805", "$1,234.56", "ok"],
    "ledger stats": ["claude,", "12m 30s", "1,234,567", "$1,234.56"],
    f"ledger show {KEY}": [KEY, "1,234,567", f".cub/runs/{LONG}/1.jsonl"],
    "ledger tail": [KEY],
    "config show": ["run.budget.iterations", ".cub/config.yaml:3", f'"{LONG}/**"'],
    "trust --show": [f"{LONG}/oven.py"],
    "run status": ["20260102-030405-1a2b3c", KEY],
    f"init {LONG} --dry-run": [f"{LONG}/AGENTS.md"],
    "update --check .": ["error:"],
    f"prompt {KEY} --explain": ["in all"],
    "task stats": ["in_progress"],
    "run --dry-run --harness scripted": [f"{LONG}/oven.py"],
}
SCRIPT = f"""
import json
import sys
from cub.cli.app import run_command_line as run
for command in {COMMANDS!r}:
    print("\\f" + command, flush=True)
    run(command.split())
"""


@pytest.fixture
def bakery(project: Path, home: Path) -> Path:  # noqa: ARG001 - where the run is
    """A project with something long in every table."""
    _write(project / "AGENTS.md", "# Bakery\n")
    (project / LONG).mkdir(parents=True)
    (project / ".cub").mkdir()
    for name in ("opencode.json", "oven.py"):
        _write(project / name, "{}")
    _write(
        project / ".cub" / "config.yaml",
        f'targets: [AGENTS.md, CLAUDE.md, {LONG}/AGENTS.md]\nmap:\n  exclude: ["{LONG}/**"]\n'
        f'run:\n  checks: ["python -m pytest -q --a-long-option {LONG}/oven.py"]\n',
    )
    _write(project / ".cub" / "script.yaml", 'tasks: {"*": [{final: Done.}]}\n')
    title = f"Bake the bread until it is brown all over, and write it down in {LONG}/oven.py"
    tasks = [
        {"id": KEY, "title": title, "status": "in_progress", "description": f"{title}. " * 3,
         "assignee": "ada-lovelace-of-the-bakery", "issue_type": "feature", "labels": ["a"] * 40},
        {"id": f"{KEY}.1", "title": title, "status": "open", "parent": KEY},
    ]  # fmt: skip
    _write(project / ".cub" / "tasks.jsonl", _lines(tasks))
    common = {"ts": "2026-01-02T03:04:05.678Z", "task": KEY, "run": "r-1", "n": 12}
    events = [
        {**common, "ev": "attempt_start", "harness": "claude", "model": "claude-opus-4-1-20250805"},
        {**common, "ev": "attempt_end", "harness": "claude", "model": "claude-opus-4-1-20250805",
         "ok": True, "dur_s": 750, "tok": {"in": 1234567}, "usd": 1234.56, "usd_src": "computed",
         "log": f".cub/runs/{LONG}/1.jsonl"},
    ]  # fmt: skip
    _write(project / ".cub" / "ledger.jsonl", _lines(events))
    status = {"started": "2026-01-02T03:04:05.678Z", "task": KEY, "title": title, "attempt": 1}
    run = RunFolder(project, "20260102-030405-1a2b3c")
    run.write_run_facts({"ended": True})
    write_json(run.state / STATUS_FILE, status)
    return project


def _lines(records: Sequence[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
@pytest.mark.parametrize(
    "width",
    [
        60,
        pytest.param(80, marks=pytest.mark.thorough),
        pytest.param(100, marks=pytest.mark.thorough),
    ],
)
def test_ids_paths_and_numbers_stand_whole(bakery: Path, home: Path, width: int) -> None:
    screen = in_terminal(
        cwd=bakery, home=home, program=("-c", SCRIPT), COLUMNS=str(width), NO_COLOR="1"
    )
    shown = dict(part.split("\n", 1) for part in screen.text.split("\f")[1:])
    assert list(shown) == COMMANDS
    for command, printed in shown.items():
        text = remove_progress(printed)
        wide = [line for line in text.split("\n") if len(line) > width]
        assert wide == [], f"{command}: {wide}"
        lost = [word for word in WHOLE[command] if word not in text]
        assert lost == [], f"{command} has lost {lost}:\n{text}"
