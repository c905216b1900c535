"""One of many at the tasks of the project at argv[1]; argv[2] says what it does, argv[3] how often.

`claim=ID:N` claims a task; `edit=ID:N` notes in it and claims a task of its own; `read:N` reads
until it is told to stop, and prints how often it has.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from cub.actions.history import story
from cub.actions.tasks.add import add, edit
from cub.actions.tasks.draft import Draft
from cub.actions.tasks.queries import Filter, listed
from cub.actions.tasks.status import claim
from cub.actions.tasks.stores import Stores, open_stores
from cub.errors import CubError
from cub.project.project import Project


def stores(root: Path, number: str) -> Stores:
    return open_stores(Project.load(root), f"worker-{number}")


def one_claim(root: Path, key: str, number: str) -> str:
    try:
        claim(stores(root, number), key)
    except CubError as error:
        return error.message
    return f"got it worker-{number}"


def many_edits(root: Path, key: str, number: str, times: int) -> str:
    own = add(stores(root, number), Draft(f"Own {number}")).tasks[0]["id"]
    for turn in range(times):
        edit(stores(root, number), key, Draft(), note=f"turn {turn}")
        claim(stores(root, number), own)
    return "done"


def reads(root: Path) -> str:
    stop, count = threading.Event(), 0

    def wait() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()
    while not (stop.is_set() and count):
        found = listed(stores(root, "r"), Filter(("all",)))
        assert not found.warnings
        assert all("title" in record for record in found.records())
        story(stores(root, "r"), next(iter(found.tasks)).id)
        count += 1
    return str(count)


if __name__ == "__main__":
    folder, (work, index), turns = Path(sys.argv[1]), sys.argv[2].split(":"), int(sys.argv[3])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    name, _, task = work.partition("=")
    if name == "claim":
        word = one_claim(folder, task, index)
    elif name == "edit":
        word = many_edits(folder, task, index, turns)
    else:
        word = reads(folder)
    sys.stdout.write(f"{word}\n")
