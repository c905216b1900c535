"""What is left behind by a bug in cub: a traceback in a file, and a line that says where."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from itertools import pairwise
from pathlib import Path

from platformdirs import user_log_path

from cub import __version__
from cub.cli import output


def keep(error: Exception, arguments: list[str]) -> None:
    """Write the traceback to .cub/logs/ of the project, else to the user's own log folder."""
    folder = _folder(arguments)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(".log", "bug-", folder)
    except OSError:
        handle, name = tempfile.mkstemp(".log", "cub-bug-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"cub {__version__}, Python {sys.version}, {sys.platform}\n")
        file.writelines(traceback.format_exception(error))
    output.talk(f"this is a bug in cub; its traceback is in {name}")


def _folder(arguments: list[str]) -> Path:
    """Found without the code that may have the bug."""
    named = [folder for option, folder in pairwise(arguments) if option == "-C"]
    start = Path(named[-1] if named else ".").absolute()
    for folder in (start, *start.parents):
        if (folder / ".cub").is_dir():
            return folder / ".cub" / "logs"
    return user_log_path("cub")
