"""Write files that only cub uses and can recreate, such as caches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from cub.files.disk import Disk
from cub.files.temporary_files import open_temp_file

# Errors that reading a damaged JSON file may raise.
READ_ERRORS = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)

CacheWrite = Callable[[], None]
ScheduleWrite = Callable[[CacheWrite], None]


def write_now(write: CacheWrite) -> None:
    """Do a write now.

    A command that changes the user's files defers it until those are written: a cache must not take
    the disk space that they need, nor appear in a project that the command refuses.
    """
    write()


def replace_file(path: Path, chunks: Iterable[bytes], *, is_lasting: bool = False) -> None:
    """Write `chunks` beside `path` and rename, so that readers find the old file or the new one.

    With `is_lasting`, that holds after a power cut as well. A missing folder is made, with a
    .gitignore that keeps it out of git.
    """
    folder = path.parent
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_bytes(b"*\n")
    handle, temp = open_temp_file(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            if is_lasting:
                file.flush()
                os.fsync(file.fileno())
        temp.replace(path)
        if is_lasting:
            Disk().sync_folder(folder)
    except BaseException:
        with suppress(OSError):
            temp.unlink()
        raise
