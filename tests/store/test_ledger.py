from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError, InternalError
from cub.files import exclusive
from cub.files.disk import Disk
from cub.store.appending import append
from cub.store.events import LINE
from cub.store.jsonl import encode
from cub.store.ledger import Ledger, encode_text
from cub.store.place import LEDGER
from tests.examples import few_examples
from tests.files.disks import die, in_child, refuse, steps, stopping
from tests.store.events import ended
from tests.store.records import TEXTS
from tests.store.stores import names

SECRET = "sk-proj-" + "a1B2" * 10


def build(root: Path, data: bytes = b"") -> Ledger:
    (root / ".cub").mkdir(parents=True)
    if data:
        (root / LEDGER).write_bytes(data)
    return Ledger(root.resolve())


def stored(ledger: Ledger) -> bytes:
    return (ledger.root / ledger.path).read_bytes()


def test_events_come_back_in_their_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path.resolve())
    assert list(ledger.events()) == []
    ledger.append()
    assert names(tmp_path) == set()
    ledger.append(ended("a"), ended("b"))
    ledger.append(ended("c"))
    assert [event["task"] for event in ledger.events()] == ["a", "b", "c"]
    assert all(event["v"] == 1 for event in ledger.events())
    assert names(tmp_path) == {LEDGER}


def test_secrets_are_masked_before_they_are_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path.resolve())
    ledger.append(ended(note=f"export OPENAI_API_KEY={SECRET}", checks=[{"tail": SECRET}]))
    assert SECRET.encode() not in stored(ledger)
    assert stored(ledger).count(b"[masked]") == 2


def test_every_line_is_short_and_on_disk(tmp_path: Path) -> None:
    taken = steps(lambda disk: Ledger(tmp_path.resolve(), disk=disk).append(ended(x="\0" * 9999)))
    assert [name for name, _ in taken][-2:] == ["fsync", "fsync"]
    assert len((tmp_path / LEDGER).read_bytes()) <= LINE
    taken = steps(lambda disk: Ledger(tmp_path.resolve(), disk=disk).append(ended()))
    assert [name for name, _ in taken] == ["write", "fsync"]


@pytest.mark.parametrize("torn", [b'{"ev":"attempt_end","ta', b"\xff\xfe", b'{"ev":"x"}', b"[1]"])
def test_a_torn_last_line_costs_itself_alone(tmp_path: Path, torn: bytes) -> None:
    ledger = build(tmp_path, encode(ended("a")) + b"\n" + torn)
    ledger.append(ended("b"))
    assert stored(ledger).split(b"\n")[1] == torn
    assert [event.get("task") for event in ledger.events() if "task" in event] == ["a", "b"]
    assert [event["task"] for event in ledger.newest("b")] == ["b"]


def test_an_error_at_any_step_leaves_the_old_file(scratch: Path) -> None:
    old = encode(ended("a")) + b"\n"

    def append(root: Path, number: int) -> None:
        Ledger(root, disk=stopping({number: refuse}, chunk=30)).append(ended("b"))

    for number in range(1, 5):
        ledger = build(scratch / str(number), old)
        with pytest.raises(CubError, match="no space left") as error:
            append(ledger.root, number)
        assert error.value.where == LEDGER
        assert stored(ledger) == old, number
        fresh = build(scratch / f"new {number}")
        with pytest.raises(CubError):
            append(fresh.root, number)
        assert names(fresh.root) == set(), number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("old", [b"", encode(ended("a")) + b"\n"], ids=["new", "old"])
def test_a_death_at_any_step_costs_at_most_what_was_written(scratch: Path, old: bytes) -> None:
    for number in range(1, 6):
        ledger = build(scratch / str(number), old)
        dying = Ledger(ledger.root, disk=stopping({number: die}, chunk=30))
        in_child(lambda: dying.append(ended("b")))  # noqa: B023 - runs at once
        ledger.append(ended("c"))
        found = [event["task"] for event in ledger.events()]
        assert found in (["a", "c"][not old :], ["a", "b", "c"][not old :]), number


