"""Whether a task's text names a file or a test."""

from __future__ import annotations

import pytest

from cub.actions.run.task_text import mentions_path, mentions_test


@pytest.mark.parametrize(
    ("text", "path", "is_named"),
    [
        ("Shorten AGENTS.md.", "AGENTS.md", True),
        ("shorten `./agents.md`", "AGENTS.md", True),
        ("Delete tests/test_cart.py", "tests/test_cart.py", True),
        ("Delete test_cart.py::test_add", "tests/test_cart.py", True),
        ("Delete tests\\test_cart.py, it is old", "tests/test_cart.py", True),
        ("fix docs/AGENTS.md", "docs/AGENTS.md", True),
        ("fix docs/AGENTS.md", "AGENTS.md", False),
        ("fix AGENTS.md", "docs/AGENTS.md", True),
        ("see AGENTS.md.orig and MY-AGENTS.md", "AGENTS.md", False),
        ("tidy the folder tests/", "tests/test_cart.py", False),
        ("set it in .cub/config.yaml", ".cub/config.yaml", True),
        ("(my notes.md)", "docs/my notes.md", True),
        ("", "AGENTS.md", False),
    ],
)
def test_a_file_is_named_by_the_end_of_its_path(text: str, path: str, is_named: bool) -> None:
    for task in ({"title": text}, {"description": text}, {"acceptance_criteria": ["", text]}):
        assert mentions_path(task, path) is is_named


@pytest.mark.parametrize(
    ("text", "name", "is_named"),
    [
        ("Remove test_tax, there is none", "test_tax", True),
        ("drop `TestTax`", "TestTax", True),
        ("Drop ShopTest::testTax()", "testTax", True),
        ('skip "adds the tax" for now', "adds the tax", True),
        ("Remove test_tax_free", "test_tax", False),
        ("Remove the function tax", "test_tax", False),
        ("Remove what adds", "adds", False),
        ("Remove the test", "test", False),
    ],
)
def test_a_test_is_named_in_full(text: str, name: str, is_named: bool) -> None:
    assert mentions_test({"title": text}, name) is is_named


def test_notes_and_odd_values_name_nothing() -> None:
    task = {
        "title": None,
        "acceptance_criteria": [3],
        "notes": "AGENTS.md",
        "checks": ["AGENTS.md"],
    }
    assert not mentions_path(task, "AGENTS.md")
