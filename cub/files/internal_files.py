"""Read and write files that only cub uses and can make again, such as caches."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cub.files.disk import Disk

# What reading a damaged file of JSON may raise.
READ_ERRORS = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)

CacheWrite = Callable[[], None]
ScheduleWrite = Callable[[CacheWrite], None]


def write_now(write: CacheWrite) -> None:
    """Do a write now. A command that changes a person's files does it when they are in place: a
    cache must not take the room that those need, nor stand in a project that was refused.
    """
    write()


def read_json(path: Path) -> dict[str, Any]:
    """Return the mapping in a JSON file; {} if it is missing or broken."""
    try:
        tree = json.loads(path.read_bytes())
    except READ_ERRORS:
        return {}
    return tree if isinstance(tree, dict) else {}


def replace_file(path: Path, chunks: Iterable[bytes], *, is_lasting: bool = False) -> None:
    """Write `chunks` beside `path` and move them there, so that a reader finds old or new; after a
    power cut as well if it is to be `is_lasting`.

    The folder is made where it is missing, with a .gitignore that keeps it out of git.
    """
    folder = path.parent
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_bytes(b"*\n")
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            if is_lasting:
                file.flush()
                os.fsync(file.fileno())
        Path(name).replace(path)
        if is_lasting:
            Disk().sync_folder(folder)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
