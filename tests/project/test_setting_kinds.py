from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.project.setting_kinds import describe_template_words, fill_template, find_template_problem

WORDS = {"run": "r-1", "epic": "{run}"}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("", ""),
        ("plain", "plain"),
        ("cub/{run}", "cub/r-1"),
        ("{run}{run}", "r-1r-1"),
        ("{epic}", "{run}"),  # what is put in is not read again
        ("{{run}}", "{run}"),
        ("{{{run}}}", "{r-1}"),
        ("}}{{", "}{"),
    ],
)
def test_names_in_braces_are_filled_in(template: str, filled: str) -> None:
    assert fill_template(template, WORDS) == filled


@pytest.mark.parametrize(
    "template",
    [
        "{run:>2000000000}",
        "{run!r}",
        "{run.__class__}",
        "{run[0]}",
        "{0}",
        "{}",
        "{ run }",
        "{date}",
        "{",
        "}",
        "{run",
        "run}",
        "{{run}",
        "{run}}",
        "{{{run}}",
        "{r\u00fcn}",
        "x" * 1001,
    ],
)
def test_all_else_in_braces_is_refused(template: str) -> None:
    assert find_template_problem(template, tuple(WORDS))
    with pytest.raises(ValueError, match=r"unknown placeholder|longer than"):
        fill_template(template, WORDS)


@given(st.text(alphabet="{}:!.[]" + string.ascii_lowercase[:4], max_size=12))
def test_what_is_taken_is_what_format_makes_of_it(template: str) -> None:
    words = {"a": "1", "ab": "2"}
    if not find_template_problem(template, tuple(words)):
        assert fill_template(template, words) == template.format_map(words)


def test_a_hint_names_the_words() -> None:
    assert describe_template_words(("a", "b", "c")).startswith("choose from {a}, {b}, or {c};")
