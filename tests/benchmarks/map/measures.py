"""How good a map is: the share of what matters in a repository that its text names.

Docs-API recall: of the names that the documentation documents most and the source defines.
Later-commit hit: of the later commits, by whether a symbol that they touch is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.benchmarks.map.defined import defined
from tests.benchmarks.map.documented import documented
from tests.benchmarks.map.kinds import kind, language

FEWEST = 10  # a repository that documents fewer names says too little
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


Pair = tuple[float | None, float | None]


class Answers(NamedTuple):
    """What a map should name: names by rank, and the names that each later commit touches."""

    top: Sequence[str]
    every: Sequence[str]
    examples: Sequence[str]
    touched: Sequence[Sequence[str]] = ()


class Score(NamedTuple):
    """Recall among the first 30 and 100 names, for each way to cut them, and the hit."""

    top: Pair
    every: Pair
    examples: Pair
    hit: float | None


def answers(texts: Mapping[str, str], touched: Sequence[Sequence[str]] = ()) -> Answers:
    """What a repository's own documentation and history say of it.

    `top` has the names that are defined at top level, `every` those of methods too, and in
    `examples` a name that an example in the documentation uses is documented as well.
    """
    found = [
        one
        for path, text in texts.items()
        if kind(path) == "source"
        for one in defined(language(path), text)
    ]
    top, every = {one.name for one in found if one.top}, {one.name for one in found}
    docs = [text for path, text in texts.items() if kind(path) == "docs"]
    return Answers(
        documented(docs, top),
        documented(docs, every),
        documented(docs, top, examples=True),
        touched,
    )


def score(text: str, right: Answers) -> Score:
    """What a map's text is worth."""
    words = set(_WORD.findall(text))
    pairs = [
        (recall(words, names, 30), recall(words, names, 100))
        for names in (right.top, right.every, right.examples)
    ]
    return Score(pairs[0], pairs[1], pairs[2], hit(words, right.touched))


def recall(words: set[str], names: Sequence[str], count: int) -> float | None:
    """The share of the first `count` names that are among the words."""
    first = names[:count]
    return sum(name in words for name in first) / len(first) if len(names) >= FEWEST else None


def hit(words: set[str], touched: Sequence[Sequence[str]]) -> float | None:
    """The share of commits of which at least one symbol is among the words."""
    return sum(not words.isdisjoint(names) for names in touched) / len(touched) if touched else None


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that there are."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean of each figure."""
    return Score(
        _mean_pair([score.top for score in scores]),
        _mean_pair([score.every for score in scores]),
        _mean_pair([score.examples for score in scores]),
        mean([score.hit for score in scores]),
    )


def _mean_pair(pairs: Sequence[Pair]) -> Pair:
    return mean([first for first, _ in pairs]), mean([second for _, second in pairs])
