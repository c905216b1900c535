"""Flattened links: what git makes of a symbolic link on a system without them, a file that holds
nothing but the link's text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection

from cub.project.targets import AGENTS, is_whole, target_of

_LONGEST = 255


def behind(path: str, read: Callable[[str], bytes | None], known: Collection[str]) -> str:
    """The instruction file that `path` leads to, which is `path` itself for anything but a link.

    A link leads to one of the files in `known`, or to another instruction file that is there. Text
    that cub wrote into it would become part of the link's target in every other checkout.
    """
    passed = [path]
    while target := _leads_to(passed[-1], read(passed[-1]) or b""):
        # AGENTS.md is written in any case: with nothing behind it, its text is a person's.
        will_be = target in known and passed[-1] != AGENTS.path
        if is_whole(target) or not (will_be or (target_of(target) and read(target))):
            break
        if target in passed:
            return path
        passed.append(target)
    return passed[-1]


def _leads_to(path: str, data: bytes) -> str:
    """The path that a file consists of, as seen from the root; "" for any other text."""
    text = data.strip().decode("utf-8", "replace") if len(data) <= _LONGEST else ""
    if not (text and text.isprintable()) or text.startswith("/"):
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
