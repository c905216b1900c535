"""Setting a value in a text, and renaming a key, with the proof that nothing else changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cub.errors import CubError
from cub.layout.brackets import member
from cub.layout.layout import Layout, Path, Splice, spliced
from cub.layout.proof import canonical, proves
from cub.layout.splices import placed

Way = Callable[[Layout, Path, Any], str]


def with_value(here: Layout, path: Path, value: Any, *ways: Way) -> bytes:
    """The file's bytes with `value` at `path`; missing parents are added.

    `ways` to do it are tried in turn; without any, only `placed`, with which every other byte
    stays. The same bytes come back if nothing is to be changed.

    Raises CubError, with what to write by hand, unless the result is proven to say the same with
    this value, and all comments are still there.
    """
    before = here.plain
    wanted = _set(before if isinstance(before, dict) else {}, path, value)
    if canonical(before) == canonical(wanted):
        return here.text.encode()
    for way in ways or (placed,):
        try:
            done = way(here, path, value).encode()
        except (CubError, ValueError, LookupError):
            continue
        if proves(here, done, wanted):
            return done
    raise CubError(
        f"cub can't set `{'.'.join(path)}` here without touching the rest of the file",
        where=here.source.path,
        hint=by_hand(here, path, value),
    )


def renamed(here: Layout, old: Path, new: Path) -> bytes:
    """The file's bytes with the key at `old` renamed to `new`, a name in the same mapping.

    Its value, its quotes and all comments stay. The same bytes come back if there is no `old`,
    or already a `new`. Raises CubError as `with_value` does.
    """
    node = here.root.at(old[:-1]) if here.root else None
    entry = node.entry(old[-1]) if node else None
    if node is None or entry is None or new[-1] in node.members():
        return here.text.encode()
    word = Splice(entry.key.start, entry.key.end, here.written(new[-1], entry.key.style))
    done = spliced(here.text, [word]).encode()
    wanted = _without(_set(here.plain, new, entry.value.plain()), old)
    if proves(here, done, wanted):
        return done
    raise CubError(
        f"cub can't rename `{'.'.join(old)}` here without touching the rest of the file",
        where=here.source.where(entry.key.start),
        hint=f"write `{'.'.join(new)}` for it by hand",
    )


def by_hand(here: Layout, path: Path, value: Any) -> str:
    """What a person can write into the file, as a hint."""
    return f"write it by hand: {member(here, path, value)}"


def _set(tree: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """A copy of the tree with one more value."""
    inner = tree.get(path[0])
    inner = inner if isinstance(inner, dict) else {}
    return {**tree, path[0]: _set(inner, path[1:], value) if path[1:] else value}


def _without(tree: dict[str, Any], path: Path) -> dict[str, Any]:
    """A copy of the tree with one value less."""
    if path[1:]:
        return {**tree, path[0]: _without(tree[path[0]], path[1:])}
    return {key: value for key, value in tree.items() if key != path[0]}
