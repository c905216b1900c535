from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError, InternalError
from cub.files.disk import Disk
from cub.files.lock import lock_project
from cub.store.events import MAX_LINE
from cub.store.jsonl import encode_record
from cub.store.jsonl_append import append_lines
from cub.store.ledger import ArchiveResult, Ledger, encode_json_text, move_to_archive
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE
from tests.examples import few_examples
from tests.files.disks import die, in_child, interrupt, refuse, steps, stopping
from tests.store.events import ended
from tests.store.records import TEXTS, day
from tests.store.stores import names

OLD = [
    encode_record(ended("shut", 1)),
    encode_record(ended("open", 1)),
    b'{"torn',
    encode_record({"ev": "run_end", "ts": day(2)}),
    encode_record({"ev": "note"}),
    encode_record(ended("shut", 3)),
    encode_record(ended("shut", 5)),
]
MOVED = [OLD[0], OLD[3], OLD[5]]
STAY = [line for line in OLD if line not in MOVED]


def build(root: Path, end: bytes = b"\n") -> Path:
    (root / ".cub").mkdir(parents=True)
    (root / LEDGER_FILE).write_bytes(b"\n".join(OLD) + end)
    return root.resolve()


def lines(root: Path, path: str) -> list[bytes]:
    return (root / path).read_bytes().splitlines() if (root / path).exists() else []


def move(root: Path, disk: Disk | None = None, before: str = day(4)) -> ArchiveResult:
    return move_to_archive(Ledger(root, disk=disk or Disk()), before, lambda key: key == "open")


@pytest.mark.parametrize("end", [b"\n", b"", b"\r\n"])
def test_what_is_old_and_of_no_open_task_moves(tmp_path: Path, end: bytes) -> None:
    root = build(tmp_path / "p", end)
    assert move(root) == ArchiveResult(moved_count=3, kept_count=1)
    assert lines(root, ARCHIVE_FILE) == MOVED
    assert lines(root, LEDGER_FILE) == STAY
    assert move(root) == ArchiveResult(moved_count=0, kept_count=1)
    Ledger(root).append_events(ended("new", 6))
    assert lines(root, LEDGER_FILE)[:-1] == STAY
    assert lines(root, ARCHIVE_FILE) == MOVED


def test_a_later_archive_is_added_to_the_earlier_one(tmp_path: Path) -> None:
    root = build(tmp_path / "p", b"")
    move(root, before=day(2))
    assert lines(root, ARCHIVE_FILE) == MOVED[:1]
    assert move(root, before=day(9)) == ArchiveResult(moved_count=3, kept_count=1)
    assert lines(root, ARCHIVE_FILE) == [*MOVED, OLD[-1]]
    assert [event["task"] for event in Ledger(root, ARCHIVE_FILE).iter_task_events("shut")] == [
        "shut"
    ] * 3


def test_where_nothing_is_old_nothing_is_written(tmp_path: Path) -> None:
    root = build(tmp_path / "p")
    assert move(root, before=day(1)) == ArchiveResult(0, 0)
    assert names(root) == {LEDGER_FILE}
    (tmp_path / "none").mkdir()
    assert move((tmp_path / "none").resolve()) == ArchiveResult(0, 0)
    assert names(tmp_path / "none") == set()


def nothing_lost(root: Path) -> None:
    """Each line is in one of the two at least, and after the next time in one of them alone."""
    assert set(OLD) == set(lines(root, ARCHIVE_FILE)) - {b""} | set(lines(root, LEDGER_FILE))
    move(root)
    assert lines(root, LEDGER_FILE) == STAY
    assert [line for line in lines(root, ARCHIVE_FILE) if line in OLD] == MOVED
    assert names(root) == {LEDGER_FILE, ARCHIVE_FILE}


