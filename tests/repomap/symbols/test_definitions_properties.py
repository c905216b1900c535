"""Whatever is in a file, it costs nobody else anything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cub.repomap.symbols.definitions import find_definitions
from cub.repomap.symbols.file_facts import Definition
from tests.examples import limit_examples
from tests.repomap.grammar_names import GRAMMAR_NAMES
from tests.repomap.symbols.test_definitions import CASES

SOURCES = {
    language: b"".join(str(case.values[1]).encode() for case in CASES if case.values[0] == language)
    for language in GRAMMAR_NAMES
}
NASTY = st.sampled_from(
    [
        b"\0",
        b"\xff",
        b"\r",
        b"\n",
        b"{",
        b"}",
        b"(",
        b")",
        b'"',
        b"'",
        b"<",
        b"\x1b[2J",
        b"\xe2\x80\xae",
    ]
)

_FEW = min(100, settings().max_examples)  # for each of many languages


def check(found: tuple[Definition, ...] | None, data: bytes) -> None:
    last = data.count(b"\n") + 1
    for one in found or ():
        assert 1 <= one.line <= last
        assert one.name
        assert one.signature
        assert len(one.signature) <= max(160, len(one.name) + 1)
        assert (one.name + one.signature + one.member_of).isprintable()
    assert found == tuple(sorted(found or (), key=lambda one: one.line)) or found is None


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
@settings(max_examples=_FEW)
@given(data=st.binary(max_size=300))
def test_any_bytes_give_an_answer(language: str, data: bytes) -> None:
    check(find_definitions(language, data), data)


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
@limit_examples(40)  # for each of many languages, and a language's whole sample each
@given(
    cuts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    inserted=st.lists(st.tuples(st.floats(0, 1), NASTY), max_size=8),
)
def test_any_damage_gives_an_answer(
    language: str, cuts: tuple[float, float], inserted: list[tuple[float, bytes]]
) -> None:
    data = SOURCES[language]
    start, end = sorted(int(cut * len(data)) for cut in cuts)
    data = data[:start] + data[end:]
    for place, piece in inserted:
        at = int(place * len(data))
        data = data[:at] + piece + data[at:]
    found = find_definitions(language, data)
    check(found, data)
    assert find_definitions(language, data) == found


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
def test_a_sample_of_each_language_is_not_empty(language: str) -> None:
    assert SOURCES[language]
    assert find_definitions(language, SOURCES[language])
