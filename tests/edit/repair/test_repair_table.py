"""Every break with every kind of digest, and what is offered: the table in the reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from itertools import groupby, product
from pathlib import Path

import pytest

from cub.edit.document import Document
from cub.edit.repair.marker_choices import list_repair_choices
from cub.errors import CubError
from tests.edit.broken import BREAKS, DIGESTS, Digest, broken, recognize

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "repair.md"
HAND = "manually"
_PLACE = re.compile(r"lines? \d+(?:(?:-| and )\d+)?")


def offered(name: str, kind: Digest) -> tuple[str, ...]:
    """The titles, with letters for line numbers; the reason where a person has to do it."""
    try:
        found = list_repair_choices(Document(broken(name, kind), "AGENTS.md"), recognize)
    except CubError as error:
        return (error.message.replace("this conflict must be resolved ", ""),)
    return lettered([choice.title for choice in found])


def lettered(titles: Sequence[str]) -> tuple[str, ...]:
    """Line numbers as A, B, C, in the order of the file; numbers of markers as they are."""
    places = [part for title in titles for part in _PLACE.findall(title)]
    numbers = sorted({int(number) for place in places for number in re.findall(r"\d+", place)})
    names = {str(number): chr(ord("A") + n) for n, number in enumerate(numbers)}

    def named(place: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: names[number[0]], place[0])

    return tuple(_PLACE.sub(named, title) for title in titles)


@cache
def table() -> list[str]:
    """The rows of the reference; digests for which the same is offered share one."""
    rows = []
    for name in BREAKS:
        for titles, kinds in groupby(DIGESTS, partial(offered, name)):
            cell = "<br>".join(f"{n}. {t}" for n, t in enumerate(titles, 1))
            words = titles[0] if titles and titles[0].startswith(HAND) else cell or "nothing"
            rows.append(f"| {name} | {', '.join(kinds)} | {words} |")
    return rows


def written() -> list[str]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| Found | Digest | Offered |") + 2
    return [line for line in lines[start:] if line.startswith("| ")][: len(table())]


def test_the_reference_has_the_table() -> None:
    assert written() == table(), "\n".join(["docs/reference/repair.md should say:", *table()])


@pytest.mark.parametrize("name", BREAKS)
def test_every_kind_of_digest_is_in_the_table_once(name: str) -> None:
    rows = [line.strip("| ").split(" | ") for line in written()]
    kinds = [kind for found, digests, _ in rows if found == name for kind in digests.split(", ")]
    assert kinds == list(DIGESTS)


@pytest.mark.parametrize(("name", "kind"), list(product(BREAKS, DIGESTS)))
def test_titles_are_short_and_differ(name: str, kind: Digest) -> None:
    titles = offered(name, kind)
    assert len(set(titles)) == len(titles) <= 9
    assert max(map(len, titles), default=0) <= 90


if __name__ == "__main__":
    print("\n".join(table()))  # noqa: T201 - to be put into the reference
