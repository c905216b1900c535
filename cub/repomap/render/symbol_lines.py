"""Render the symbols of the map: hubs with signatures and users, then the names of each folder.

A hub is a file of the best symbols. Lines grow, name by name, as long as the budget allows.
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

SIGNATURE_WIDTH = 56  # characters
SIGNATURE_SHARE = 0.25  # of the budget: more if all names fit
_STEPS = 7  # between the two: the budget is used up to one or two percent
_MAX_USERS = 3
_MAX_MISSES = 20_000  # symbols in a row that do not fit, before the rest is given up
_TOKENS_PER_SYMBOL = 8  # on average
_MIN_NAME_TOKENS = 2

FindUsers = Callable[[str], Sequence[str]]  # files that use a file, the main one first


def render_symbol_lines(
    symbols: Sequence[Symbol], rest: Callable[[], Iterable[Symbol]], users: FindUsers, budget: int
) -> list[str]:
    """Return lines of at most `budget` tokens; `rest` gives symbols that are named last."""
    # By the files and folders under which the best symbols will be written.
    best = dict.fromkeys(symbol.path for symbol in symbols[: budget // _TOKENS_PER_SYMBOL])
    folders = dict.fromkeys(posixpath.dirname(path) + "/" for path in best)
    short = choose_path_abbreviation([*list(best)[: len(best) // 4], *folders])
    top = [short.legend] if short.folder else []
    budget -= sum(map(estimate_tokens, top))

    def select(share: float) -> tuple[SymbolSelection, bool]:
        selection = SymbolSelection(budget)
        _add_signatures(selection, short, symbols, users, budget - int(budget * share))
        return selection, _add_names(selection, short, chain(symbols, rest()))

    selection, has_all_names = select(SIGNATURE_SHARE)
    if has_all_names:
        selection = _maximize_signatures(select, selection)
    _add_member_signatures(selection, symbols)
    return top + [line for block in selection.blocks.values() for line in block.render_lines()]


def _maximize_signatures(
    select: Callable[[float], tuple[SymbolSelection, bool]], least: SymbolSelection
) -> SymbolSelection:
    """Return the selection with as many signatures as leave space for all names."""
    best, low, high = least, SIGNATURE_SHARE, 2.0  # the first step tries them all
    for _ in range(_STEPS):
        middle = (low + high) / 2
        selection, has_all_names = select(min(middle, 1.0))
        if has_all_names and middle >= 1.0:
            return selection
        best, low, high = (selection, middle, high) if has_all_names else (best, low, middle)
    return best


def _add_signatures(
    selection: SymbolSelection,
    short: PathAbbreviation,
    symbols: Sequence[Symbol],
    users: FindUsers,
    reserve: int,
) -> None:
    for symbol in symbols:
        if symbol.definition.member_of:
            continue
        path, name = symbol.path, to_one_line(symbol.definition.name)
        block = selection.blocks.get(path) or SymbolBlock(_format_head(short, path, users(path)))
        if not selection.add_signature(path, block, name, _format_signature(symbol), reserve):
            return


def _add_names(
    selection: SymbolSelection, short: PathAbbreviation, symbols: Iterable[Symbol]
) -> bool:
    """Add as many names as fit, and return whether those were all of them."""
    misses = misses_in_a_row = 0
    for symbol in symbols:
        is_added = _add_name(selection, short, symbol)
        misses += not is_added
        misses_in_a_row = 0 if is_added else misses_in_a_row + 1
        if misses_in_a_row > _MAX_MISSES or selection.tokens_left < _MIN_NAME_TOKENS:
            return False
    return not misses


def _add_name(selection: SymbolSelection, short: PathAbbreviation, symbol: Symbol) -> bool:
    """Add a name alone, to the lines of its hub or else its folder."""
    folder = posixpath.dirname(symbol.path)
    place = symbol.path if symbol.path in selection.blocks else folder + "/"
    block = selection.blocks.get(place)
    block = block or SymbolBlock(short.abbreviate(place.lstrip("/")) or "./")
    name, owner = to_one_line(symbol.definition.name), to_one_line(symbol.definition.member_of)
    return selection.add_name(place, block, name, owner)


def _add_member_signatures(selection: SymbolSelection, symbols: Sequence[Symbol]) -> None:
    for symbol in symbols:
        block, definition = selection.blocks.get(symbol.path), symbol.definition
        if block and definition.member_of and selection.tokens_left >= _MIN_NAME_TOKENS:
            owner, name = to_one_line(definition.member_of), to_one_line(definition.name)
            selection.add_member_signature(block, owner, name, _format_signature(symbol))


def _format_signature(symbol: Symbol) -> str:
    return shorten_signature(to_one_line(symbol.definition.signature), SIGNATURE_WIDTH)


def _format_head(short: PathAbbreviation, path: str, users: Sequence[str]) -> str:
    if not users:
        return short.abbreviate(path)
    near = posixpath.dirname(path)
    more = f" +{len(users) - _MAX_USERS}" if len(users) > _MAX_USERS else ""
    paths = " ".join(_shorten_path(user, near) for user in users[:_MAX_USERS])
    return f"{short.abbreviate(path)} <- {paths}{more}"


def _shorten_path(path: str, near: str) -> str:
    """Return a path as short as a reader of its neighbor in `near` still understands it."""
    folder, name = posixpath.split(path)
    if folder == near:
        return quote_path(name, blanks=False)
    if near and folder.startswith(near + "/"):
        return quote_path(path[len(near) + 1 :], blanks=False)
    above = folder.split("/")
    last = above[-2:] if above[-1] in SOURCE_FOLDERS else above[-1:]
    return quote_path("/".join(filter(None, (*last, name))), blanks=False)


_ALSO = "  also:"


@dataclass(slots=True)
class SymbolBlock:
    """Hold the lines of one file or folder.

    `signatures` are by name; `names` has the names alone; `members` those of either.
    `member_signatures`, by owner and name, follow the owner's own.
    """

    head: str
    signatures: dict[str, str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    member_signatures: dict[str, dict[str, str]] = field(default_factory=dict)

    def render_lines(self) -> Iterator[str]:
        """Yield the lines of the block."""
        names = " ".join(map(self._format_name, self.names))
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

    def _format_name(self, name: str) -> str:
        members = self.members.get(name)
        return f"{name}({' '.join(members)})" if members else name


@dataclass(slots=True)
class SymbolSelection:
    """Hold the blocks that are selected so far, by file or folder, and the tokens that are left."""

    tokens_left: int
    blocks: dict[str, SymbolBlock] = field(default_factory=dict)

    def add_signature(
        self, place: str, block: SymbolBlock, name: str, signature: str, reserve: int
    ) -> bool:
        """Add a signature to the block of `place`, unless less than `reserve` would be left."""
        cost = self._measure_head(place, block) + estimate_tokens(signature)
        if self.tokens_left - cost < reserve:
            return False
        if name not in block.signatures:
            self._spend(place, block, cost)
            block.signatures[name] = signature
        return True

    def add_name(self, place: str, block: SymbolBlock, name: str, owner: str) -> bool:
        """Add a name, that of a member after its owner's; return False if it does not fit."""
        cost = self._measure_head(place, block) + self._measure_name(block, owner or name)
        if owner:
            is_first = owner not in block.members
            cost += estimate_tokens(name) + 2 * is_first
        if cost > self.tokens_left:
            return False
        self._spend(place, block, cost)
        if (owner or name) not in block.signatures:
            block.names[owner or name] = None
        if owner and name not in block.members.setdefault(owner, []):
            block.members[owner].append(name)
        return True

    def add_member_signature(
        self, block: SymbolBlock, owner: str, name: str, signature: str
    ) -> None:
        """Replace a member's name by its signature, if the owner has one and it fits."""
        cost = estimate_tokens(signature) - estimate_tokens(name)
        members = block.members.get(owner, [])
        if owner in block.signatures and name in members and cost <= self.tokens_left:
            self.tokens_left -= cost
            members.remove(name)
            block.member_signatures.setdefault(owner, {})[name] = signature

    def _measure_name(self, block: SymbolBlock, name: str) -> int:
        """Return the cost of a name that is not a member; 0 if it is there already."""
        if name in block.signatures or name in block.names:
            return 0
        label = 0 if block.names or not block.signatures else estimate_tokens(_ALSO)
        return label + estimate_tokens(name)

    def _measure_head(self, place: str, block: SymbolBlock) -> int:
        """Return the cost of a head, with a token for the colon after a folder's path."""
        return 0 if place in self.blocks else estimate_tokens(block.head) + 1

    def _spend(self, place: str, block: SymbolBlock, cost: int) -> None:
        self.tokens_left -= cost
        self.blocks[place] = block


