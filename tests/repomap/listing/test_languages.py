"""How much of a project is written in which language."""

from __future__ import annotations

import pytest

from cub.repomap.listing.file_kinds import FileClassifier
from cub.repomap.listing.file_listing import ListedFile
from cub.repomap.listing.languages import (
    compute_language_shares,
    detect_header_language,
    detect_language,
)

Shares = dict[str, int]


def found(sizes: dict[str, int]) -> Shares:
    kinds = FileClassifier(sizes)
    files = [ListedFile(path, size, 0, 0) for path, size in sizes.items()]
    return dict(compute_language_shares(files, kinds))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, {}),
        ({"README.md": 9}, {}),
        ({"a.py": 0}, {}),
        ({"a.py": 1}, {"Python": 100}),
        ({"a.py": 70, "b.js": 30}, {"Python": 70, "JavaScript": 30}),
        ({"a.py": 50, "b.js": 50}, {"JavaScript": 50, "Python": 50}),
        ({"a.py": 971, "b.js": 29}, {"Python": 95, "JavaScript": 5}),
        ({"a.py": 980, "b.js": 20}, {"Python": 100}),
        ({"a.py": 10, "tests/test_a.py": 10, "b.go": 20}, {"Go": 50, "Python": 50}),
        ({"a.py": 10, "vendor/b.go": 90, "dist/c.js": 90, "docs/d.js": 90}, {"Python": 100}),
        ({"a.py": 10, "b.css": 90, "c.html": 90}, {"Python": 100}),
        ({"b.css": 80, "c.html": 20}, {"CSS": 80, "HTML": 20}),
        ({"a.h": 60, "b.cc": 40}, {"C++": 100}),
        ({"a.h": 60, "b.c": 40}, {"C": 100}),
        ({"a.h": 50, "b.m": 50}, {"Objective-C": 100}),
        ({"a.h": 50}, {"C": 100}),
    ],
)
def test_shares_are_of_what_people_wrote_in_steps_of_five(sizes: Shares, expected: Shares) -> None:
    assert found(sizes) == expected
    assert list(found(sizes)) == list(expected)
    assert list(found(dict(reversed(sizes.items())))) == list(expected)


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/b.py", "Python"), ("a.d.ts", "TypeScript"), ("Makefile", ""), ("a.PY", ""), ("py", "")],
)
def test_the_ending_tells_the_language(path: str, name: str) -> None:
    language = detect_language(path)
    assert (language.name if language else "") == name


def test_headers_belong_to_most_of_the_other_files() -> None:
    assert detect_header_language(["a.h", "b.h", "c.cc"]) == "C++"
    assert detect_header_language(iter(["a.c", "b.cc"])) == "C"
