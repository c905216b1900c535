"""Which names a source file gives to others: one query over its tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from cub.repomap.symbols.definition import Definition
from cub.repomap.symbols.describing import SCRIPTS, described
from cub.repomap.symbols.enclosing import Placed, placed
from cub.repomap.symbols.grammars import LANGUAGES, grammar
from cub.repomap.symbols.javascript import reread
from cub.repomap.symbols.lua import of_module
from cub.repomap.symbols.matches import Match, matches_in, text_of
from cub.repomap.symbols.parsing import parsed

_MOST = 10_000  # beyond, a file is a table

__all__ = ["LANGUAGES", "definitions"]


def definitions(language: str, data: bytes) -> tuple[Definition, ...] | None:
    """What a file defines, in its order; None if there is no grammar or it can't be parsed."""
    known = grammar(language)
    tree = parsed(known.parser, data, known.ending) if known else None
    if known is None or tree is None:
        return None
    matches: Iterable[Match] = matches_in(known, tree.root_node, len(data))
    if language in SCRIPTS:
        matches = reread(data, matches)
    revealed = set[str]()
    places = placed(data, _without_reveals(data, matches, revealed))
    found = _first_of_each(language, data, islice(places, _MOST))
    return _settled(of_module(found, revealed) if language == "lua" else found, revealed)


def _first_of_each(language: str, data: bytes, places: Iterable[Placed]) -> list[Definition]:
    """Of overloads the first, and a definition rather than its prototype."""
    found = dict[tuple[str, str, str], tuple[bool, Definition]]()
    for place in places:
        one = described(language, data, place)
        key = (one.name, one.kind, one.member_of)
        is_prototype = place.match.role == "prototype"
        if key not in found or (found[key][0] and not is_prototype):
            found[key] = (is_prototype, one)
    return [one for _, one in found.values()]


def _without_reveals(data: bytes, matches: Iterable[Match], revealed: set[str]) -> Iterator[Match]:
    """The matches that define; those that only show a name are collected."""
    for match in matches:
        if match.role == "reveal":
            revealed.add(text_of(data, match.nodes["reveal"][0]))
        else:
            yield match


def _settled(found: Sequence[Definition], revealed: set[str]) -> tuple[Definition, ...]:
    """With what only the whole file tells: names shown elsewhere, members of hidden types."""
    shown = dict[str, bool]()
    top = [one for one in found if not one.member_of]
    for one in top:
        shown[one.name] = shown.get(one.name, False) or one.exported or one.name in revealed
    settled = []
    for one in found:
        exported = (
            one.exported and shown.get(one.member_of, True) if one.member_of else shown[one.name]
        )
        if one.member_of:
            shown.setdefault(one.name, exported)
        settled.append(one if exported == one.exported else one._replace(exported=exported))
    return tuple(sorted(settled, key=lambda one: one.line))
