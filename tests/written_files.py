"""Files and programs that a test writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write contents by their paths below `root`, with the folders that they need."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_program(path: Path, text: str) -> Path:
    """Write a script that can be run; return its path."""
    write_files(path.parent, {path.name: text})
    path.chmod(0o755)
    return path
