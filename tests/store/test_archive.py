from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.disk import Disk
from cub.store.archive import Archived, archive
from cub.store.jsonl import encode
from cub.store.ledger import Ledger
from cub.store.place import ARCHIVE, LEDGER
from tests.files.disks import die, in_child, interrupt, refuse, steps, stopping
from tests.store.events import ended
from tests.store.records import day
from tests.store.stores import names

OLD = [
    encode(ended("shut", 1)),
    encode(ended("open", 1)),
    b'{"torn',
    encode({"ev": "run_end", "ts": day(2)}),
    encode({"ev": "note"}),
    encode(ended("shut", 3)),
    encode(ended("shut", 5)),
]
MOVED = [OLD[0], OLD[3], OLD[5]]
STAY = [line for line in OLD if line not in MOVED]


def build(root: Path, end: bytes = b"\n") -> Path:
    (root / ".cub").mkdir(parents=True)
    (root / LEDGER).write_bytes(b"\n".join(OLD) + end)
    return root.resolve()


def lines(root: Path, path: str) -> list[bytes]:
    return (root / path).read_bytes().splitlines() if (root / path).exists() else []


def move(root: Path, disk: Disk | None = None, before: str = day(4)) -> Archived:
    return archive(Ledger(root, disk=disk or Disk()), before, lambda key: key == "open")


@pytest.mark.parametrize("end", [b"\n", b"", b"\r\n"])
def test_what_is_old_and_of_no_open_task_moves(tmp_path: Path, end: bytes) -> None:
    root = build(tmp_path / "p", end)
    assert move(root) == Archived(moved=3, kept=1)
    assert lines(root, ARCHIVE) == MOVED
    assert lines(root, LEDGER) == STAY
    assert move(root) == Archived(moved=0, kept=1)
    Ledger(root).append(ended("new", 6))
    assert lines(root, LEDGER)[:-1] == STAY
    assert lines(root, ARCHIVE) == MOVED


def test_a_later_archive_is_added_to_the_earlier_one(tmp_path: Path) -> None:
    root = build(tmp_path / "p", b"")
    move(root, before=day(2))
    assert lines(root, ARCHIVE) == MOVED[:1]
    assert move(root, before=day(9)) == Archived(moved=3, kept=1)
    assert lines(root, ARCHIVE) == [*MOVED, OLD[-1]]
    assert [event["task"] for event in Ledger(root, ARCHIVE).newest("shut")] == ["shut"] * 3


def test_where_nothing_is_old_nothing_is_written(tmp_path: Path) -> None:
    root = build(tmp_path / "p")
    assert move(root, before=day(1)) == Archived(0, 0)
    assert names(root) == {LEDGER}
    (tmp_path / "none").mkdir()
    assert move((tmp_path / "none").resolve()) == Archived(0, 0)
    assert names(tmp_path / "none") == set()


def nothing_lost(root: Path) -> None:
    """Each line is in one of the two at least, and after the next time in one of them alone."""
    assert set(OLD) == set(lines(root, ARCHIVE)) - {b""} | set(lines(root, LEDGER))
    move(root)
    assert lines(root, LEDGER) == STAY
    assert [line for line in lines(root, ARCHIVE) if line in OLD] == MOVED
    assert names(root) == {LEDGER, ARCHIVE}


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
        torn = [line for line in lines(root, ARCHIVE) if line not in OLD]
        assert all(any(line.startswith(one) for line in OLD) for one in torn)
        move(root)
        assert lines(root, LEDGER) == STAY
        assert [line for line in lines(root, ARCHIVE) if line in OLD] == MOVED
        assert names(root) == {LEDGER, ARCHIVE}