@pytest.mark.parametrize("stop", [refuse, interrupt], ids=["refused", "interrupted"])
def test_an_error_between_the_two_writes_loses_nothing(
    scratch: Path, stop: Callable[[Path], None]
) -> None:
    count = len(steps(lambda disk: move(build(scratch / "calm"), disk)))
    for number in range(1, count + 1):
        root = build(scratch / str(number))
        # The last step syncs the folder: both files are written by then, and no error tells so.
        done = number == count and stop is refuse
        with nullcontext() if done else pytest.raises((CubError, KeyboardInterrupt)):
            move(root, stopping({number: stop}))
        nothing_lost(root)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_death_at_any_step_loses_nothing(scratch: Path) -> None:
    chunk = 50
    count = len(steps(lambda disk: move(build(scratch / "calm"), disk), chunk))
    for number in range(1, count + 1):
        root = build(scratch / str(number))
        assert in_child(lambda: move(root, stopping({number: die}, chunk))) == 9  # noqa: B023
        torn = [line for line in lines(root, ARCHIVE_FILE) if line not in OLD]
        assert all(any(line.startswith(one) for line in OLD) for one in torn)
        move(root)
        assert lines(root, LEDGER_FILE) == STAY
        assert [line for line in lines(root, ARCHIVE_FILE) if line in OLD] == MOVED
        assert names(root) == {LEDGER_FILE, ARCHIVE_FILE}


SECRET = "sk-proj-" + "a1B2" * 10


def ledger_build(root: Path, data: bytes = b"") -> Ledger:
    (root / ".cub").mkdir(parents=True)
    if data:
        (root / LEDGER_FILE).write_bytes(data)
    return Ledger(root.resolve())


def stored(ledger: Ledger) -> bytes:
    return (ledger.root / ledger.path).read_bytes()


def test_events_come_back_in_their_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path.resolve())
    assert list(ledger.iter_events()) == []
    ledger.append_events()
    assert names(tmp_path) == set()
    ledger.append_events(ended("a"), ended("b"))
    ledger.append_events(ended("c"))
    assert [event["task"] for event in ledger.iter_events()] == ["a", "b", "c"]
    assert all(event["v"] == 1 for event in ledger.iter_events())
    assert names(tmp_path) == {LEDGER_FILE}


def test_secrets_are_masked_before_they_are_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path.resolve())
    ledger.append_events(ended(note=f"export OPENAI_API_KEY={SECRET}", checks=[{"tail": SECRET}]))
    assert SECRET.encode() not in stored(ledger)
    assert stored(ledger).count(b"[masked]") == 2


def test_every_line_is_short_and_on_disk(tmp_path: Path) -> None:
    taken = steps(
        lambda disk: Ledger(tmp_path.resolve(), disk=disk).append_events(ended(x="\0" * 9999))
    )
    assert [name for name, _ in taken][-2:] == ["fsync", "fsync"]
    assert len((tmp_path / LEDGER_FILE).read_bytes()) <= MAX_LINE
    taken = steps(lambda disk: Ledger(tmp_path.resolve(), disk=disk).append_events(ended()))
    assert [name for name, _ in taken] == ["write", "fsync"]


@pytest.mark.parametrize("torn", [b'{"ev":"attempt_end","ta', b"\xff\xfe", b'{"ev":"x"}', b"[1]"])
def test_a_torn_last_line_costs_itself_alone(tmp_path: Path, torn: bytes) -> None:
    ledger = ledger_build(tmp_path, encode_record(ended("a")) + b"\n" + torn)
    ledger.append_events(ended("b"))
    assert stored(ledger).split(b"\n")[1] == torn
    assert [event.get("task") for event in ledger.iter_events() if "task" in event] == ["a", "b"]
    assert [event["task"] for event in ledger.iter_task_events("b")] == ["b"]


def test_an_error_at_any_step_leaves_the_old_file(scratch: Path) -> None:
    old = encode_record(ended("a")) + b"\n"

    def append(root: Path, number: int) -> None:
        Ledger(root, disk=stopping({number: refuse}, chunk=30)).append_events(ended("b"))

    for number in range(1, 5):
        ledger = ledger_build(scratch / str(number), old)
        with pytest.raises(CubError, match="no space left") as error:
            append(ledger.root, number)
        assert error.value.where == LEDGER_FILE
        assert stored(ledger) == old, number
        fresh = ledger_build(scratch / f"new {number}")
        with pytest.raises(CubError):
            append(fresh.root, number)
        assert names(fresh.root) == set(), number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("old", [b"", encode_record(ended("a")) + b"\n"], ids=["new", "old"])
