"""Tasks and attempts are counted from whatever lines are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.health import Health, health
from cub.files import WorkTree
from cub.store.place import LEDGER, TASKS
from tests.actions.helpers import write

NOTHING = Health({}, {})


def of(root: Path, path: str, data: bytes) -> Health:
    write(root, path, "").write_bytes(data)
    return health(WorkTree(root))


def test_without_stores_there_is_nothing(tmp_path: Path) -> None:
    assert health(WorkTree(tmp_path)) == NOTHING


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
    found = of(tmp_path, TASKS, data)
    assert found == Health(tasks, {})
    assert list(found.tasks) == sorted(tasks)


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
    assert of(tmp_path, LEDGER, data) == Health({}, attempts)


@pytest.mark.parametrize("path", [TASKS, LEDGER])
@pytest.mark.parametrize(
    "line", [b"<<<<<<< HEAD", b"[]", b"null", b"7", b'"x"', b"{", b"\xff\x00", b"[" * 100_000, b""]
)
def test_a_line_that_is_no_object_does_not_count(tmp_path: Path, path: str, line: bytes) -> None:
    assert of(tmp_path, path, line + b"\n") == NOTHING
    good = b'{"id":"a","status":"open","ev":"attempt_end","ok":true}\n'
    found = of(tmp_path, path, good + line + b"\n" + good.replace(b'"a"', b'"b"'))
    assert found == (Health({"open": 2}, {}) if path == TASKS else Health({}, {"ok": 2}))


def test_what_cannot_be_read_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, LEDGER, '{"ev":"attempt_end","ok":true}\n')
    (tmp_path / TASKS).mkdir()
    assert health(WorkTree(tmp_path)) == Health({}, {"ok": 1})
