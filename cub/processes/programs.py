"""Whether a program can be started: looked up as the keeper's exec does, without starting it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_HEAD = 256  # bytes; Linux reads no more of a script's first line
_ENV = "/usr/bin/env"


def why_missing(name: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Why a program can't be started in `folder` with this environment; "" if it can.

    Of a script, the interpreter has to be there, too.
    """
    found = [path for path in _places(name, folder, environ) if path.is_file()]
    if not found:
        return f"{name} is not there" if "/" in name else f"{name} is not in PATH"
    programs = [path for path in found if os.access(path, os.X_OK)]
    if not programs:
        return f"{found[0]} is not executable"
    needed = _interpreter(programs[0])
    if needed and not any(path.is_file() for path in _places(needed, folder, environ)):
        return f"{programs[0]} needs {needed}, which is not there"
    return ""


def _places(name: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where a program of this name may be; what is relative is seen from `folder`."""
    if "/" in name:
        yield folder / name
        return
    for place in os.get_exec_path(environ):
        yield folder / place / name


def _interpreter(program: Path) -> str:
    """What a script's first line names, and of `env` the program behind it; "" for no script."""
    try:
        with program.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = os.fsdecode(head[2:].split(b"\n", 1)[0]).split()
    if words[:1] == [_ENV] and len(words) > 1 and not _is_option(words[1]):
        return words[1]
    return words[0] if words else ""


def _is_option(word: str) -> bool:
    """Whether a word behind `env` is none that it starts."""
    return word.startswith("-") or "=" in word
