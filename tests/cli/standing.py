"""How a folder stands, to the last byte and time; and files that cub must cope with."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

NEWER = (
    b"# Theirs\n\n<!-- BEGIN CUB MANAGED SECTION v99 -->\n\n## Cub Integration\n\n"
    b"- From the future.\n\n<!-- END CUB MANAGED SECTION -->\n"
)
NO_END = b"# Theirs\n\n<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nAnd more of theirs.\n"
NO_BEGIN = b"# Theirs\n\nMore.\n\n<!-- END CUB MANAGED SECTION -->\n"
MINE = b"# Bakery\r\n\r\nBread is counted in dozens.  \r\n"
OURS = {".cub/.gitattributes", ".cub/.gitignore", ".cub/constitution.md", ".cub/runloop.md"}


class Stand(NamedTuple):
    """What must not change where nothing may be written."""

    mode: int
    changed: int
    content: bytes | str


def stand(root: Path) -> dict[str, Stand]:
    """Everything below `root`, .git included, with modes and times; folders too."""
    return {
        path.relative_to(root).as_posix(): _stand(path) for path in [root, *sorted(root.rglob("*"))]
    }


def _stand(path: Path) -> Stand:
    status = path.lstat()
    if path.is_symlink():
        return Stand(0, status.st_mtime_ns, str(path.readlink()))
    content = path.read_bytes() if path.is_file() else "not a file"
    return Stand(status.st_mode, status.st_mtime_ns, content)
