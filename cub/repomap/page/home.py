"""The folder that most of the symbols live in, named once where its path is long."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from cub.repomap.outline.words import shown_path
from cub.tokens import estimate_tokens

_SHORT = "~"
_DEEP = 3  # folders: shorter paths need no short form


class Home(NamedTuple):
    """`folder` is written as `~` in front of the paths below it; "" for none."""

    folder: str = ""

    @property
    def line(self) -> str:
        """What tells the reader so."""
        return f"{_SHORT} is {shown_path(self.folder)}"

    def shown(self, path: str) -> str:
        """A path as it is written; a folder's ends with `/`."""
        if self.folder and path.startswith(self.folder + "/"):
            return shown_path(_SHORT + path[len(self.folder) :])
        return shown_path(path)


def home_of(paths: Iterable[str]) -> Home:
    """The folder above most of `paths` (as often as they will be written) whose short form saves
    most tokens; none where that is little.
    """
    counts: Counter[str] = Counter()
    for folder in map(posixpath.dirname, paths):
        parts = folder.split("/")
        counts.update("/".join(parts[:depth]) for depth in range(_DEEP, len(parts) + 1))
    saved = {folder: _saved(folder, count) for folder, count in counts.items()}
    best = max(sorted(saved), key=saved.__getitem__, default="")
    return Home(best) if saved.get(best, 0) > 0 else Home()


def _saved(folder: str, count: int) -> int:
    """Tokens: less for each of the paths, more for the line that explains it, which is told twice
    over because it is something to keep in mind.
    """
    home, tokens = Home(folder), estimate_tokens(shown_path(folder))
    return count * (tokens - 1) - 2 * estimate_tokens(home.line)
