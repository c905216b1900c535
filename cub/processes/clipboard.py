"""Copy text to the clipboard of the system with the first program that can."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from cub.errors import CubError

_SECONDS = 10
# With the variable without which a program has no clipboard to talk to.
_PROGRAMS = (
    ("", ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("clip.exe",)),
)


def copy_to_clipboard(data: bytes, environ: Mapping[str, str]) -> str:
    """Copy UTF-8 text, and return the name of the program that took it.

    Raises CubError if there is none, or none succeeds.
    """
    failures = []
    for variable, command in _PROGRAMS:
        path = shutil.which(command[0], path=environ.get("PATH"))
        if path is None or (variable and not environ.get(variable)):
            continue
        is_windows = command[0] == "clip.exe"  # which reads UTF-16
        text = data.decode("utf-8", "replace").encode("utf-16") if is_windows else data
        problem = _run((path, *command[1:]), text, environ)
        if not problem:
            return command[0]
        failures.append(f"{command[0]}: {problem}")
    hint = "use `-o FILE`"
    if failures:
        raise CubError("the clipboard cannot be used", hint=hint, details=failures)
    if sys.platform not in ("darwin", "win32"):
        hint = "install wl-clipboard (Wayland), xclip or xsel (X11), or use `-o FILE`"
    raise CubError("no program for the clipboard was found", hint=hint)


def _run(command: tuple[str, ...], data: bytes, environ: Mapping[str, str]) -> str:
    """Return why a program failed; "" if it did not.

    It may go on in the background: its output is a file, as a pipe would stay open.
    """
    with tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run(  # noqa: S603 - one of the programs above
                command, input=data, stdout=subprocess.DEVNULL, stderr=errors,
                env=dict(environ), timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"timed out after {_SECONDS} seconds"
        except OSError as error:
            return error.strerror or str(error)
        errors.seek(0)
        lines = errors.read(4096).decode("utf-8", "replace").split("\n")
    return (lines[0] or f"exited with code {done.returncode}") if done.returncode else ""
