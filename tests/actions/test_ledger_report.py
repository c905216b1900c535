"""Tasks and attempts are counted from whatever lines are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cub.actions.ledger_report import (
    archive_old_events,
    count_attempts,
    count_project_health,
    list_newest_attempts,
    read_task_history,
)
from cub.actions.tasks.transitions import claim_task, close_tasks
from cub.errors import CubError, UsageError
from cub.files.file_tree import DiskTree
from cub.store.events import ATTEMPT_START, Event
from cub.store.ledger import Ledger
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE, TASKS_FILE
from tests.actions.helpers import write
from tests.actions.tasks.bakery import added, epic, opened
from tests.store.events import ended
from tests.store.records import day

NOTHING: dict[str, dict[str, int]] = {"tasks": {}, "attempts": {}}


def of(root: Path, path: str, data: bytes) -> dict[str, dict[str, int]]:
    write(root, path, "").write_bytes(data)
    return count_project_health(DiskTree(root))


def test_without_stores_there_is_nothing(tmp_path: Path) -> None:
    assert count_project_health(DiskTree(tmp_path)) == NOTHING


@pytest.mark.parametrize(
    ("data", "tasks"),
    [
        (b"", {}),
        (b'{"id":"a"}\n', {"open": 1}),
        (b'{"id":"a","status":null}\n', {"open": 1}),
        (b'{"id":"a","status":"open"}\n{"id":"b","status":"closed"}', {"closed": 1, "open": 1}),
        (b'{"id":"a","status":"done"}\r\n\r\n{"id":"b","status":"parked"}\r\n',
         {"closed": 1, "parked": 1}),
        (b'{"id":"a","status":"open"}\n{"id":"a","status":"closed"}\n', {"closed": 1}),
        (b'{"status":"open"}\n', {}),
        (b'\xef\xbb\xbf{"id":"a","status":"open"}\n', {"open": 1}),
        ('{"id":"a","status":"geöffnet\u2028"}\n'.encode(), {"geöffnet\u2028": 1}),
        (b'{"id":"a","status":7}\n{"id":"b","status":["x"]}\n', {"7": 1, "['x']": 1}),
        (b'{"id":"a","status":"z"}\n{"id":"b","status":"a"}\n', {"a": 1, "z": 1}),
    ],
)  # fmt: skip
def test_tasks_are_counted_by_status(tmp_path: Path, data: bytes, tasks: dict[str, int]) -> None:
    found = of(tmp_path, TASKS_FILE, data)
    assert found == {**NOTHING, "tasks": tasks}
    assert list(found["tasks"]) == sorted(tasks)


@pytest.mark.parametrize(
    ("data", "attempts"),
    [
        (b'{"ev":"run_start"}\n{"ok":true}\n', {}),
        (b'{"ev":"attempt_end","ok":true}\n', {"ok": 1}),
        (b'{"ev":"attempt_end","ok":true,"fail":{"class":"stuck"}}\n', {"ok": 1}),
        (b'{"ev":"attempt_end","ok":false,"fail":{"class":"stuck"}}\n' * 2, {"stuck": 2}),
        (b'{"ev":"attempt_end","ok":false}\n', {"unknown": 1}),
        (b'{"ev":"attempt_end","fail":"no"}\n', {"unknown": 1}),
        (b'{"ev":"attempt_end","fail":{}}\n', {"unknown": 1}),
    ],
)
def test_attempts_are_counted_by_outcome(
    tmp_path: Path, data: bytes, attempts: dict[str, int]
) -> None:
    assert of(tmp_path, LEDGER_FILE, data) == {**NOTHING, "attempts": attempts}


@pytest.mark.parametrize("path", [TASKS_FILE, LEDGER_FILE])
@pytest.mark.parametrize(
    "line", [b"<<<<<<< HEAD", b"[]", b"null", b"7", b'"x"', b"{", b"\xff\x00", b"[" * 100_000, b""]
)
def test_a_line_that_is_no_object_does_not_count(tmp_path: Path, path: str, line: bytes) -> None:
    assert of(tmp_path, path, line + b"\n") == NOTHING
    good = b'{"id":"a","status":"open","ev":"attempt_end","ok":true}\n'
    found = of(tmp_path, path, good + line + b"\n" + good.replace(b'"a"', b'"b"'))
    name, key = ("tasks", "open") if path == TASKS_FILE else ("attempts", "ok")
    assert found == {**NOTHING, name: {key: 2}}


def test_what_cannot_be_read_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, LEDGER_FILE, '{"ev":"attempt_end","ok":true}\n')
    (tmp_path / TASKS_FILE).mkdir()
    assert count_project_health(DiskTree(tmp_path)) == {**NOTHING, "attempts": {"ok": 1}}


def told(root: Path, *events: Event) -> None:
    Ledger(root).append_events(*events)


def started(task: str, on: int, **values: Any) -> Event:
    return {"ev": ATTEMPT_START, "ts": day(on), "task": task, **values}


def kinds(root: Path, key: str) -> list[str]:
    return [str(event["ev"]) for event in read_task_history(opened(root), key).events]


def test_a_story_is_told_from_its_beginning(project: Path) -> None:
    key = added(project)
    assert read_task_history(opened(project), key).events == []
    claim_task(opened(project, on=2), key)
    told(project, started(key, 3, run="r", n=1), ended("other", 3), ended(key, 4, run="r", n=1))
    told(project, {"ev": "run_end", "ts": day(4), "task": key}, started(key, 5, run="r", n=2))
    close_tasks(opened(project, on=6), [key], None)
    found = read_task_history(opened(project), key[:-1])
    assert (found.task_id, (found.task or {})["title"]) == (key, "Bake")
    assert kinds(project, key) == ["task_state", "attempt_end", "attempt_start", "task_state"]


def test_lines_that_git_has_mixed_are_put_in_order(project: Path) -> None:
    key = added(project)
    told(project, ended(key, 5, n=3), ended(key, 3, n=1), ended(key, 4, n=2))
    assert [event["n"] for event in read_task_history(opened(project), key).events] == [1, 2, 3]


def test_a_task_that_is_gone_has_a_story_by_its_whole_id(project: Path) -> None:
    told(project, ended("gone-k3f9a"))
    found = read_task_history(opened(project), "gone-k3f9a")
    assert (found.task, len(found.events)) == (None, 1)
    with pytest.raises(CubError, match="there is no task 'gone'"):
        read_task_history(opened(project), "gone")


def test_the_newest_attempts_come_first(project: Path) -> None:
    assert list_newest_attempts(opened(project), 5) == []
    told(project, *(ended("a", n=number) for number in range(4)), started("a", 5, n=5))
    assert [event["n"] for event in list_newest_attempts(opened(project), 3)] == [3, 2, 1]


def test_attempts_are_counted_by_client_and_outcome() -> None:
    events = [
        ended(ok=True, harness="claude", model="opus", dur_s=60.5, usd=0.5, usd_src="reported",
              tok={"in": 10, "out": 2, "cache_read": 5}),
        ended(ok=False, harness="claude", model="opus", usd=0.25, usd_src="computed",
              tok={"in": 1, "total": 99}, fail={"class": "stuck"}),
        ended(harness="codex", dur_s="long", usd=None, usd_src="none", tok=7, fail="odd"),
        started("t", 1),
        {"ev": "task_state"},
    ]  # fmt: skip
    found = count_attempts(events)
    assert (found.all.attempts, found.all.ok_count, found.all.seconds) == (3, 1, 60.5)
    assert (found.all.usd, found.all.is_estimated) == (0.75, True)
    assert found.all.tokens == (11, 2, 5, 0)
    assert {name: totals.attempts for name, totals in found.agents.items()} == {
        "claude, opus": 2,
        "codex": 1,
    }
    assert found.agents["codex"].is_estimated is False
    assert found.outcomes == {"ok": 1, "stuck": 1, "unknown": 1}
    assert count_attempts([]).all.attempts == 0


def test_archiving_keeps_what_open_tasks_need(project: Path) -> None:
    top = epic(project)
    part, other = added(project, parent=top), added(project)
    told(
        project, ended(part, 1), ended(other, 1), ended("gone", 1), {"ev": "run_end", "ts": day(1)}
    )
    told(project, ended(part, 9))
    close_tasks(opened(project, on=9), [part], None)
    assert archive_old_events(opened(project), day(5)[:10]) == (3, 1)
    assert [event.get("task") for event in opened(project).ledger.iter_events()] == [
        other, part, part, top,
    ]  # fmt: skip
    moved = Ledger(project, ARCHIVE_FILE).iter_events()
    assert [event.get("task") for event in moved] == [part, "gone", None]
    assert archive_old_events(opened(project), day(5)) == (0, 1)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "31.1.2026"])
def test_what_is_no_date_is_refused(project: Path, text: str) -> None:
    told(project, ended())
    before = (project / LEDGER_FILE).read_bytes()
    with pytest.raises(UsageError, match="is not a date"):
        archive_old_events(opened(project), text)
    assert (project / LEDGER_FILE).read_bytes() == before


def numbers(events: Iterator[Event | None]) -> list[int]:
    """What comes until there is nothing new."""
    return [event["n"] for event in iter(lambda: next(events), None)]


def test_who_follows_is_told_each_event_once(project: Path) -> None:
    ledger = Ledger(project)
    events = ledger.follow(2)
    assert numbers(events) == []
    told(project, *(ended(on=number, n=number) for number in (1, 2, 3)))
    assert numbers(events) == [1, 2, 3]
    later = ledger.follow(2)
    assert next(later) == {"v": 1, **ended(on=2, n=2)}
    told(project, ended(on=4, n=4))
    assert numbers(later) == [3, 4]
    assert numbers(events) == [4]
    assert numbers(events) == []
    assert numbers(ledger.follow(0)) == []


def test_who_follows_is_not_told_twice_what_archiving_leaves(project: Path) -> None:
    key = added(project)
    told(project, *(ended(task, on=number, n=number) for number in (1, 2) for task in (key, "x")))
    events, none = Ledger(project).follow(9), Ledger(project).follow(0)
    assert (numbers(events), numbers(none)) == ([1, 1, 2, 2], [])
    assert archive_old_events(opened(project), day(28)) == (2, 2)
    assert (numbers(events), numbers(none)) == ([], [])
    told(project, ended(key, on=3, n=3))
    archive_old_events(opened(project), day(28))
    assert (numbers(events), numbers(none)) == ([3], [3])
    told(project, ended("x", on=4, n=4))
    archive_old_events(opened(project), day(3))
    assert (numbers(events), numbers(none)) == ([4], [4])
