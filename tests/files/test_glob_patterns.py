from __future__ import annotations

import pytest

from cub.files.glob_patterns import compile_glob, expand_braces


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/test/*", "src/test/a", True),
        ("src/**/test/*", "src/a/b/test/c", True),
        ("src/**/test/*", "src/a/b/tests/c", False),
        ("a.?s", "a.ts", True),
        ("a.[jt]s", "a.ts", True),
        ("a.[!jt]s", "a.ts", False),
        ("{a,b/c}.{py,ts}", "b/c.ts", True),
        ("{a,{b,c}}", "c", True),
        ("{a}", "{a}", True),
        (r"\{a,b\}/\*", "{a,b}/*", True),
        (r"\{a,b\}/\*", "a/x", False),
        ("**/" * 30 + "x", "/".join("a" * 60), False),
        ("a*" * 20 + "b", "a" * 200, False),
        ("**", "a\nb/c", True),
    ],
)
def test_a_glob_pattern_matches_whole_segments(pattern: str, path: str, matches: bool) -> None:
    assert compile_glob(pattern)(path) is matches


def test_braces_stand_for_each_alternative() -> None:
    assert expand_braces(["a{b,c}d{e,f}"]) == ["abde", "abdf", "acde", "acdf"]
    assert expand_braces(["{a,{b,c}}"]) == ["a", "b", "a", "c"]
    assert len(expand_braces(["{a,b}" * 64])) <= 1000
