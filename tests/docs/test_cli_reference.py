from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.cli_reference import render

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
REMEDY = "python -m tests.docs.cli_reference > docs/reference/cli.md"


def test_the_page_is_what_the_app_says() -> None:
    written = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    assert written == render(), f"docs/reference/cli.md is out of date; rewrite it with: {REMEDY}"


@pytest.mark.parametrize(
    "environment",
    [{"COLUMNS": "30"}, {"NO_COLOR": "1", "TERM": "dumb"}, {"FORCE_COLOR": "1"}],
)
def test_the_terminal_has_no_say(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = render()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert render() == before


def test_every_line_is_short() -> None:
    assert max(map(len, render().splitlines())) < 100
