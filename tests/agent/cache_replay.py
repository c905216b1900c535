"""Replay the requests of a session through the rules of a service's cache, and count the price.

The rules are those of Anthropic's cache: a request marks up to four blocks, up to each of which it
is cached; from each mark, the service looks back 20 blocks for what an earlier request had cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from cub.agent.anthropic_model import AnthropicModel
from cub.agent.context_window import ContextWindow, SessionLimits
from cub.agent.conversation import Message, make_user_message
from cub.agent.model import ModelEndpoint, ModelRequest
from cub.agent.old_results import ResultCutter
from cub.json_values import JsonObject
from cub.tokens import estimate_tokens
from tests.agent.exchanges import cut_old_results, make_turn

READ_PRICE, WRITE_PRICE = 0.1, 1.25
_LOOKBACK = 20
_BLOCK_TOKENS = 10  # for what JSON has around the texts
_SYSTEM = "You are a coding agent. " * 300

# The lengths of results, in characters, one list for each turn. The last one is of a session in
# which a bug was looked for and fixed: searches, files, edits, and runs of the tests.
PATTERNS: dict[str, list[list[int]]] = {
    "40 reads of 12 KB": [[12_000]] * 40,
    "40 reads of 20 KB": [[20_000]] * 40,
    "every second one of 15 KB": [[15_000], [1_000]] * 20,
    "every fourth one of 30 KB": [[30_000], [1_000], [1_000], [1_000]] * 10,
    "three of 12 KB a turn": [[12_000] * 3] * 20,
    "20 of 12 KB a turn": [[12_000] * 20] * 10,
    "20 of 12 KB, then a small one": [[12_000] * 20, [500]] * 8,
    "30 small ones a turn": [[500] * 30] * 20,
    "a bug fix": [
        [1_900], [3_400, 800], [14_200], [6_100, 9_800, 2_300], [700], [22_500], [4_200], [300],
        [5_600], [12_800, 3_100], [900], [350], [8_700], [350, 350], [31_000], [2_600], [450],
        [18_400], [1_200, 4_900], [350], [6_300], [250], [11_500], [3_800], [350], [9_200],
        [16_900, 2_700], [600], [350], [5_100], [27_300], [1_400], [350], [4_700], [7_900],
        [350, 300], [13_600], [2_200], [350], [6_800], [500], [10_400], [1_700], [900], [400],
    ],
}  # fmt: skip
# What results consist of; a token has 2, 4, or 8 characters.
FILLERS = ("f(x); ", "The price of bread is in cents.\n", "import logging  # " + " " * 14)


class CacheCost(NamedTuple):
    """Count the tokens of all requests, and what they cost, as so many that are not cached.

    `again` are those that the request before has had as well, `cached` those read from the cache.
    """

    sent: int
    again: int
    cached: int
    cost: float

    @property
    def share(self) -> float:
        return self.cached / self.again


class EachTurn(ResultCutter):
    """Cuts old results before each request."""

    def cut(self, messages: list[Message], *_: object, **__: object) -> list[Message]:
        return cut_old_results(messages)


class NeverCut(ResultCutter):
    """Cuts nothing."""

    def cut(self, messages: list[Message], *_: object, **__: object) -> list[Message]:
        return messages


def replay(sizes: Sequence[Sequence[int]], cutter: ResultCutter, filler: str) -> CacheCost:
    """What the cache makes of a session whose calls have results of these sizes."""
    window = ContextWindow("m", 0, SessionLimits(1_000, 10**9))
    return count_cost(_iter_requests(sizes, cutter, window, filler))


def _iter_requests(
    sizes: Sequence[Sequence[int]], cutter: ResultCutter, window: ContextWindow, filler: str
) -> Iterator[ModelRequest]:
    messages = [make_user_message("Fix the bug that the issue describes.")]
    for number, turn_sizes in enumerate([[], *sizes]):
        if number:
            messages += make_turn(f"{number}.", *(_make_text(filler, size) for size in turn_sizes))
        messages = cutter.cut(messages, window)
        messages, ends = cutter.prepare_messages(messages)
        yield ModelRequest(_SYSTEM, messages, (), 1_000, ends)


@cache
def _make_text(filler: str, size: int) -> str:
    return (filler * (size // len(filler) + 1))[:size]


def count_cost(requests: Iterable[ModelRequest]) -> CacheCost:
    """What a series of requests costs."""
    sent = again = cached = 0
    entries, before = set[int](), set[tuple[str, ...]]()
    model = AnthropicModel(ModelEndpoint("m", "http://127.0.0.1:1"))
    for request in requests:
        blocks, marks = list[tuple[str, ...]](), list[int]()
        for number, (block, is_marked) in enumerate(_iter_blocks(model.build_body(request))):
            blocks.append(block)
            marks += [number] if is_marked else []
        assert len(marks) <= 4
        prefixes = list(accumulate(blocks, lambda prefix, block: hash((prefix, block)), initial=0))
        places = (p for mark in marks for p in range(mark, max(-1, mark - _LOOKBACK), -1))
        found = max((p for p in places if prefixes[p + 1] in entries), default=-1)
        tokens = [_BLOCK_TOKENS + sum(map(_count_tokens, block)) for block in blocks]
        cached += sum(tokens[: found + 1])
        sent += sum(tokens)
        again += sum(n for n, block in zip(tokens, blocks, strict=True) if block in before)
        before = set(blocks)
        entries.update(prefixes[mark + 1] for mark in marks)
    return CacheCost(sent, again, cached, READ_PRICE * cached + WRITE_PRICE * (sent - cached))


_count_tokens = cache(estimate_tokens)


def _iter_blocks(body: JsonObject) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The strings of each block of a request, and whether the cache is marked there."""
    messages: list[dict[str, Any]] = body["messages"]
    for block in [*body["system"], *(b for message in messages for b in message["content"])]:
        rest = {key: value for key, value in block.items() if key != "cache_control"}
        yield tuple(_iter_strings(rest)), "cache_control" in block


def _iter_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _iter_strings(part)
