"""Lines about files and folders that grow, name by name, as long as there is room.

The folder that most of the symbols live in, named once where its path is long.

The symbols of the map: hubs with signatures and users, then the names of each folder.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from cub.repomap.ranking.references import SOURCE_FOLDERS
from cub.repomap.ranking.symbol_rank import Symbol
from cub.repomap.safe_text import quote_path, to_one_line
from cub.repomap.symbols.signatures import shorten_signature
from cub.tokens import estimate_tokens

_ALSO = "  also:"


@dataclass(slots=True)
class SymbolBlock:
    """What is said of one file or folder: `signatures` are signatures by name; `names` has the
    names alone; both with the members that are named with them. `member_signatures` of members, by
    owner and name, stand below the owner's own.
    """

    head: str
    signatures: dict[str, str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    member_signatures: dict[str, dict[str, str]] = field(default_factory=dict)

    def render_lines(self) -> Iterator[str]:
        """The block as text."""
        names = " ".join(self._named(name) for name in self.names)
        if not self.signatures:
            yield f"{self.head}: {names}"
            return
        yield self.head
        for name, signature in self.signatures.items():
            members = " ".join(self.members.get(name, ()))
            yield f"  {signature}: {members}" if members else f"  {signature}"
            yield from (f"    {line}" for line in self.member_signatures.get(name, {}).values())
        if names:
            yield f"{_ALSO} {names}"

    def _named(self, name: str) -> str:
        members = self.members.get(name)
        return f"{name}({' '.join(members)})" if members else name


@dataclass(slots=True)
class SymbolSelection:
    """What is chosen so far, by file or folder, and the tokens that are left."""

    tokens_left: int
    blocks: dict[str, SymbolBlock] = field(default_factory=dict)

    def add_signature(
        self, place: str, block: SymbolBlock, name: str, signature: str, keep: int
    ) -> bool:
        """Add a signature to `block`, the one of `place`, unless less than `keep` would be left."""
        cost = self._head(place, block) + estimate_tokens(signature)
        if self.tokens_left - cost < keep:
            return False
        if name not in block.signatures:
            self._take(place, block, cost)
            block.signatures[name] = signature
        return True

    def add_name(self, place: str, block: SymbolBlock, name: str, owner: str) -> bool:
        """Add a name, that of a member behind its owner's; False if there is no room for it."""
        cost = self._head(place, block) + self._own_cost(block, owner or name)
        if owner:
            first = owner not in block.members
            cost += estimate_tokens(name) + 2 * first
        if cost > self.tokens_left:
            return False
        self._take(place, block, cost)
        if (owner or name) not in block.signatures:
            block.names[owner or name] = None
        if owner and name not in block.members.setdefault(owner, []):
            block.members[owner].append(name)
        return True

    def add_member_signature(
        self, block: SymbolBlock, owner: str, name: str, signature: str
    ) -> None:
        """Replace a member's name by its signature, if the owner has one and there is room."""
        cost = estimate_tokens(signature) - estimate_tokens(name)
        named = block.members.get(owner, [])
        if owner in block.signatures and name in named and cost <= self.tokens_left:
            self.tokens_left -= cost
            named.remove(name)
            block.member_signatures.setdefault(owner, {})[name] = signature

    def _own_cost(self, block: SymbolBlock, name: str) -> int:
        """What it costs to name something that is no member; nothing if it is there already."""
        if name in block.signatures or name in block.names:
            return 0
        label = 0 if block.names or not block.signatures else estimate_tokens(_ALSO)
        return label + estimate_tokens(name)

    def _head(self, place: str, block: SymbolBlock) -> int:
        """One token more for the colon behind a folder's path."""
        return 0 if place in self.blocks else estimate_tokens(block.head) + 1

    def _take(self, place: str, block: SymbolBlock, cost: int) -> None:
        self.tokens_left -= cost
        self.blocks[place] = block


_SHORT = "~"
_DEEP = 3  # folders: shorter paths need no short form


class PathAbbreviation(NamedTuple):
    """`folder` is written as `~` in front of the paths below it; "" for none."""

    folder: str = ""

    @property
    def legend(self) -> str:
        """What tells the reader so."""
        return f"{_SHORT} is {quote_path(self.folder)}"

    def abbreviate(self, path: str) -> str:
        """A path as it is written; a folder's ends with `/`."""
        if self.folder and path.startswith(self.folder + "/"):
            return quote_path(_SHORT + path[len(self.folder) :])
        return quote_path(path)


def choose_path_abbreviation(paths: Iterable[str]) -> PathAbbreviation:
    """The folder above most of `paths` (as often as they will be written) whose short form saves
    most tokens; none where that is little.
    """
    counts: Counter[str] = Counter()
    for folder in map(posixpath.dirname, paths):
        parts = folder.split("/")
        counts.update("/".join(parts[:depth]) for depth in range(_DEEP, len(parts) + 1))
    saved = {folder: _saved(folder, count) for folder, count in counts.items()}
    best = max(sorted(saved), key=saved.__getitem__, default="")
    return PathAbbreviation(best) if saved.get(best, 0) > 0 else PathAbbreviation()


def _saved(folder: str, count: int) -> int:
    """Tokens: less for each of the paths, more for the line that explains it, which is told twice
    over because it is something to keep in mind.
    """
    home, tokens = PathAbbreviation(folder), estimate_tokens(quote_path(folder))
    return count * (tokens - 1) - 2 * estimate_tokens(home.legend)


