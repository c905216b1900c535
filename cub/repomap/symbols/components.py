"""Components of Vue and Svelte: a file is one, called like the file, with scripts inside."""

from __future__ import annotations

import posixpath

from cub.repomap.symbols.definition import Definition
from cub.repomap.symbols.definitions import definitions

GRAMMAR = "vue"
_OPEN, _CLOSE = b"<script", b"</script"


def component(path: str, data: bytes) -> tuple[Definition, ...] | None:
    """The component, and what its scripts give to others; None where they can't be parsed.

    What a script declares without `export` is the template's alone.
    """
    name = posixpath.splitext(posixpath.basename(path))[0]
    found = definitions("typescript", scripts_of(data))
    if found is None:
        return None
    return (Definition(name, "class", 1, f"component {name}"), *found)


def scripts_of(data: bytes) -> bytes:
    """The text of all scripts; of the rest, line ends alone: lines keep their numbers."""
    kept, low, at = [], data.lower(), 0
    while (start := low.find(_OPEN, at)) >= 0 and (begin := low.find(b">", start)) >= 0:
        end = low.find(_CLOSE, begin)
        end = len(data) if end < 0 else end
        kept += [b"\n" * data.count(b"\n", at, begin), data[begin + 1 : end]]
        at = end
    return b"".join(kept)
