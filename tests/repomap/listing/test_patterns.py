"""Patterns from anywhere: those that git reads count, and the others do no harm."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.listing.listing import listing
from cub.repomap.listing.patterns import is_pattern, spec_of
from tests.examples import few_examples

BAD = ["!", "\\", "a\\", "[z-a]"]


@pytest.mark.parametrize("line", BAD)
def test_these_are_no_patterns(line: str) -> None:
    assert not is_pattern(line)


@pytest.mark.parametrize(
    "line", ["a", "/a/", "*.py", "**/a", "!a", "", "# a", "[", "[a-z]", "[[:alpha:]]", "a b", "ü"]
)
def test_these_can_be_read(line: str) -> None:
    assert is_pattern(line)


@pytest.mark.parametrize("line", BAD)
def test_one_that_is_none_costs_itself_alone(tmp_path: Path, line: str) -> None:
    for name in ("a.log", "b.py", "c.tmp"):
        (tmp_path / name).touch()
    text = f"*.log\n{line}\n*.tmp\n"
    for data in (text.encode(), text.replace("\n", "\r\n").encode(), text.encode() + b"\xff\n"):
        (tmp_path / ".gitignore").write_bytes(data)
        assert listing(tmp_path).paths == (".gitignore", "b.py")


def test_lines_end_where_git_ends_them(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_bytes("a\x0cb\nc\u2028a\nb".encode())
    assert listing(tmp_path).paths == (".gitignore", "a", "c")


def test_patterns_of_a_project_count_in_the_listing_of_a_folder(tmp_path: Path) -> None:
    for name in ("src/gen/a", "src/b", "src/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = listing(tmp_path / "src", ["/src/gen", "/b"], ["src/c"], above="src/")
    assert found.paths == ("b",)


@few_examples
@given(st.lists(st.text(alphabet="ab/*!?[]^-\\:. #\x00\xff", max_size=12)))
def test_no_line_ends_a_command_or_warns(lines: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec_of(lines).match_file("a/b")
