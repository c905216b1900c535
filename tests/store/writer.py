"""Changes the tasks of the project at argv[1] argv[3] times: counts up in `shared` and in the
task of argv[2], and adds a task each time.

With argv[4], it counts until it is killed, telling each number when it is on disk.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from cub.store.change import changed
from cub.store.file_backend import FileBackend
from tests.store.records import day, task


def count_up(root: Path, name: str, number: int) -> None:
    with FileBackend(root).change() as change:
        for key in ("shared", name):
            record = change.tasks.record(key) if key in change.tasks else task(key, count=0)
            change.put(changed(record, {"count": record["count"] + 1}, day(2)))
        change.put(task(f"{name}.{number}", notes="x" * 2000))


if __name__ == "__main__":
    root, name, times, *endless = sys.argv[1:]
    for turn in count() if endless else range(int(times)):
        count_up(Path(root), name, turn)
        if endless:
            sys.stdout.write(f"{turn + 1}\n")
            sys.stdout.flush()