SIGNATURE_WIDTH = 56  # characters of a signature
SIGNATURE_SHARE = (
    0.25  # of the room is for signatures, the rest for names: more if all names have a place
)
_STEPS = 7  # between the two: the room is used up to one or two percent
_USERS = 3
_TRIES = 20_000  # symbols that do not fit, one after the other, before the rest is given up
_PER_SYMBOL = 8  # tokens, about: how many symbols a map may hold
_LITTLE = 2  # tokens: no name takes less

FindUsers = Callable[[str], Sequence[str]]  # files that use a file, the main one first


def render_symbol_lines(
    symbols: Sequence[Symbol], rest: Callable[[], Iterable[Symbol]], users: FindUsers, budget: int
) -> list[str]:
    """Lines of at most `budget` tokens; hubs (files of the best symbols) come first.

    `rest` gives symbols that are named only if there is still room.
    """
    home = _home(symbols, budget)
    top = [home.legend] if home.folder else []
    budget -= sum(map(estimate_tokens, top))

    def filled(detail: float) -> tuple[SymbolSelection, bool]:
        filling = SymbolSelection(budget)
        _detailed(filling, home, symbols, users, budget - int(budget * detail))
        return filling, _all_named(filling, home, chain(symbols, rest()))

    filling, whole = filled(SIGNATURE_SHARE)
    if whole:
        filling = _most_detailed(filled, filling)
    _with_members(filling, symbols)
    return top + [line for block in filling.blocks.values() for line in block.render_lines()]


def _most_detailed(
    filled: Callable[[float], tuple[SymbolSelection, bool]], least: SymbolSelection
) -> SymbolSelection:
    """As many signatures as leave all names their place."""
    best, low, high = least, SIGNATURE_SHARE, 2.0  # the first step tries them all
    for _ in range(_STEPS):
        middle = (low + high) / 2
        filling, whole = filled(min(middle, 1.0))
        if whole and middle >= 1.0:
            return filling
        best, low, high = (filling, middle, high) if whole else (best, low, middle)
    return best


def _with_members(filling: SymbolSelection, symbols: Sequence[Symbol]) -> None:
    """Signatures of members in place of their names, as long as there is room."""
    for symbol in symbols:
        block, found = filling.blocks.get(symbol.path), symbol.definition
        if block and found.member_of and filling.tokens_left >= _LITTLE:
            line = shorten_signature(to_one_line(found.signature), SIGNATURE_WIDTH)
            filling.add_member_signature(
                block, to_one_line(found.member_of), to_one_line(found.name), line
            )


def _home(symbols: Sequence[Symbol], budget: int) -> PathAbbreviation:
    """By the places that the best symbols will be written under."""
    best = dict.fromkeys(symbol.path for symbol in symbols[: budget // _PER_SYMBOL])
    folders = dict.fromkeys(posixpath.dirname(path) + "/" for path in best)
    return choose_path_abbreviation([*list(best)[: len(best) // 4], *folders])


def _all_named(filling: SymbolSelection, home: PathAbbreviation, symbols: Iterable[Symbol]) -> bool:
    """Name as many as there is room for; whether that was all of them."""
    misses = in_a_row = 0
    for symbol in symbols:
        named = _named(filling, home, symbol)
        misses, in_a_row = misses + (not named), 0 if named else in_a_row + 1
        if in_a_row > _TRIES or filling.tokens_left < _LITTLE:
            return False
    return not misses


def _detailed(
    filling: SymbolSelection,
    home: PathAbbreviation,
    symbols: Sequence[Symbol],
    users: FindUsers,
    keep: int,
) -> None:
    """Add signatures until only the room to `keep` is left."""
    for symbol in symbols:
        if symbol.definition.member_of:
            continue
        block = filling.blocks.get(symbol.path) or SymbolBlock(
            _head(home, symbol.path, users(symbol.path))
        )
        line = shorten_signature(to_one_line(symbol.definition.signature), SIGNATURE_WIDTH)
        if not filling.add_signature(
            symbol.path, block, to_one_line(symbol.definition.name), line, keep
        ):
            return


def _named(filling: SymbolSelection, home: PathAbbreviation, symbol: Symbol) -> bool:
    """Add a name alone: to its hub's lines, or to its folder's."""
    folder = posixpath.dirname(symbol.path)
    place = symbol.path if symbol.path in filling.blocks else folder + "/"
    block = filling.blocks.get(place) or SymbolBlock(home.abbreviate(place.lstrip("/")) or "./")
    definition = symbol.definition
    return filling.add_name(
        place, block, to_one_line(definition.name), to_one_line(definition.member_of)
    )


def _head(home: PathAbbreviation, path: str, users: Sequence[str]) -> str:
    shown = home.abbreviate(path)
    if not users:
        return shown
    near = posixpath.dirname(path)
    more = f" +{len(users) - _USERS}" if len(users) > _USERS else ""
    return f"{shown} <- {' '.join(_short(user, near) for user in users[:_USERS])}{more}"


def _short(path: str, near: str) -> str:
    """A path as short as it is still understood by a reader of its neighbour in `near`."""
    folder, name = posixpath.split(path)
    if folder == near:
        return quote_path(name, blanks=False)
    if near and folder.startswith(near + "/"):
        return quote_path(path[len(near) + 1 :], blanks=False)
    above = folder.split("/")
    kept = above[-2:] if above[-1] in SOURCE_FOLDERS else above[-1:]
    return quote_path("/".join(filter(None, (*kept, name))), blanks=False)
