"""Editor pairs: each case in golden/cases/*.md is a title, an input and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it.utils import read_fixture_file

from cub.edit.document import Document, normalize_lines
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.similar_text import ReleasedBody
from cub.edit.section_writer import put_section, remove_section
from cub.errors import CubError
from tests.edit.readers import read_section
from tests.edit.strategies import BODY

CASES = Path(__file__).parents[2] / "golden" / "cases"


def _cases(name: str) -> list[tuple[str, str, str]]:
    found = read_fixture_file(CASES / f"{name}.md")
    return [(title, given, expected) for _, title, given, expected in found]


def _titles(name: str) -> dict[str, object]:
    cases = _cases(name)
    assert cases
    return {"argvalues": cases, "ids": [title for title, _, _ in cases]}


def _outcome(given: str) -> str:
    try:
        return put_section(Document(given.encode(), "AGENTS.md"), BODY, 1).document.data.decode()
    except CubError as error:
        return "\n".join([str(error), *error.details, f"hint: {error.hint}", ""])


@pytest.mark.parametrize(("title", "given", "expected"), **_titles("put"))  # type: ignore[arg-type]
def test_put(title: str, given: str, expected: str) -> None:
    assert _outcome(given) == expected, title


@pytest.mark.parametrize(("title", "given", "expected"), **_titles("refuse"))  # type: ignore[arg-type]
def test_refuse(title: str, given: str, expected: str) -> None:
    assert _outcome(given) == expected, title


@pytest.mark.parametrize(("title", "given", "expected"), **_titles("remove"))  # type: ignore[arg-type]
def test_remove(title: str, given: str, expected: str) -> None:
    document = Document(given.encode(), "AGENTS.md")
    section = read_section(document)
    assert remove_section(document, section).decode() == expected, title


def _offered(given: str) -> str:
    body = ReleasedBody(1, tuple(normalize_lines(BODY.encode())))
    document = Document(given.encode(), "AGENTS.md")
    found = list_repair_choices(document, lambda _: None, lambda: [body])
    titles = [f"{number}. {choice.title}\n" for number, choice in enumerate(found, 1)]
    return "".join([*titles, "---\n", found[0].data.decode()]) if found else ""


@pytest.mark.parametrize(("title", "given", "expected"), **_titles("unmarked"))  # type: ignore[arg-type]
def test_unmarked(title: str, given: str, expected: str) -> None:
    assert _offered(given) == expected, title
