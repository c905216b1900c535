from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.claims import PAGES, list_sentences, read_claims

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "cub"
_MEASURED = re.compile(r"measured 20\d\d-\d\d")
_FEWEST_CLAIMS = 50
# `socket` for servers on the loopback address, and for sockets among the files that agents leave.
_NETWORK = {"httpx2", "urllib.request", "http.client", "requests"}


@pytest.mark.parametrize("page", PAGES)
def test_each_sentence_of_the_page_is_in_the_list(page: str) -> None:
    listed, sentences = read_claims()[page], list(list_sentences(page))
    assert [text for text in sentences if text not in listed] == [], "name the test of each"
    assert [text for text in listed if text not in sentences] == [], "the page says this no more"


def test_each_claim_is_held_by_a_test_that_exists() -> None:
    claims = [test for tests in read_claims().values() for test in tests.values() if test]
    assert len(claims) >= _FEWEST_CLAIMS
    named = {test for test in claims if not _MEASURED.fullmatch(test)}
    assert {test for test in named if not _exists(test)} == set()


def _exists(test: str) -> bool:
    name, _, function = test.partition("::")
    text = (TESTS / name).read_text(encoding="utf-8") if (TESTS / name).is_file() else ""
    return bool(re.search(rf"^(async )?def test_{re.escape(function)}\(", text, re.MULTILINE))


def test_a_claim_without_its_test_is_noticed() -> None:
    assert _exists("docs/test_claims.py::a_claim_without_its_test_is_noticed")
    assert not _exists("docs/test_claims.py::a_claim")
    assert not _exists("docs/test_nothing.py::a_claim")


def test_only_the_built_in_agent_and_its_tools_use_the_network() -> None:
    users = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if _uses(path)}
    assert users == {"agent"}


def _uses(path: Path) -> bool:
    """Return whether a module imports a library that asks servers."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name != "url2pathname":
            names.add(node.module or "")
    return any(name in _NETWORK or name.split(".")[0] in _NETWORK for name in names)


def test_cub_asks_git_for_no_push() -> None:
    words = re.compile(r"[\"']push[\"']")
    assert [
        path.name for path in PACKAGE.rglob("*.py") if words.search(path.read_text("utf-8"))
    ] == []
