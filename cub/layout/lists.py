"""Text edits of a list in a settings file: every other byte of the file stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from posixpath import normpath
from typing import NamedTuple

from cub.layout.layout import Language, Layout, Path, Splice, layout_of, spliced
from cub.layout.splices import placed
from cub.layout.values import by_hand, with_value


class ListPlace(NamedTuple):
    """A list of texts in a file, by the keys that lead to it."""

    path: str
    keys: Path
    language: Language

    @property
    def name(self) -> str:
        """The keys as one word, for messages."""
        return ".".join(self.keys)


def texts_at(data: bytes, place: ListPlace) -> tuple[str, ...] | None:
    """The texts at `place`, where a single text counts as a list; None if it is not set.

    Raises CubError with `path:line:column` for a file or a value of another kind.
    """
    return _texts(layout_of(data, place.path, place.language), place)


def edited(
    data: bytes,
    place: ListPlace,
    items: Sequence[str],
    *,
    dropped: Sequence[str] = (),
    default: Sequence[str] = (),
) -> bytes:
    """The file's bytes with `items` in the list at `place`, and without those in `dropped`.

    A list that is not there yet begins with `default`. Paths are compared in their normal form.
    What is missing is added in the style of the file: items, the list, and the mappings around
    it. Items are taken out with their lines, or with their commas.

    Raises CubError for a file or a value of another kind, and where an edit of the text would
    not give exactly the same values with this list; the hint says what to write by hand.
    """
    here = layout_of(data, place.path, place.language)
    there = _texts(here, place, hint=by_hand(here, place.keys, [*default, *items]))
    items = [*default, *items] if there is None and items else items
    old, gone = there or (), set(map(normpath, dropped))
    known = set(map(normpath, old))
    kept = [text for text in old if normpath(text) not in gone]
    wanted = [*kept, *(item for item in dict.fromkeys(items) if normpath(item) not in known)]
    if wanted == list(old):
        return data
    return with_value(_cleared(here, place, gone), place.keys, wanted, _joined)


def _texts(here: Layout, place: ListPlace, hint: str = "") -> tuple[str, ...] | None:
    node = here.root
    for depth, key in enumerate(place.keys):
        if node is None or node.empty:
            return None
        if node.kind != "mapping":
            what = ": ".join([*place.keys[:depth][-1:], "this is not a mapping of keys to values"])
            raise here.source.error(node.start, what, hint)
        entry = node.members().get(key)
        node = entry.value if entry else None
    if node is None or node.empty:
        return None
    found = node.plain()
    items = [found] if isinstance(found, str) else found
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        message = f"{place.name}: this is neither a text nor a list of texts"
        raise here.source.error(node.start, message, hint)
    return tuple(items)


def _joined(here: Layout, path: Path, wanted: list[str]) -> str:
    node = here.root.at(path) if here.root else None
    if node and node.alias:
        raise ValueError("others share this list")
    return placed(here, path, wanted, tall=True)


def _cleared(here: Layout, place: ListPlace, gone: Collection[str]) -> Layout:
    """Without the comments behind items that go, where each has a line of its own."""
    node = here.root.at(place.keys) if here.root else None
    if node is None or node.style or node.alias:
        return here
    ends = [item.end for item in node.items if normpath(str(item.value)) in gone]
    text = spliced(here.text, (Splice(end, here.line_end(end), "") for end in ends))
    return layout_of(text.encode(), place.path, place.language)
