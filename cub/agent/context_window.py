"""Know how many tokens a model can read, and about how many a conversation has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.model import ModelError
from cub.tokens import TokenUsage, estimate_tokens, find_context_window

_IMAGE_TOKENS, _MESSAGE_TOKENS = 1_500, 4
_REPLY_PART, _MARGIN_PART = 4, 20  # of a window, a reply takes at most 1/4; 1/20 stays free
_COMMON_WINDOW = 8_000  # tokens; for fewer, a first request does not wait for the table


@dataclass(slots=True)
class ContextWindow:
    """Hold how many tokens a conversation with a model may have, and count those that it has.

    It is shortened above `max_threshold` tokens, or earlier if the model can't read as many. `size`
    is what the model can read, with the reply; None if nobody has said: then `find_size` is asked
    by the model's name. A reply has at most `max_reply` tokens.
    """

    model: str
    system: str
    max_threshold: int
    max_reply: int
    size: int | None = None
    find_size: Callable[[str], int | None] = find_context_window
    _is_size_searched: bool = False
    _counts: dict[str, int] = field(default_factory=dict)  # by the text
    _reported: int = 0  # tokens of the last request and its reply, as the service counted them
    _estimated: int = 0  # the estimate of the same messages

    @property
    def reply_limit(self) -> int:
        """Return how many tokens a reply may have."""
        return min(self.max_reply, self.size // _REPLY_PART) if self.size else self.max_reply

    def find_threshold(self, tokens: int) -> int:
        """Return how many tokens a conversation may have that has so many now."""
        # Ollama knows it once it has replied.
        can_ask_server = self._estimated and self.find_size is not find_context_window
        is_due = can_ask_server or tokens > _COMMON_WINDOW
        if is_due and not (self.size or self._is_size_searched):
            self._is_size_searched, self.size = True, self.find_size(self.model)
        if self.size is None:
            return self.max_threshold
        return min(self.max_threshold, self.size - self.reply_limit - self.size // _MARGIN_PART)

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
        blocks = (block for message in messages for block in message.blocks)
        others = _MESSAGE_TOKENS * len(messages) + self._count_text(self.system)
        return others + sum(map(self.estimate_block, blocks))

    def estimate_block(self, block: Block) -> int:
        """Return about how many tokens a block has."""
        if isinstance(block, ToolResult):
            return sum(map(self.estimate_block, block.content))
        return (
            _IMAGE_TOKENS
            if isinstance(block, ImageBlock)
            else sum(map(self._count_text, _iter_texts(block)))
        )

    def record_usage(self, messages: Sequence[Message], usage: TokenUsage) -> None:
        """Note what the service has counted for a request with its reply, which are the messages.

        Some servers count only what they had not cached, so less than half of the estimate is not
        believed.
        """
        blocks = (block for message in messages for block in message.blocks)
        texts = (text for block in blocks for text in _iter_texts(block))
        self._counts = {text: self._count_text(text) for text in (self.system, *texts)}
        self._estimated = self.estimate(messages)
        self._reported = max(usage.total + usage.cache_read, self._estimated // 2)
        if not any(usage):
            self._reported = self._estimated

    def record_refusal(self, messages: Sequence[Message], window: int | None) -> int:
        """Note that messages were too many tokens; return at least how many they have.

        `window` is what the model can read if the service has said so. If not, the conversation
        stays below what was refused from now on.
        """
        tokens = self.measure(messages)
        if window:
            self.size = window
        else:
            self.max_threshold = min(self.max_threshold, tokens * 3 // 4)
        self._estimated = self.estimate(messages)
        self._reported = max(tokens, self.size or 0)
        return self._reported

    def explain_refusal(self, error: ModelError) -> ModelError:
        """Return the error of a service for a request that can't be cut any further."""
        size = f" of {self.size:,} tokens" if self.size else ""
        message = f"the conversation does not fit the model's window{size}: {error.message}"
        hint = "write a shorter prompt, or choose a model with a larger window"
        return ModelError(message, error.kind, status=error.status, hint=hint)

    def _count_text(self, text: str) -> int:
        count = self._counts.get(text)
        if count is None:
            count = self._counts[text] = estimate_tokens(text)
        return count


def _iter_texts(block: Block) -> Iterator[str]:
    match block:
        case TextBlock():
            yield block.text
        case ReasoningBlock():
            yield json.dumps(block.data, ensure_ascii=False)
        case ToolCall():
            yield f"{block.name} {json.dumps(block.arguments, ensure_ascii=False)}"
            yield json.dumps(dict(block.extra)) if block.extra else ""
        case ToolResult():
            for part in block.content:
                yield from _iter_texts(part)
