"""Have git run the person's filters of files behind the walls: they may execute what is in a tree.

A filter such as `sh ./clean.sh` or `python -m clean` runs at the top of the tree whose files git
reads or writes, so an attempt may have written what it executes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

_KEY = re.compile(r"filter\..*\.(clean|smudge|process)")
# These programs keep objects or keys in git's directory, and execute nothing of a tree.
_OUTSIDE = re.compile(r"\s*(git[- ]lfs|git-crypt)( [\w%-]+)*\s*")


def select_filters(values: Mapping[str, str]) -> dict[str, str]:
    """Return the commands of filters that could execute something of a tree, by their settings."""
    return {
        key: line
        for key, line in values.items()
        if _KEY.fullmatch(key) and line and not _OUTSIDE.fullmatch(line)
    }


def confine_filters(
    filters: Mapping[str, str], confine: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> dict[str, str]:
    """Return settings that run the filters behind walls; `confine` puts a command there."""
    return {key: _confine_filter(key, line, confine) for key, line in filters.items()}


def _confine_filter(
    key: str, line: str, confine: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> str:
    if key.endswith(".process"):  # git replaces nothing in it
        return shlex.join(confine(("/bin/sh", "-c", line)))
    # The path must not become a part of the script: git quotes it for one shell only.
    script = re.sub("%([f%])", lambda match: '"$1"' if match[1] == "f" else "%", line)
    words = confine(("/bin/sh", "-c", script, "sh"))
    return f"{shlex.join(words).replace('%', '%%')} {'%f' if '%f' in line else ''}".rstrip()
