from __future__ import annotations

from collections.abc import Callable

import pytest

from cub.tokens import estimate_tokens
from tests.benchmarks.map import chosen
from tests.benchmarks.map.chosen import Entry, Sources

FILES = {
    "big.py": "def large(): ...\n" + "# filler\n" * 99,
    "hub.py": "def used(): ...\ndef _hidden(): ...\n",
    "base.py": "def loaded(): ...\n",
    "user.py": "import base\nfrom hub import used\nclass User: ...\n",
    "tests/test_user.py": "import base\nused()\ndef test_it(): ...\n",
}


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (chosen.largest_files, "large"),
        (chosen.most_referenced, "used"),
        (chosen.most_imported, "loaded"),
    ],
)
def test_each_baseline_puts_its_own_first(
    order: Callable[[Sources], list[Entry]], first: str
) -> None:
    assert order(Sources.of(FILES))[0][1].name == first


def test_only_public_definitions_of_the_source_are_shown() -> None:
    names = {one.name for _, one in chosen.at_random(Sources.of(FILES), 1)}
    assert names == {"large", "used", "loaded", "User"}


def test_chance_is_the_same_for_the_same_seed() -> None:
    turned = dict(reversed(FILES.items()))
    assert chosen.at_random(Sources.of(turned), 3) == chosen.at_random(Sources.of(FILES), 3)
    assert len({str(chosen.at_random(Sources.of(FILES), seed)) for seed in range(9)}) > 1


@pytest.mark.parametrize("tokens", range(80))
def test_a_page_stays_within_the_budget(tokens: int) -> None:
    long = "def with_a_name_that_is_longer_than_others(): ...\ndef short(): ...\n"
    entries = chosen.largest_files(Sources.of({**FILES, "long.py": long}))
    assert estimate_tokens(chosen.page(entries, tokens)) <= tokens


def test_a_page_has_each_file_once() -> None:
    entries = chosen.most_referenced(Sources.of(FILES))
    assert chosen.page(entries, 200).count("hub.py:") == 1
