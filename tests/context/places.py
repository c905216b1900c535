"""Make projects with a home folder, and readers of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cub.context.text_reader import TextReader
from tests.written_files import write_files


def make_reader(tmp_path: Path, files: Mapping[str, str], start: str = "") -> TextReader:
    """Return a reader of `tmp_path/up/proj`, with `home` beside it; paths begin with either."""
    for folder in ("up/proj", "home"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    write_files(
        tmp_path, {name.replace("proj/", "up/proj/", 1): text for name, text in files.items()}
    )
    root = (tmp_path / "up/proj").resolve()
    return TextReader(root / start, root, (tmp_path / "home").resolve())