def test_a_read_only_ledger_stays_as_it_is(tmp_path: Path) -> None:
    ledger = build(tmp_path, b"{}\n")
    (tmp_path / LEDGER).chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        ledger.append(ended())
    assert stored(ledger) == b"{}\n"


def newest(ledger: Ledger, *task: Any) -> list[int]:
    return [event["n"] for event in ledger.newest(*task)]


def test_the_newest_events_of_a_task_come_first(tmp_path: Path) -> None:
    ledger = build(tmp_path)
    assert newest(ledger, "a") == []
    kinds = ["attempt_start", "attempt_end", "attempt_end"]
    ledger.append(*({"ev": ev, "task": key, "n": n} for n, ev in enumerate(kinds) for key in "ab"))
    assert newest(ledger, "a") == [2, 1]
    assert newest(ledger, "a", ("attempt_start", "attempt_end")) == [2, 1, 0]
    assert newest(ledger, "c") == []
    assert next(ledger.newest("b"))["n"] == 2


@pytest.mark.parametrize("end", [b"\n", b"", b"\r\n", b"\n\n"])
def test_the_last_line_counts_with_and_without_its_end(tmp_path: Path, end: bytes) -> None:
    lines = [encode(ended("a", n=number)) for number in range(3)]
    assert newest(build(tmp_path, b"\n".join(lines) + end), "a") == [2, 1, 0]


def test_an_empty_ledger_has_no_events(tmp_path: Path) -> None:
    ledger = build(tmp_path)
    (tmp_path / LEDGER).write_bytes(b"")
    assert (newest(ledger, "a"), list(ledger.events())) == ([], [])


def test_an_id_in_another_text_is_not_a_tasks(tmp_path: Path) -> None:
    ledger = build(tmp_path)
    ledger.append(
        ended("a", n=1),
        ended("b", n=2, note='"a"', obs=["a", "a"], a="a"),
        ended("a", n=3, trailer={"task": "b"}),
        ended("aa", n=4),
        {"ev": "attempt_end", "task": ["a"], "n": 5},
    )
    assert newest(ledger, "a") == [3, 1]
    assert newest(ledger, "b") == [2]


@few_examples
@given(st.lists(TEXTS | st.text(max_size=3), min_size=1, max_size=4), st.booleans())
def test_ids_of_any_letters_are_found(keys: list[str], odd: bool) -> None:
    """Also in a line with half a letter, which JSON has to say in its own way."""
    lines = [ended(key, n=n, note="\ud83d" if odd else "") for n, key in enumerate(keys)]
    for key in keys:
        assert all(encode_text(key) in encode(line) for line in lines if line["task"] == key)


@pytest.mark.parametrize("key", ["é", "a\nb", '"', "\\", "\u2028", "\0", "\ud800", "é\ud800", ""])
@pytest.mark.parametrize("note", ["", "\ud83d"])
def test_odd_ids_are_found(tmp_path: Path, key: str, note: str) -> None:
    ledger = build(tmp_path)
    ledger.append(ended(key, n=1, note=note), ended("other", n=2), ended(key, n=3))
    assert newest(ledger, key) == [3, 1]


def test_a_folder_in_the_place_of_the_ledger_is_an_error(tmp_path: Path) -> None:
    (tmp_path / LEDGER).mkdir(parents=True)
    with pytest.raises(CubError, match="this is a folder"):
        list(Ledger(tmp_path.resolve()).events())


def test_an_event_that_is_still_being_written_is_told_once_it_is_whole(tmp_path: Path) -> None:
    first, second = (encode(ended("a", n=number)) for number in (1, 2))
    ledger = build(tmp_path, first + b"\n" + second[:9])
    told = ledger.follow(9)
    assert [next(told), next(told)] == [ended("a", n=1), None]
    (ledger.root / LEDGER).write_bytes(first + b"\n" + second + b"\n")
    assert [next(told), next(told)] == [ended("a", n=2), None]


def test_lines_are_appended_under_the_lock(tmp_path: Path) -> None:
    ledger = build(tmp_path)
    with exclusive(ledger.root) as held:
        append(held, LEDGER, [b"1"], Disk())
    with pytest.raises(InternalError):
        append(held, LEDGER, [b"2"], Disk())
    assert stored(ledger) == b"1\n"
