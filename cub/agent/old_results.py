"""Cut results of tools: old ones when that pays, and those of one turn that are too long together.

A service caches the start of a request up to the first difference from an earlier one. A result
that is cut makes it write anew all that follows, so each cut has a price.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from cub.agent.context_window import ContextWindow
from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    TextBlock,
    ToolResult,
    drop_stale_reasoning,
)
from cub.text import cut_middle

RECENT_RESULTS = 3
MAX_OLD_RESULT = 10_000  # characters
# The price of a token that is read from the cache, and of one that is written to it, in tokens that
# are not cached; and the seconds after which a service drops what nobody has asked for.
_READ_PRICE, _WRITE_PRICE, CACHE_SECONDS = 0.1, 1.25, 300.0
# How many coming requests a cut is expected to serve; few if the next cut is near.
_REQUESTS, _REQUESTS_BEFORE_NEXT = 20, 3
_MIN_SHOWN, _NOTICE_CHARS = 500, 200  # of a result that is cut


@dataclass(slots=True)
class ResultCutter:
    """Cut old results when reading them from the cache has cost as much as the cut will.

    Coming requests count, too: 20, or only 3 if one of the last results is large, as it will be
    cut soon, and one cut for both is cheaper. Once the cache is gone, a cut costs nothing.
    """

    clock: Callable[[], float] = time.monotonic
    _cost: float = 0.0  # what old results have cost since the last cut, in uncached tokens
    _sent: int = 0  # messages of the last request
    _sent_at: float | None = None

    def note_request(self, messages: Sequence[Message]) -> None:
        """Note that the service is asked to cache messages."""
        self._sent, self._sent_at = len(messages), self.clock()

    def cut(
        self, messages: list[Message], window: ContextWindow, *, at_once: bool = False
    ) -> list[Message]:
        """Return the messages with old results cut if that pays or has to be, else as they are."""
        cut = truncate_old_results(messages)
        pairs = enumerate(zip(messages, cut, strict=True))
        first = next((number for number, (old, new) in pairs if old != new), None)
        if first is None:
            return messages
        removed = window.estimate(messages) - window.estimate(cut)
        rewritten = window.estimate(cut[first : self._sent])
        self._cost += _READ_PRICE * removed
        expected = _READ_PRICE * removed * _count_requests(messages)
        price = (_WRITE_PRICE - _READ_PRICE) * rewritten
        if not (at_once or self._is_cache_gone() or self._cost + expected >= price):
            return messages
        self._cost = 0.0
        return cut

    def _is_cache_gone(self) -> bool:
        return self._sent_at is None or self.clock() - self._sent_at > CACHE_SECONDS


def _count_requests(messages: Sequence[Message]) -> int:
    """Return how many requests a cut will serve, as far as the last results tell."""
    results = (result for message in reversed(messages) for result in reversed(message.results))
    recent = (block for result in islice(results, RECENT_RESULTS) for block in result.content)
    return _REQUESTS_BEFORE_NEXT if any(map(_is_large, recent)) else _REQUESTS


def truncate_old_results(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with large texts in results replaced, but for the last three results.

    Results that the model has not seen yet stay as well, however many there are. The notice says
    how long a text was, as the design document of the agent has it.
    """
    shortened, passed, is_seen = list[Message](), 0, False
    for message in reversed(messages):
        is_seen = is_seen or message.role == "assistant"
        blocks = list[Block]()
        for block in reversed(message.blocks):
            if isinstance(block, ToolResult):
                passed += 1
                is_old = is_seen and passed > RECENT_RESULTS
                blocks.append(_truncate_result(block) if is_old else block)
            else:
                blocks.append(block)
        shortened.append(message._replace(blocks=tuple(reversed(blocks))))
    shortened.reverse()
    return drop_stale_reasoning(shortened, messages)


def _truncate_result(result: ToolResult) -> ToolResult:
    return result._replace(content=tuple(map(_truncate_block, result.content)))


def _truncate_block(block: TextBlock | ImageBlock) -> TextBlock | ImageBlock:
    return (
        TextBlock(f"[content truncated — {_get_size(block)} chars]") if _is_large(block) else block
    )


def _is_large(block: TextBlock | ImageBlock) -> bool:
    return _get_size(block) > MAX_OLD_RESULT


def _get_size(block: TextBlock | ImageBlock) -> int:
    return len(block.text if isinstance(block, TextBlock) else block.data)


def bound_results(message: Message, tokens: int, window: ContextWindow) -> Message:
    """Return the results of a turn, after so many tokens, with the longest cut if need be.

    Each that is cut ends with a notice for the model of how to get the rest.
    """
    sizes = sorted(map(window.estimate_block, message.results))
    largest = left = window.limit_results(tokens, sum(sizes))
    if sum(sizes) <= left:
        return message
    for number, size in enumerate(sizes):  # the shortest first: what they don't need is for others
        largest = left // (len(sizes) - number)
        if size > largest:
            break
        left -= size
    blocks = (
        _bound_result(block, largest, window) if isinstance(block, ToolResult) else block
        for block in message.blocks
    )
    return message._replace(blocks=tuple(blocks))


def _bound_result(result: ToolResult, limit: int, window: ContextWindow) -> ToolResult:
    tokens = window.estimate_block(result)
    if tokens <= limit:
        return result
    chars = max(_MIN_SHOWN, len(result.text) * limit // tokens)
    notice = "the results of this turn are too long together: ask for the rest in smaller parts"
    return shorten_result(result, chars, f"\n[{notice}]")


def shorten_result(result: ToolResult, max_chars: int, notice: str = "") -> ToolResult:
    """Return a result with both ends of each text that is longer, and the notice after them.

    A text that was cut so before stays as it is.
    """
    content = tuple(
        TextBlock(cut_middle(block.text, max_chars) + notice)
        if isinstance(block, TextBlock) and len(block.text) > max_chars + _NOTICE_CHARS
        else block
        for block in result.content
    )
    return result._replace(content=content)
