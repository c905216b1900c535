"""Know how many tokens a model can read, and about how many a conversation has."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    count_same,
)
from cub.agent.model import ModelError
from cub.tokens import TokenUsage, estimate_tokens, find_context_window

_IMAGE_TOKENS, _MESSAGE_TOKENS = 1_500, 4
_REPLY_PART, _MARGIN_PART = 4, 20  # of a window, a reply takes at most 1/4; 1/20 stays free
_COMMON_WINDOW = 8_000  # tokens; for fewer, a first request does not wait for the table


class SessionLimits(NamedTuple):
    """Limit a session; None for no limit.

    `max_tokens` is for one reply. Above `compaction_threshold` tokens, old messages are summarized,
    or earlier if the model can't read as many: `window` tokens, or else what `find_window` returns
    for the model's name, None if that is not known.
    """

    max_tokens: int
    compaction_threshold: int
    max_turns: int | None = None
    window: int | None = None
    find_window: Callable[[str], int | None] = find_context_window


@dataclass(slots=True)
class ContextWindow:
    """Hold how many tokens a conversation with a model may have, and count those that it has.

    `overhead` are those of each request beside the messages. The limits change with what the
    model's service says of its window.
    """

    model: str
    overhead: int
    limits: SessionLimits
    _is_searched: bool = False
    _sizes: dict[int, int] = field(default_factory=dict)  # tokens of texts, by their hashes
    _reported: int = 0  # tokens of the last request and its reply, as the service counted them
    _estimated: int = 0  # the estimate of the same messages
    _counted: Sequence[Message] = ()  # these messages

    @property
    def reply_limit(self) -> int:
        """Return how many tokens a reply may have, with its part of a small window."""
        size, max_tokens = self.limits.window, self.limits.max_tokens
        return min(max_tokens, size // _REPLY_PART) if size else max_tokens

    def find_threshold(self, tokens: int) -> int:
        """Return how many tokens a conversation may have that has so many now."""
        is_due = self._estimated or tokens > _COMMON_WINDOW  # Ollama knows it after a reply
        if is_due and not (self.limits.window or self._is_searched):
            self._is_searched = True
            self.limits = self.limits._replace(window=self.limits.find_window(self.model))
        size, threshold = self.limits.window, self.limits.compaction_threshold
        return min(threshold, size - self.reply_limit - size // _MARGIN_PART) if size else threshold

    def limit_results(self, tokens: int, results: int) -> int:
        """Return how many of the tokens of a turn's results may follow so many others.

        At least a quarter of the threshold, for which old messages make room; at most a half of it.
        """
        threshold = self.find_threshold(tokens + results)
        return max(threshold // 4, min(threshold // 2, threshold - tokens))

    def measure(self, messages: Sequence[Message]) -> int:
        """Return about how many tokens a request with these messages has.

        They are what the service has counted for the last request, and the estimate of what was
        added since. Of messages that were cut since, they are as much less as the estimate.
        """
        estimated = self.estimate(messages)
        if not self._estimated:
            return estimated
        if estimated >= self._estimated:
            return self._reported + estimated - self._estimated
        return self._reported * estimated // self._estimated

    def estimate(self, messages: Sequence[Message]) -> int:
        """Return the estimate alone: it tells how much less one conversation has than another."""
        start, tokens = count_same(messages, self._counted), self._estimated
        if start < len(self._counted) or not start:
            start, tokens = 0, self.overhead
        return tokens + self.estimate_messages(messages[start:])

    def estimate_messages(self, messages: Sequence[Message]) -> int:
        """Return about how many tokens some messages of a request add to it."""
        blocks = [block for message in messages for block in message.blocks]
        return _MESSAGE_TOKENS * len(messages) + sum(map(self.estimate_block, blocks))

    def estimate_block(self, block: Block) -> int:
        """Return about how many tokens a block has."""
        match block:
            case ImageBlock():
                return _IMAGE_TOKENS
            case ToolResult():
                return sum(map(self.estimate_block, block.content))
            case TextBlock():
                text = block.text
            case ReasoningBlock():
                text = json.dumps(block.data, ensure_ascii=False)
            case ToolCall():
                values = [block.name, block.arguments, dict(block.extra)]
                text = json.dumps(values, ensure_ascii=False)
        key = hash(text)
        if key not in self._sizes:  # counting takes a hundred times as long
            self._sizes[key] = estimate_tokens(text)
        return self._sizes[key]

    def record_usage(self, messages: Sequence[Message], usage: TokenUsage) -> None:
        """Note what the service has counted for a request with its reply, which are the messages.

        Some servers count only what they had not cached, so less than half of the estimate is not
        believed; others count nothing.
        """
        self._estimated, self._counted = self.estimate(messages), tuple(messages)
        counted = max(usage.total + usage.cache_read, self._estimated // 2)
        self._reported = counted if any(usage) else self._estimated

    def record_refusal(self, messages: Sequence[Message], window: int | None) -> int:
        """Note that messages were too many tokens; return at least how many they have.

        `window` is what the model can read if the service has said so. If not, the conversation
        stays below what was refused from now on.
        """
        tokens = self.measure(messages)
        lower = self.limits.compaction_threshold if window else tokens * 3 // 4
        self.limits = self.limits._replace(
            window=window or self.limits.window,
            compaction_threshold=min(self.limits.compaction_threshold, lower),
        )
        self._estimated, self._counted = self.estimate(messages), tuple(messages)
        self._reported = max(tokens, self.limits.window or 0)
        return self._reported

    def explain_refusal(self, error: ModelError) -> str:
        """Return why a request that can't be cut any further has failed, and what to do."""
        size = f" of {self.limits.window:,} tokens" if self.limits.window else ""
        message = f"the conversation does not fit the model's window{size}: {error.message}"
        return f"{message}; write a shorter prompt, or choose a model with a larger window"
