"""Count how often a text reached a model, by those of its lines that no other text has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cub.actions.agent_context import ContextSource

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # Claude Code takes comments out
_MARKUP = re.compile(r"^[\s#>*-]+")  # a heading may have another level
_LONG = 24  # characters of a line that agents would hardly have in a text of their own
_SHORT = 8  # of the only lines of a short text


class Arrival(NamedTuple):
    """Say how often a text arrived, and whether only a part of it did."""

    times: int
    is_cut: bool

    @property
    def is_once(self) -> bool:
        """Return whether the whole text arrived once."""
        return self == (1, False)

    def to_text(self) -> str:
        """Return it for people: the number, and `cut` if a part is missing."""
        return f"{self.times}, cut" if self.is_cut else str(self.times)


def choose_lines(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the lines by which each text can be told from all others; () if it has none.

    A line with an import may arrive as the imported file, so it is none of them.
    """
    folded = [_fold_lines(text) for text in texts]
    wholes = ["\n".join(lines) for lines in folded]
    chosen = []
    for number, lines in enumerate(folded):
        others = "\n".join(whole for at, whole in enumerate(wholes) if at != number)
        own = [line for line in lines if wholes[number].count(line) == 1 and line not in others]
        long = tuple(line for line in own if len(line) >= _LONG)
        chosen.append(long or tuple(line for line in own if len(line) >= _SHORT))
    return chosen


def count_arrivals(lines: Sequence[str], sent: Sequence[str]) -> Arrival:
    """Return how often the text with these lines is in what was sent to a model."""
    whole = "\n".join(" ".join(text.split()) for text in sent)
    counts = [whole.count(line) for line in lines]
    return Arrival(max(counts), min(counts) == 0 < max(counts))


def count_sources(sources: Sequence[ContextSource], texts: Sequence[str]) -> list[Arrival | None]:
    """Return how often each text is among what was sent; None if it has no line of its own.

    The sources are those of an agent that reads nothing: what it misses is what is handed over.
    """
    arrivals: list[Arrival | None] = []
    for source, own in zip(sources, choose_lines([one.missing for one in sources]), strict=True):
        wholes = [" ".join(text.split()) for text in source.variants]
        lines = [line for line in own if all(line in whole for whole in wholes)]
        arrivals.append(count_arrivals(lines, texts) if lines else None)
    return arrivals


def _fold_lines(text: str) -> list[str]:
    """Return the lines without what agents may change of them: comments, markup, blanks."""
    lines = (_MARKUP.sub("", line) for line in _COMMENT.sub("", text).splitlines())
    return [" ".join(line.split()) for line in lines if "@" not in line]
