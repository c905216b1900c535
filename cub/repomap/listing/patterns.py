"""Patterns as in a .gitignore, from files and people: what is no pattern must not end a command."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """The lines that are patterns; git passes over the others, too."""
    return _compiled([line for line in lines if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether a line can be read; an empty one and a comment match nothing."""
    try:
        _compiled([line])
    except (ValueError, re.error):
        return False
    return True


def _compiled(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():  # of Python, about brackets that a later one may read otherwise
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(lines)
