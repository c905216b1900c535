"""How the map reads a file: without what cub put into it."""

from __future__ import annotations

from cub.files.regular import read_start

_MOST = 20_000_000  # bytes; who asks wants far less
_BEGIN, _END = b"<!-- BEGIN CUB MANAGED SECTION", b"END CUB MANAGED SECTION -->"


def read_file(base: str, path: str) -> bytes:
    """Read a file of the listing, which has regular files alone, below the folder `base`.

    cub's sections are left out: the README that AGENTS.md is a link to says the same before and
    after `cub init`. Raises OSError.
    """
    data = read_start(base, path, _MOST)
    kept, at = [], 0
    while (end := data.find(_END, at)) >= 0:
        behind, start = end + len(_END), data.rfind(_BEGIN, at, end)
        kept.append(data[at : behind if start < 0 else start])
        at = behind
    return b"".join((*kept, data[at:]))
