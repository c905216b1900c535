"""A parse ends, whatever it is given."""

from __future__ import annotations

import pytest

from cub.repomap.symbols.bounded_parser import (
    BoundedParse,
    has_long_sign_run,
    is_nested_too_deep,
    parse_bounded,
)
from cub.repomap.symbols.definitions import find_definitions
from cub.repomap.symbols.grammars import load_grammar
from tests.repomap.grammar_names import GRAMMAR_NAMES, make_sample

HOSTILE = [
    b"(", b"[", b"{", b"<", b"a<", b'"', b"'", b"`", b"-", b"a,", b"if ", b"%w(", b'r#"', b"/*",
    b"\\", b"\0", b"\xff", b"a{", b"f(", b"<<A\n",
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "size"),
    [
        *((language, 2_000) for language in GRAMMAR_NAMES),
        ("python", 20_000),
        *(
            pytest.param(language, 20_000, marks=pytest.mark.thorough)
            for language in GRAMMAR_NAMES
            if language != "python"
        ),
    ],
)
def test_each_language_answers_to_hostile_repetition(language: str, size: int) -> None:
    for piece in HOSTILE:
        find_definitions(language, piece * (size // len(piece)))


@pytest.mark.parametrize(
    ("language", "piece"),
    [("java", b"await=> "), ("python", b"/* # )end\n"), ("cpp", b"^\n&a=>"), ("c", b"?>when\n")],
)
def test_a_lost_parser_does_not_try_all_combinations(language: str, piece: bytes) -> None:
    """Without a guard, each of these takes more than a gigabyte."""
    known = load_grammar(language)
    assert known is not None
    data = piece * (30_000 // len(piece))
    run = BoundedParse(data, known.sentinel)
    tree = run.parse(known.parser)
    assert run.is_lost == (tree is None)
    if tree is None:
        assert parse_bounded(known.parser, data, known.sentinel) is None


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
def test_the_end_of_an_honest_file_is_read_as_easily_as_that_of_an_empty_one(language: str) -> None:
    known = load_grammar(language)
    assert known is not None
    run = BoundedParse(make_sample(language, 4_000), known.sentinel)
    assert run.parse(known.parser) is not None
    assert len(run.marks) == 4


@pytest.mark.parametrize(
    ("data", "deep"),
    [
        (b"(" * 100 + b")" * 100, False),
        (b"(" * 300 + b")" * 300, True),
        (b"[" * 1_000_000, True),
        (b"f(a[0]);\n" * 1_000, False),
        (b'puts("(");\n' * 1_000, False),
        (b"a) x;;\n" * 1_000, False),
        (b"a < b;\n" * 1_000, False),
        (b"a<" * 1_000, True),
        (b"Map<Map<int>>" * 1_000, False),
    ],
)
def test_nesting_is_counted_without_a_parser(data: bytes, *, deep: bool) -> None:
    assert is_nested_too_deep(data) is deep


def test_long_runs_of_signs_are_no_program() -> None:
    assert has_long_sign_run(b"a = 1\n" + b"- " * 6_000)
    assert not has_long_sign_run(b"a - b;\n" * 6_000)


def test_a_program_is_parsed_after_one_that_was_given_up() -> None:
    assert find_definitions("python", b"a, " * 20_000 + b"(" * 300) is None
    assert [one.name for one in find_definitions("python", b"def f(): ...\n") or ()] == ["f"]
