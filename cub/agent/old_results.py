"""Cut results of tools: old ones when that pays, and those of one turn that are too long together.

A service caches the start of a request up to the first difference from an earlier one. A result
that is cut makes it write anew all that follows, so each cut has a price.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cub.agent.context_window import ContextWindow
from cub.agent.conversation import (
    ImageBlock,
    Message,
    TextBlock,
    ToolResult,
    change_results,
    count_same,
    drop_bound_reasoning,
)
from cub.text import cut_middle

RECENT_RESULTS = 3
MAX_OLD_RESULT = 10_000  # characters
CACHE_SECONDS = 300.0  # after which a service drops what nobody has asked for
_MIN_GAIN = 3  # tokens that a cut removes for each one that has to be cached again
_MIN_SHOWN, _NOTICE_CHARS = 500, 200  # of a result that is cut


@dataclass(slots=True)
class ResultCutter:
    """Cut old results when they have three times the tokens that the service caches again for it.

    If none of the last three results is large, no other cut is near, so they are cut at once.
    `sent` are the messages of the last request.
    """

    clock: Callable[[], float] = time.monotonic
    sent: Sequence[Message] = ()
    _sent_at: float = 0.0
    _uncuttable: int = 0  # of these, the first that have nothing to cut

    def prepare_messages(self, messages: list[Message]) -> tuple[list[Message], list[int]]:
        """Return messages as they are sent, and the numbers of those that end a part of the cache.

        One part is what the service has cached before, the other one what no later cut can change:
        the request after a cut finds it however many blocks there are. Reasoning that is bound to
        messages that have changed is left out.
        """
        same = count_same(messages, self.sent)
        if same < len(self.sent):
            messages = [*messages[:same], *map(drop_bound_reasoning, messages[same:])]
        self._uncuttable = self._find_large_result(messages)
        self.sent, self._sent_at = tuple(messages), self.clock()
        return messages, sorted({same - 1, self._uncuttable - 1} - {-1})

    def cut(
        self, messages: list[Message], window: ContextWindow, *, at_once: bool = False
    ) -> list[Message]:
        """Return the messages with old results cut if that pays or has to be, else as they are.

        Large texts are replaced in all but the last three results, and others of the same message:
        those of the last reply are not seen yet. The notice says how long a text was, as the design
        document of the agent has it.
        """
        start, recent = self._find_large_result(messages), _find_recent_results(messages)
        if start >= recent:
            return messages
        cut = change_results(messages[start:recent], _truncate_result)
        count, after = window.estimate_messages, messages[recent:]
        cached = len(self.sent) if self.clock() - self._sent_at <= CACHE_SECONDS else 0
        cached_again = count([*cut, *after][: max(0, cached - start)])
        pays = count(messages[start:recent]) - count(cut) >= _MIN_GAIN * cached_again
        is_last = not any(map(_has_large_result, after))
        return [*messages[:start], *cut, *after] if at_once or pays or is_last else messages

    def _find_large_result(self, messages: Sequence[Message]) -> int:
        """Return the number of the first message with a result that is cut once it is old."""
        start = min(self._uncuttable, count_same(messages, self.sent))
        numbers = range(start, len(messages))
        return next((n for n in numbers if _has_large_result(messages[n])), len(messages))


def _find_recent_results(messages: Sequence[Message]) -> int:
    """Return the number of the message with which the last three results begin."""
    count = 0
    for number in reversed(range(len(messages))):
        count += len(messages[number].results)
        if count >= RECENT_RESULTS:
            return number
    return 0


def _has_large_result(message: Message) -> bool:
    return any(_is_large(block) for result in message.results for block in result.content)


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
    [bounded] = change_results([message], lambda result: _bound_result(result, largest, window))
    return bounded


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
