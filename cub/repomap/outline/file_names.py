"""The names of a folder's source files in few words, sorted by their endings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from cub.repomap.outline.words import shown_path

# The names of more files than this are a wall, not a view.
_MOST = 40
_COMMON = 3  # so many with the same ending need to say it only once
# What every package has, and what configures or declares.
_PLAIN = re.compile(
    r"__init__\.pyi?|mod\.rs|(?:package|module)-info\.java|.*\.config\.\w+|.*\.d\.[cm]?ts|setup\.py"
    r"|.*\.gradle\.kts|.*\.gemspec|build\.rs"
)


def is_plain(name: str) -> bool:
    """Whether a source file's name tells nothing of what its folder does."""
    return bool(_PLAIN.fullmatch(name))


def file_names(files: Sequence[str]) -> list[str]:
    """`*.py: app cli config` and the like; nothing where they are too many."""
    there = frozenset(files)
    names = sorted(name for name in files if name[:-1] not in there or name[-4:] != ".pyi")
    if len(names) > _MOST:
        return []
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[2], []).append(name)
    common = {ending: group for ending, group in groups.items() if len(group) >= _COMMON}
    rest = [name for name in names if name.rpartition(".")[2] not in common]
    lines = [_line(ending, common[ending]) for ending in sorted(common)]
    shown = " ".join(map(partial(shown_path, blanks=False), rest))
    return [*lines, shown] if rest else lines


def _line(ending: str, names: Sequence[str]) -> str:
    stems = (shown_path(name[: -len(ending) - 1], blanks=False) for name in names)
    return f"*.{ending}: {' '.join(stems)}"