_SHORT = "~"
_MIN_LEVELS = 3  # shorter paths need no short form


class PathAbbreviation(NamedTuple):
    """Write `folder` as `~` in front of the paths below it; "" for none."""

    folder: str = ""

    @property
    def legend(self) -> str:
        """Return the line that explains the short form."""
        return f"{_SHORT} is {quote_path(self.folder)}"

    def abbreviate(self, path: str) -> str:
        """Return a path as it is written; a folder's ends with `/`."""
        if self.folder and path.startswith(self.folder + "/"):
            return quote_path(_SHORT + path[len(self.folder) :])
        return quote_path(path)


def choose_path_abbreviation(paths: Iterable[str]) -> PathAbbreviation:
    """Choose the folder whose short form saves most tokens in `paths`, if it saves any."""
    counts: Counter[str] = Counter()
    for folder in map(posixpath.dirname, paths):
        parts = folder.split("/")
        counts.update("/".join(parts[:depth]) for depth in range(_MIN_LEVELS, len(parts) + 1))
    savings: dict[str, int] = {}
    for folder, count in counts.items():
        # The legend counts twice because it has to be kept in mind.
        legend = estimate_tokens(PathAbbreviation(folder).legend)
        savings[folder] = count * (estimate_tokens(quote_path(folder)) - 1) - 2 * legend
    best = max(sorted(savings), key=savings.__getitem__, default="")
    return PathAbbreviation(best) if savings.get(best, 0) > 0 else PathAbbreviation()
