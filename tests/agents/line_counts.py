"""Count how often texts reached a model by their lines, which is not how cub counts them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cub.actions.agent_context import ContextSource
from cub.actions.agents.text_marks import Arrival

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARKUP = re.compile(r"^[\s#>*-]+")
_LONG = 24  # characters of a line that agents would hardly have in a text of their own


def count_sources(sources: Sequence[ContextSource], texts: Sequence[str]) -> list[Arrival | None]:
    """How often each text is among what was sent, by the lines that no other text has."""
    whole = "\n".join(" ".join(text.split()) for text in texts)
    folded = [_fold_lines(source.missing) for source in sources]
    found: list[Arrival | None] = []
    for number, (source, lines) in enumerate(zip(sources, folded, strict=True)):
        others = "\n".join(line for at, own in enumerate(folded) if at != number for line in own)
        wholes = [" ".join(text.split()) for text in source.variants]
        counts = [
            whole.count(line) for line in lines
            if len(line) >= _LONG and lines.count(line) == 1 and line not in others
            and all(line in variant for variant in wholes)
        ]  # fmt: skip
        is_cut = bool(counts) and min(counts) == 0 < max(counts)
        found.append(Arrival(max(counts), is_cut) if counts else None)
    return found


def _fold_lines(text: str) -> list[str]:
    lines = (_MARKUP.sub("", line) for line in _COMMENT.sub("", text).splitlines())
    return [" ".join(line.split()) for line in lines if "@" not in line]