def test_a_death_at_any_step_costs_at_most_what_was_written(scratch: Path, old: bytes) -> None:
    for number in range(1, 6):
        ledger = ledger_build(scratch / str(number), old)
        dying = Ledger(ledger.root, disk=stopping({number: die}, chunk=30))
        in_child(lambda: dying.append_events(ended("b")))  # noqa: B023 - runs at once
        ledger.append_events(ended("c"))
        found = [event["task"] for event in ledger.iter_events()]
        assert found in (["a", "c"][not old :], ["a", "b", "c"][not old :]), number


def test_a_read_only_ledger_stays_as_it_is(tmp_path: Path) -> None:
    ledger = ledger_build(tmp_path, b"{}\n")
    (tmp_path / LEDGER_FILE).chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        ledger.append_events(ended())
    assert stored(ledger) == b"{}\n"


def newest(ledger: Ledger, *task: Any) -> list[int]:
    return [event["n"] for event in ledger.iter_task_events(*task)]


def test_the_newest_events_of_a_task_come_first(tmp_path: Path) -> None:
    ledger = ledger_build(tmp_path)
    assert newest(ledger, "a") == []
    kinds = ["attempt_start", "attempt_end", "attempt_end"]
    ledger.append_events(
        *({"ev": ev, "task": key, "n": n} for n, ev in enumerate(kinds) for key in "ab")
    )
    assert newest(ledger, "a") == [2, 1]
    assert newest(ledger, "a", ("attempt_start", "attempt_end")) == [2, 1, 0]
    assert newest(ledger, "c") == []
    assert next(ledger.iter_task_events("b"))["n"] == 2


@pytest.mark.parametrize("end", [b"\n", b"", b"\r\n", b"\n\n"])
def test_the_last_line_counts_with_and_without_its_end(tmp_path: Path, end: bytes) -> None:
    lines = [encode_record(ended("a", n=number)) for number in range(3)]
    assert newest(ledger_build(tmp_path, b"\n".join(lines) + end), "a") == [2, 1, 0]


def test_an_empty_ledger_has_no_events(tmp_path: Path) -> None:
    ledger = ledger_build(tmp_path)
    (tmp_path / LEDGER_FILE).write_bytes(b"")
    assert (newest(ledger, "a"), list(ledger.iter_events())) == ([], [])


def test_an_id_in_another_text_is_not_a_tasks(tmp_path: Path) -> None:
    ledger = ledger_build(tmp_path)
    ledger.append_events(
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
        assert all(
            encode_json_text(key) in encode_record(line) for line in lines if line["task"] == key
        )


@pytest.mark.parametrize("key", ["é", "a\nb", '"', "\\", "\u2028", "\0", "\ud800", "é\ud800", ""])
@pytest.mark.parametrize("note", ["", "\ud83d"])
def test_odd_ids_are_found(tmp_path: Path, key: str, note: str) -> None:
    ledger = ledger_build(tmp_path)
    ledger.append_events(ended(key, n=1, note=note), ended("other", n=2), ended(key, n=3))
    assert newest(ledger, key) == [3, 1]


def test_a_folder_in_the_place_of_the_ledger_is_an_error(tmp_path: Path) -> None:
    (tmp_path / LEDGER_FILE).mkdir(parents=True)
    with pytest.raises(CubError, match="this is a directory"):
        list(Ledger(tmp_path.resolve()).iter_events())


def test_an_event_that_is_still_being_written_is_told_once_it_is_whole(tmp_path: Path) -> None:
    first, second = (encode_record(ended("a", n=number)) for number in (1, 2))
    ledger = ledger_build(tmp_path, first + b"\n" + second[:9])
    told = ledger.follow(9)
    assert [next(told), next(told)] == [ended("a", n=1), None]
    (ledger.root / LEDGER_FILE).write_bytes(first + b"\n" + second + b"\n")
    assert [next(told), next(told)] == [ended("a", n=2), None]


def test_lines_are_appended_under_the_lock(tmp_path: Path) -> None:
    ledger = ledger_build(tmp_path)
    with lock_project(ledger.root) as held:
        append_lines(held, LEDGER_FILE, [b"1"], Disk())
    with pytest.raises(InternalError):
        append_lines(held, LEDGER_FILE, [b"2"], Disk())
    assert stored(ledger) == b"1\n"
