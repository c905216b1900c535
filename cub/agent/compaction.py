"""Keep a conversation within what a model can read: cut results, summarize old messages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from cub.agent.context_window import ContextWindow
from cub.agent.conversation import Message, change_results
from cub.agent.events import Compaction, RequestRetry
from cub.agent.executor import Toolbox
from cub.agent.model import Model, ModelError
from cub.agent.old_results import ResultCutter, shorten_result
from cub.agent.session_budget import SessionBudget
from cub.agent.summaries import (
    RECENT_MESSAGES,
    build_summary_request,
    can_summarize,
    replace_old_messages,
)
from cub.agent.turn import Turn, run_turn

CompactionEvent = Compaction | RequestRetry
CompactionSteps = Generator[CompactionEvent, None, list[Message]]
# Characters that results keep in a conversation that is too long, the first that suffices.
_SHORTER_RESULTS, _SHORTEST_RESULT = (32_000, 8_000, 2_000), 500
_MIN_PART = 4  # a summary is worth its price for at least a quarter of what a conversation may have


@dataclass(slots=True)
class Compactor:
    """Shorten the conversation of a session; all methods yield how, and return the messages.

    `models` may write a summary, the first one that can. After a requested stop, what is returned
    may still be too long.
    """

    models: Sequence[Model]
    window: ContextWindow
    toolbox: Toolbox
    budget: SessionBudget
    get_random: Callable[[], float]
    cutter: ResultCutter = field(default_factory=ResultCutter)

    def prepare_request(self, messages: list[Message], prompt: str) -> CompactionSteps:
        """Cut old results if that pays; above the threshold, shorten the conversation."""
        tokens = self.window.measure(messages)
        threshold = self.window.find_threshold(tokens)
        messages = yield from self._cut_old_results(messages, at_once=tokens > threshold)
        return (yield from self.shorten(messages, prompt, threshold))

    def shorten(
        self, messages: list[Message], prompt: str, target: int, *, is_refused: bool = False
    ) -> CompactionSteps:
        """Shorten to `target` tokens: by a summary if that helps, then by cutting recent results.

        Old messages are removed only if the service has refused a request, or writes no summary.
        What is left may be longer than the target: the service decides whether that is too long.
        """
        if self.window.measure(messages) <= target:
            return messages
        old = self.window.measure(messages[:-RECENT_MESSAGES])
        if can_summarize(messages) and old >= target // _MIN_PART:
            before = messages
            messages, error = yield from self._summarize(messages, prompt)
            if error:
                messages = replace_old_messages(before, prompt, "")
                self.toolbox.forget_results()
                yield self._measure_removal(before, messages)
        if self.toolbox.context.stop.is_requested or self.window.measure(messages) <= target:
            return messages
        before = messages
        for messages in _iter_shorter(before, prompt, is_refused=is_refused):
            if self.window.measure(messages) <= target:
                break
        if self.window.estimate(messages) >= self.window.estimate(before):
            return before
        # What was read stays known: it may have to be changed in the very next turn.
        self.toolbox.rules.restore_rules()
        yield self._measure_removal(before, messages)
        return messages

    def compact_now(self, messages: list[Message], prompt: str, *, force: bool) -> CompactionSteps:
        """Cut old results and summarize, however short the conversation is.

        With `force`, even less than six old messages are summarized. Raises ModelError if no model
        writes a summary.
        """
        messages = yield from self._cut_old_results(messages, at_once=True)
        if can_summarize(messages) or (force and len(messages) > RECENT_MESSAGES):
            messages, error = yield from self._summarize(messages, prompt)
            if error:
                raise error
        return messages

    def _cut_old_results(self, messages: list[Message], *, at_once: bool) -> CompactionSteps:
        cut = self.cutter.cut(messages, self.window, at_once=at_once)
        if cut is not messages:
            yield Compaction("micro", self.window.measure(messages), self.window.measure(cut))
        return cut

    def _summarize(
        self, messages: list[Message], prompt: str
    ) -> Generator[CompactionEvent, None, tuple[list[Message], ModelError | None]]:
        """Return the messages with a summary, or as they are and why no model has written one."""
        tokens = self.window.find_threshold(self.window.measure(messages))
        error: ModelError | None = None
        for model in dict.fromkeys(self.models):
            turn = yield from self._ask_for_summary(model, messages, tokens)
            if turn.is_cancelled:
                return messages, None
            usd = self.budget.add_usage(model.name, turn.end.usage) if turn.end else None
            if turn.end and turn.reply.text.strip():
                shorter = replace_old_messages(messages, prompt, turn.reply.text)
                self.toolbox.forget_results()
                event = self._measure_removal(messages, shorter)
                yield event._replace(kind="auto", usage=turn.end.usage, usd=usd)
                return shorter, None
            error = turn.error or ModelError(f"{model.name} wrote no summary", "service")
        return messages, error

    def _ask_for_summary(
        self, model: Model, messages: Sequence[Message], max_tokens: int
    ) -> Generator[RequestRetry, None, Turn]:
        """Have a model summarize the old messages; only retries are worth an event."""
        request = build_summary_request(messages, max_tokens)
        no_tools = replace(self.toolbox, tools={})
        events = run_turn(model, request, no_tools, self.get_random)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return cast("Turn", end.value)
            if isinstance(event, RequestRetry):
                yield event

    def _measure_removal(self, before: list[Message], after: list[Message]) -> Compaction:
        return Compaction("cut", self.window.measure(before), self.window.measure(after))


def _iter_shorter(
    messages: list[Message], prompt: str, *, is_refused: bool
) -> Iterator[list[Message]]:
    """Yield the conversation with shorter and shorter results, then with fewer messages."""
    for max_chars in _SHORTER_RESULTS:
        yield _shorten_results(messages, max_chars)
    for kept in (RECENT_MESSAGES, 2) if is_refused else ():
        if len(messages) > kept + 1:
            messages = replace_old_messages(messages, prompt, "", kept)
        yield _shorten_results(messages, _SHORTER_RESULTS[-1])
    if is_refused:
        yield _shorten_results(messages, _SHORTEST_RESULT)


def _shorten_results(messages: Sequence[Message], max_chars: int) -> list[Message]:
    return change_results(messages, lambda result: shorten_result(result, max_chars))
