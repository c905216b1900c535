"""Small projects of every kind, each kept in one text: golden/repomap/<name>/project.txtar."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.conftest import GOLDEN

FOLDER = GOLDEN / "repomap"
_FILE = re.compile(r"^-- (.+) --\n", re.MULTILINE)
_TOKENS = re.compile(r"^tokens: (\d+)$", re.MULTILINE)


class Archive(NamedTuple):
    """A project: its files by path, and the budget of its map."""

    name: str
    tokens: int
    files: dict[str, str]


def archives() -> list[Archive]:
    return [_archive(path) for path in sorted(FOLDER.glob("*/project.txtar"))]


def _archive(path: Path) -> Archive:
    head, *rows = _FILE.split(path.read_text(encoding="utf-8"))
    tokens = _TOKENS.search(head)
    assert tokens, path
    return Archive(path.parent.name, int(tokens[1]), dict(zip(rows[::2], rows[1::2], strict=True)))


def unpacked(archive: Archive, root: Path) -> Path:
    """The project as files below `root`."""
    return written({name: text.encode() for name, text in archive.files.items()}, root)


def written(files: Mapping[str, bytes], root: Path, time: int = 1_000_000_000) -> Path:
    """Files below `root`, with a folder of cub's own for caches."""
    (root / ".cub").mkdir(parents=True)
    for name, data in files.items():
        write(root / name, data, time)
    return root.resolve()


def write(path: Path, data: bytes, time: int = 1_000_000_000) -> None:
    """A file that was written long ago, so that caches trust it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
