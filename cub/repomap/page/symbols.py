"""The symbols of the map: hubs with signatures and users, then the names of each folder."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from cub.repomap.outline.words import one_line, shown_path
from cub.repomap.page.filling import Block, Filling
from cub.repomap.page.home import Home, home_of
from cub.repomap.ranking.modules import PLAIN
from cub.repomap.ranking.ranking import Symbol
from cub.repomap.symbols.signatures import shortened
from cub.tokens import estimate_tokens

WIDTH = 56  # characters of a signature
DETAIL = 0.25  # of the room is for signatures, the rest for names: more if all names have a place
_STEPS = 7  # between the two: the room is used up to one or two percent
_USERS = 3
_TRIES = 20_000  # symbols that do not fit, one after the other, before the rest is given up
_PER_SYMBOL = 8  # tokens, about: how many symbols a map may hold
_LITTLE = 2  # tokens: no name takes less

Users = Callable[[str], Sequence[str]]  # files that use a file, the main one first


def symbol_lines(
    symbols: Sequence[Symbol], rest: Callable[[], Iterable[Symbol]], users: Users, budget: int
) -> list[str]:
    """Lines of at most `budget` tokens; hubs (files of the best symbols) come first.

    `rest` gives symbols that are named only if there is still room.
    """
    home = _home(symbols, budget)
    top = [home.line] if home.folder else []
    budget -= sum(map(estimate_tokens, top))

    def filled(detail: float) -> tuple[Filling, bool]:
        filling = Filling(budget)
        _detailed(filling, home, symbols, users, budget - int(budget * detail))
        return filling, _all_named(filling, home, chain(symbols, rest()))

    filling, whole = filled(DETAIL)
    if whole:
        filling = _most_detailed(filled, filling)
    _with_members(filling, symbols)
    return top + [line for block in filling.blocks.values() for line in block.lines()]


def _most_detailed(filled: Callable[[float], tuple[Filling, bool]], least: Filling) -> Filling:
    """As many signatures as leave all names their place."""
    best, low, high = least, DETAIL, 2.0  # the first step tries them all
    for _ in range(_STEPS):
        middle = (low + high) / 2
        filling, whole = filled(min(middle, 1.0))
        if whole and middle >= 1.0:
            return filling
        best, low, high = (filling, middle, high) if whole else (best, low, middle)
    return best


def _with_members(filling: Filling, symbols: Sequence[Symbol]) -> None:
    """Signatures of members in place of their names, as long as there is room."""
    for symbol in symbols:
        block, found = filling.blocks.get(symbol.path), symbol.definition
        if block and found.member_of and filling.left >= _LITTLE:
            line = shortened(one_line(found.signature), WIDTH)
            filling.member(block, one_line(found.member_of), one_line(found.name), line)


def _home(symbols: Sequence[Symbol], budget: int) -> Home:
    """By the places that the best symbols will be written under."""
    best = dict.fromkeys(symbol.path for symbol in symbols[: budget // _PER_SYMBOL])
    folders = dict.fromkeys(posixpath.dirname(path) + "/" for path in best)
    return home_of([*list(best)[: len(best) // 4], *folders])


def _all_named(filling: Filling, home: Home, symbols: Iterable[Symbol]) -> bool:
    """Name as many as there is room for; whether that was all of them."""
    misses = in_a_row = 0
    for symbol in symbols:
        named = _named(filling, home, symbol)
        misses, in_a_row = misses + (not named), 0 if named else in_a_row + 1
        if in_a_row > _TRIES or filling.left < _LITTLE:
            return False
    return not misses


def _detailed(
    filling: Filling, home: Home, symbols: Sequence[Symbol], users: Users, keep: int
) -> None:
    """Add signatures until only the room to `keep` is left."""
    for symbol in symbols:
        if symbol.definition.member_of:
            continue
        block = filling.blocks.get(symbol.path) or Block(
            _head(home, symbol.path, users(symbol.path))
        )
        line = shortened(one_line(symbol.definition.signature), WIDTH)
        if not filling.detail(symbol.path, block, one_line(symbol.definition.name), line, keep):
            return


def _named(filling: Filling, home: Home, symbol: Symbol) -> bool:
    """Add a name alone: to its hub's lines, or to its folder's."""
    folder = posixpath.dirname(symbol.path)
    place = symbol.path if symbol.path in filling.blocks else folder + "/"
    block = filling.blocks.get(place) or Block(home.shown(place.lstrip("/")) or "./")
    definition = symbol.definition
    return filling.name(place, block, one_line(definition.name), one_line(definition.member_of))


def _head(home: Home, path: str, users: Sequence[str]) -> str:
    shown = home.shown(path)
    if not users:
        return shown
    near = posixpath.dirname(path)
    more = f" +{len(users) - _USERS}" if len(users) > _USERS else ""
    return f"{shown} <- {' '.join(_short(user, near) for user in users[:_USERS])}{more}"


def _short(path: str, near: str) -> str:
    """A path as short as it is still understood by a reader of its neighbour in `near`."""
    folder, name = posixpath.split(path)
    if folder == near:
        return shown_path(name, blanks=False)
    if near and folder.startswith(near + "/"):
        return shown_path(path[len(near) + 1 :], blanks=False)
    above = folder.split("/")
    kept = above[-2:] if above[-1] in PLAIN else above[-1:]
    return shown_path("/".join(filter(None, (*kept, name))), blanks=False)
