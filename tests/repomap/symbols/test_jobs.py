"""Which files are scanned, by which grammar, and which of them are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.repomap.listing.kinds import Kinds
from cub.repomap.listing.listing import File, Listing
from cub.repomap.symbols.jobs import jobs_of


def jobs(*paths: str) -> dict[str, tuple[str, bool]]:
    """By path: the grammar, and whether the file is parsed."""
    found = Listing(Path(), tuple(File(path, 1, 1, 1) for path in paths))
    kinds = Kinds(paths)
    made = jobs_of(found, kinds)
    assert all(file.path == job.path for file, job in made.items())
    return {job.path: (job.grammar, job.parsed) for job in made.values()}


@pytest.mark.parametrize(
    ("path", "job"),
    [
        ("a.py", ("python", True)),
        ("tests/test_a.py", ("python", False)),
        ("examples/a.ts", ("typescript", False)),
        ("a.tsx", ("tsx", True)),
        ("src/a.spec.js", ("javascript", False)),
    ],
)
def test_sources_are_parsed_and_their_users_are_not(path: str, job: tuple[str, bool]) -> None:
    assert jobs(path) == {path: job}


@pytest.mark.parametrize(
    "path", ["vendor/a.go", "a.min.js", "api_pb2.py", "README.md", "a.ex", "data.json", "Makefile"]
)
def test_what_is_foreign_or_has_no_grammar_is_not_scanned(path: str) -> None:
    assert jobs(path) == {}


@pytest.mark.parametrize(
    ("others", "grammar"),
    [
        (["a.c"], "c"),
        (["a.cc"], "cpp"),
        (["a.c", "b.cpp"], "c"),
        (["a.c", "b.cpp", "c.hpp"], "cpp"),
        ([], "c"),
        (["a.m", "b.m"], "c"),
        (["a.py"], "c"),
    ],
)
def test_a_header_is_read_as_what_most_of_the_other_files_are(
    others: list[str], grammar: str
) -> None:
    assert jobs("x.h", *others)["x.h"] == (grammar, True)
