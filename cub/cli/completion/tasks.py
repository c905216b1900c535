"""The tasks of a project as words to be typed: those that are open first, with their titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cub.cli.completion.place import Place
    from cub.store.briefs import Brief
    from cub.store.tasks import Tasks

Offer = tuple[str, str]

# A person waits: of a store of many thousand tasks, this much is looked at.
_BYTES = 1 << 19
_LINES = 20_000
_MOST = 500  # words that are shown
_UNCLOSED = ("claim", "start", "close", "done", "park")


def named(place: Place) -> Iterator[Offer]:
    """The tasks that a command can do something with."""
    command = place.path[-1]
    if command == "reopen":
        yield from _ids(place, lambda row: row.status != "open" or row.deleted)
    elif command in _UNCLOSED:
        yield from not_closed(place)
    else:
        yield from _ids(place, lambda row: not row.deleted)


def not_closed(place: Place) -> Iterator[Offer]:
    """The tasks that are to be done."""
    yield from _ids(place, lambda row: not row.closed and not row.deleted)


def epics(place: Place) -> Iterator[Offer]:
    """The epics."""
    yield from _ids(place, lambda row: row.is_epic and not row.deleted)


def parents(place: Place) -> Iterator[Offer]:
    """What a task may be a part of: epics, and then anything else."""
    yield from epics(place)
    yield from _ids(place, lambda row: not row.is_epic and not row.deleted)


def others(place: Place) -> Iterator[Offer]:
    """What a task may wait for; to be removed, what it waits for."""
    if place.path[-1] != "remove":
        yield from not_closed(place)
        return
    tasks = _tasks(place, "")
    row = tasks[tasks.find(place.arguments[0])]
    known = [tasks[key] for key in row.depends_on if key in tasks]
    yield from _offered(place, tasks, known)
    yield from ((key, "there is no such task") for key in row.depends_on if key not in tasks)


def labels(place: Place) -> Iterator[Offer]:
    """The labels of tasks, the most frequent ones first."""
    tasks = _tasks(place, "")
    found = Counter(label for row in tasks for label in tasks.seen(row.id).get("labels") or ())
    for label, count in found.most_common():
        yield label, "1 task" if count == 1 else f"{count:,} tasks"


def _ids(place: Place, wanted: Callable[[Brief], bool]) -> Iterator[Offer]:
    tasks = _tasks(place, place.word)
    rows = filter(wanted, [*tasks, *tasks.deleted.values()])
    yield from _offered(place, tasks, rows)


def _offered(place: Place, tasks: Tasks, rows: Iterable[Brief]) -> Iterator[Offer]:
    """Tasks in the way in which their ids are typed: with the project's name, or without."""
    shown = 0
    for row in sorted(rows, key=_order):
        word = row.id if row.id.startswith(place.word) else row.id.rpartition("-")[2]
        if not word.startswith(place.word) or {word, row.id} & {*place.arguments}:
            continue
        status = "deleted" if row.deleted else row.status
        title = str(tasks.seen(row.id).get("title", ""))
        yield word, title if status == "open" else f"{status}: {title}"
        shown += 1
        if shown == _MOST:
            return


def _order(row: Brief) -> tuple[object, ...]:
    return row.deleted, row.closed, row.status == "parked", row.priority, row.created_at, row.id


def _tasks(place: Place, word: str) -> Tasks:
    """The tasks whose lines have `word`. What beads keeps is not asked for: that takes a process,
    which may start another one.
    """
    from cub.cli.completion.configured import root_of
    from cub.errors import CubError
    from cub.files import read
    from cub.project.project import Project
    from cub.store.place import TASKS, store_root
    from cub.store.tasks import Tasks

    root = root_of(place)
    try:
        if Project.load(root).config.backend != "jsonl":
            return Tasks()
    except CubError:
        pass  # the fault of the configuration is told by every command
    return Tasks.parse(_some(read(store_root(root), TASKS) or b"", word.encode()))


def _some(data: bytes, word: bytes) -> bytes:
    """Lines that have `word`, those of tasks that are not closed first."""
    if len(data) <= _BYTES:
        return data
    open_: list[bytes] = []
    closed: list[bytes] = []
    size = 0
    for line, _ in zip(_lines_with(data, word), range(_LINES), strict=False):
        is_closed = b'"status":"closed"' in line
        (closed if is_closed else open_).append(line)
        size += 0 if is_closed else len(line)
        if size >= _BYTES:
            return b"\n".join(open_)
    average = max(1, sum(map(len, closed)) // max(1, len(closed)))
    return b"\n".join([*open_, *closed[: (_BYTES - size) // average]])


def _lines_with(data: bytes, word: bytes) -> Iterator[bytes]:
    at = data.find(word)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[start:end]
        at = data.find(word, end + 1)
