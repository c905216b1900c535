"""How sure it is that a file means a definition when it says its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cub.repomap.ranking.modules import Module
from cub.repomap.ranking.tokens import Token
from cub.repomap.ranking.weights import Weights

_NAME, _MODULE, _PACKAGE = "imports its name", "imports its module", "imports from its folder"
_FOLDER = "is in the same folder"

Meant = tuple[Sequence[int], float, str]  # definitions, the weight of them all, and why


class Judge:
    """Tells what a file means by a token, from what it imports and where it stands."""

    def __init__(self, weights: Weights, modules: Sequence[Module]) -> None:
        self.weights, self.modules = weights, modules

    def meant(
        self, token: Token, imported: frozenset[str], named: frozenset[str], folder: str
    ) -> Meant:
        """The likeliest: those whose module is imported, else those nearby, else all.

        `imported` are all words of a file's imports, and `named` the names that they bring in;
        `folder` is where the file stands.
        """
        weights = self.weights
        if token.qualified:
            return token.entries, weights.imported, "names it with its module"
        discount = 1.0
        if token.dotted:
            discount = weights.dotted if token.distinctive else weights.dotted_plain
        is_named = token.name in named and not token.dotted
        if not imported.isdisjoint(token.modules):
            weight = weights.imported * discount
            return self._of(token, lambda m: m.name in imported), weight, _MODULE
        if not imported.isdisjoint(token.words):
            weight = weights.imported if is_named else weights.near * discount
            found = self._of(token, lambda m: not imported.isdisjoint(m.words))
            return found, weight, _NAME if is_named else _PACKAGE
        if is_named:
            return token.entries, weights.imported, _NAME
        if folder in token.folders:
            near = weights.near if token.distinctive else weights.near / 2
            return self._of(token, lambda m: m.folder == folder), near * discount, _FOLDER
        weight = weights.distinctive if token.distinctive else weights.plain
        return token.entries, weight * discount, "says its name"

    def _of(self, token: Token, fits: Callable[[Module], bool]) -> Sequence[int]:
        """The definitions in modules that fit; where there is one module, it is known to."""
        if len(token.entries) == 1:
            return token.entries
        places = zip(token.entries, token.files, strict=True)
        return [entry for entry, file in places if fits(self.modules[file])]
