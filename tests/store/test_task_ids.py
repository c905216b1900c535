from __future__ import annotations

import re
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.store.task_ids import (
    encode_letters,
    find_prefix,
    make_child_id,
    make_id,
    match_id,
    suggest_ids,
)
from tests.examples import few_examples

FORM = re.compile(r"[a-z0-9-]+-[0-9a-hjkmnp-tv-z]{5,8}")


def digest(number: int) -> bytes:
    return blake2b(str(number).encode()).digest()


@few_examples
@given(st.text() | st.text("aZé9-_. "), st.lists(st.text() | st.from_regex(FORM, fullmatch=True)))
def test_new_ids_have_one_form(name: str, others: list[str]) -> None:
    assert FORM.fullmatch(make_id(find_prefix(name, others), others, map(digest, range(9))))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("cub", "cub"),
        ("My Project", "my-project"),
        ("my_very-long.project_name", "my-very-long"),
        ("abcdefghijklmnopqrstuvw", "abcdefghijkl"),
        ("Müller & Söhne", "muller-sohne"),
        ("日本", "task"),
        ("", "task"),
        ("...", "task"),
        ("--x--", "x"),
        ("2048", "2048"),
        ("ﬁle①", "file1"),
    ],
)
def test_the_prefix_comes_from_the_folder(name: str, prefix: str) -> None:
    assert find_prefix(name, []) == prefix


@pytest.mark.parametrize(
    ("ids", "prefix"),
    [
        (["web-app-1a2b3"], "web-app"),
        (["7", "x.1", "web-12345678"], "web"),
        (["PROJ-12345"], "folder"),
        (["web-1234", "web-ilouu"], "folder"),
        (["a b-12345", "é-12345", "-12345"], "folder"),
    ],
)
def test_the_prefix_is_that_of_the_other_ids(ids: list[str], prefix: str) -> None:
    assert find_prefix("folder", ids) == prefix


def test_an_id_that_is_taken_is_not_given_again() -> None:
    first = make_id("t", [], map(digest, range(9)))
    second = make_id("t", [first], map(digest, range(9)))
    assert second != first
    assert second == make_id("t", [], map(digest, range(1, 9)))


@pytest.mark.parametrize(("count", "length"), [(0, 5), (4_999, 5), (5_000, 6), (150_000, 7)])
def test_more_tasks_have_longer_ids(count: int, length: int) -> None:
    taken = {str(number) for number in range(count)}
    assert len(make_id("t", taken, map(digest, range(9)))) == len("t-") + length


def test_letters_are_of_the_digest_alone() -> None:
    assert encode_letters(digest(1), 8).startswith(encode_letters(digest(1), 5))
    assert encode_letters(digest(1), 8) != encode_letters(digest(2), 8)


@pytest.mark.parametrize(
    ("taken", "child"),
    [
        ([], "e.1"),
        (["e.1", "e.3", "f.9"], "e.4"),
        (["e.9", "e.10", "e.x", "e.2.7", "e.²", "e.٣", "e."], "e.11"),
    ],
)
def test_children_are_numbered(taken: list[str], child: str) -> None:
    assert make_child_id("e", taken) == child


IDS = [
    "web-4k2xq",
    "web-4k2xq.1",
    "web-4k2xq.2",
    "web-4kzzz",
    "web-9ab12",
    "other",
    "web-9ab12-z1z",
]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("web-4k2xq", "web-4k2xq"),
        ("web-4k2", "web-4k2xq"),
        ("4k2xq", "web-4k2xq"),
        ("4k2", "web-4k2xq"),
        ("4K2X", "web-4k2xq"),
        ("4k2xq.", "web-4k2xq.1"),
        ("4k2xq.2", "web-4k2xq.2"),
        ("4kz", "web-4kzzz"),
        ("oth", "other"),
        ("web-9ab12", "web-9ab12"),
        ("z1z", "web-9ab12-z1z"),
    ],
)
def test_an_id_is_found_by_its_beginning(text: str, key: str) -> None:
    ids = [one for one in IDS if text != "4k2xq." or one != "web-4k2xq.2"]
    assert match_id(text, ids) == key
    assert match_id(text, dict.fromkeys(reversed(ids))) == key


def test_a_beginning_of_several_ids_names_them() -> None:
    with pytest.raises(CubError, match=r"'4k' matches 4 ids: web-4k2xq, .*\.1, .*\.2, …") as error:
        match_id("4k", IDS)
    assert error.value.hint == "type more of the id"
    with pytest.raises(CubError, match=r"matches 2 ids: a-11111\.1, a-11111\.2$"):
        match_id("a", ["a-11111.1", "a-11111.2"])


@pytest.mark.parametrize(
    ("text", "near"), [("web-4k2xp", "web-4k2xq"), ("4k2qx", "web-4k2xq"), ("othr", "other")]
)
def test_an_unknown_id_tells_those_that_are_near(text: str, near: str) -> None:
    with pytest.raises(CubError, match="there is no task") as error:
        match_id(text, IDS)
    assert error.value.hint.startswith(f"did you mean {near}")
    assert near in suggest_ids(text, [*IDS, *(f"zz-{number}" for number in range(20_000))])


@pytest.mark.parametrize("text", ["", "#", "\ud800", "nothing at all like it"])
def test_an_unknown_id_that_is_near_to_none_tells_where_to_look(text: str) -> None:
    with pytest.raises(CubError) as error:
        match_id(text, IDS)
    assert error.value.hint == "`cub task list` names all tasks"
