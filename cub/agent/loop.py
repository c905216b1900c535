"""Work on a prompt: ask the model, run the tools that it calls, return their results, and repeat.

`AgentSession.work_on` is the loop. It yields what happens as events and prints nothing.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from cub.agent.compaction import Compactor
from cub.agent.context_window import ContextWindow, SessionLimits
from cub.agent.conversation import (
    Message,
    TextBlock,
    add_user_text,
    repair_conversation,
)
from cub.agent.events import RequestRetry, SessionEnd, SessionEvent, TurnEnd
from cub.agent.executor import Toolbox
from cub.agent.model import Model, ModelRequest
from cub.agent.old_results import ResultCutter, bound_results
from cub.agent.repetition import RepetitionCounter
from cub.agent.session_budget import SessionBudget
from cub.agent.turn import Turn, run_turn
from cub.json_values import JsonObject
from cub.tokens import estimate_tokens

_AFTER_EMPTY_REPLY = "Your reply was empty. Go on, or say what you have done."
MAX_CUT_REPLIES = 3  # in a row, after which the session goes on
# What a conversation that a service refuses as too long is cut to, one after the other.
_SHORTER = (0.75, 0.5, 0.25, 0.05)


class ReviewResult(NamedTuple):
    """Hold what is left to do, "" for nothing, or why the work has failed, "" if it has not."""

    request: str = ""
    failure: str = ""


# Yields what happens in a review of the work on a prompt, and returns whether that is over. The
# number is 1, and one more for each time that this review has found something to do.
EndReview = Callable[["AgentSession", str, int], Generator[SessionEvent, None, ReviewResult]]


@dataclass(slots=True)
class AgentSession:
    """Hold a conversation with a model, and all that it needs to go on.

    `system` never changes, so the service can cache it. `take_notices` returns what the model has
    to know before its next turn, "" for nothing. `resources` are closed with the session.
    `baseline` is what each of the project's checks said before the first change, to be saved.
    """

    model: Model
    small_model: Model
    toolbox: Toolbox
    system: str
    limits: SessionLimits
    messages: list[Message] = field(default_factory=list)
    budget: SessionBudget = field(default_factory=SessionBudget)
    take_notices: Callable[[], str] = lambda: ""
    end_reviews: list[EndReview] = field(default_factory=list)
    resources: ExitStack = field(default_factory=ExitStack)
    baseline: list[JsonObject] = field(default_factory=list)
    get_random: Callable[[], float] = random.random
    window: ContextWindow = field(init=False)
    cutter: ResultCutter = field(default_factory=ResultCutter)
    repetition: RepetitionCounter = field(default_factory=RepetitionCounter)
    _prompt: str = ""
    _cut_replies: int = 0  # the last ones that were cut at the limit of their length

    def __post_init__(self) -> None:
        """Measure the conversation by the window of the model."""
        tools = json.dumps([tool.definition for tool in self.toolbox.tools.values()], default=dict)
        overhead = estimate_tokens(self.system) + estimate_tokens(tools)
        self.window = ContextWindow(self.model.name, overhead, self.limits)

    def work_on(self, prompt: str) -> Iterator[SessionEvent]:
        """Work on a prompt until the model has nothing to do any more; a SessionEnd is last.

        The conversation is valid at the end, however the work has ended, and can be continued.
        """
        self._prompt, self._cut_replies = prompt, 0
        self.messages = add_user_text(repair_conversation(self.messages), prompt)
        end = yield from self._run_turns()
        yield self.toolbox.cache.statistics
        yield end

    def compact(self, *, force: bool = False) -> Iterator[SessionEvent]:
        """Make the conversation shorter now; with `force`, even if it has few messages.

        Raises ModelError if no model writes a summary; the messages stay then.
        """
        compact = self._compactor.compact_now
        self.messages = yield from compact(self.messages, self._prompt, force=force)
        self.repetition.clear()

    def close(self) -> None:
        """End what runs in the background, and close the connections of the models."""
        self.resources.close()
        self.model.close()
        self.small_model.close()

    def _run_turns(self) -> Generator[SessionEvent, None, SessionEnd]:
        text, rounds = "", Counter[int]()
        for number in count(1):
            if end := self._find_limit(number, text):
                return end
            if notices := self.take_notices():
                self.messages = add_user_text(self.messages, notices)
            prepare = self._compactor.prepare_request
            self.messages = yield from prepare(self.messages, self._prompt)
            if self.toolbox.context.stop.is_requested:
                return SessionEnd("cancelled", text, "cancelled")
            turn = yield from self._run_fitting_turn(number)
            text = (text if self._cut_replies else "") + turn.reply.text or text
            if turn.is_cancelled:
                return SessionEnd("cancelled", text, "cancelled")
            if end := self._find_end(turn, text):
                end = yield from self._review_end(end, rounds)
                if end:
                    return end
        raise AssertionError  # count() has no end

    def _run_fitting_turn(self, number: int) -> Generator[SessionEvent, None, Turn]:
        """Run a turn; while the service refuses it as too long, with a shorter conversation."""
        turn = yield from self._run_turn(number)
        for part in _SHORTER:
            if not (turn.error and turn.error.is_too_long):
                break
            tokens = self.window.record_refusal(self.messages, turn.error.window)
            target = int(part * min(tokens, self.window.find_threshold(tokens)))
            self.messages = yield from self._compactor.shorten(
                self.messages, self._prompt, target, is_refused=True
            )
            if self.toolbox.context.stop.is_requested:
                turn.is_cancelled = True
                break
            if self.window.measure(self.messages) < tokens:
                turn = yield from self._run_turn(number)
        return turn

    def _run_turn(self, number: int) -> Generator[SessionEvent, None, Turn]:
        """Run a turn, add it to the conversation, and count what it has used."""
        definitions = [tool.definition for tool in self.toolbox.tools.values()]
        self.messages, ends = self.cutter.prepare_messages(self.messages)
        sent, limit = self.cutter.sent, self.window.reply_limit
        request = ModelRequest(self.system, sent, definitions, limit, ends)
        turn = yield from run_turn(self.model, request, self.toolbox, self.get_random)
        reply = turn.reply
        if turn.end:
            self.window.record_usage([*sent, reply], turn.end.usage)
        bounded = bound_results(turn.answer, self.window.measure([*sent, reply]), self.window)
        self.messages += repair_conversation([reply, bounded])
        if note := self.repetition.count_calls(reply.calls, turn.answer.results, turn.longest_call):
            self.messages = add_user_text(self.messages, note)
        if turn.end:  # a turn is saved when its end is told
            usd = self.budget.add_usage(self.model.name, turn.end.usage, turns=1)
            yield TurnEnd(number, turn.end.stop_reason, turn.end.usage, usd, self.model.name)
        return turn

    @property
    def _compactor(self) -> Compactor:
        models = (self.small_model, self.model)
        return Compactor(
            models, self.window, self.toolbox, self.budget, self.get_random, self.cutter
        )

    def _find_limit(self, number: int, text: str) -> SessionEnd | None:
        """Return why no further turn may begin; None if one may."""
        limits = self.limits
        if limits.max_turns is not None and number > limits.max_turns:
            turns = "1 turn" if limits.max_turns == 1 else f"{limits.max_turns} turns"
            return SessionEnd("max_turns", text, f"stopped after {turns}")
        excess = self.budget.explain_excess()
        return SessionEnd("budget", text, excess) if excess else None

    def _find_end(self, turn: Turn, text: str) -> SessionEnd | None:
        """Return how the session ends with this turn; None if another one follows."""
        if turn.error:
            error = turn.error
            message = f"{error.message}; {error.hint}".removesuffix("; ")
            message = self.window.explain_refusal(error) if error.is_too_long else message
            return SessionEnd("error", text, message, error.kind)
        reason = turn.end.stop_reason if turn.end else "end_turn"
        if reason == "refusal":
            return SessionEnd("refusal", text, "the model refused to go on")
        if message := self.repetition.explain_end():
            return SessionEnd("repetition", text, message)
        if reason == "max_tokens":
            return self._go_on_after_cut(turn, text)
        self._cut_replies = 0
        if turn.reply.calls:
            return None
        message = "" if turn.reply.text else "the model's reply was empty"
        return SessionEnd("end_turn" if turn.reply.text else "empty", text, message)

    def _review_end(
        self, end: SessionEnd, rounds: Counter[int]
    ) -> Generator[SessionEvent, None, SessionEnd | None]:
        """Return how the session ends; None if the model is told what is left to do.

        `rounds` counts for each review how often it has found something.
        """
        is_asked_again = TextBlock(_AFTER_EMPTY_REPLY) in self.messages[-1].blocks
        if end.reason == "empty" and not is_asked_again:
            yield RequestRetry(1, 0.0, "service", end.message)
            self.messages = add_user_text(self.messages, _AFTER_EMPTY_REPLY)
            return None
        for place, review in enumerate(self.end_reviews if end.reason == "end_turn" else ()):
            result = yield from review(self, self._prompt, rounds[place] + 1)
            if self.toolbox.context.stop.is_requested:
                return SessionEnd("cancelled", end.text, "cancelled")
            if result.failure:
                return SessionEnd("gate", end.text, result.failure)
            if result.request:
                rounds[place] += 1
                self.messages = add_user_text(self.messages, result.request)
                return None
        return end

    def _go_on_after_cut(self, turn: Turn, text: str) -> SessionEnd | None:
        """Have the model go on after a reply that was cut; return an end after too many of them."""
        self._cut_replies += 1
        if self._cut_replies > MAX_CUT_REPLIES:
            limit = f"{self.window.reply_limit:,} tokens"
            message = f"{self._cut_replies} replies were cut at {limit}; see code.max_output_tokens"
            return SessionEnd("max_tokens", text, message)
        if not (turn.reply.calls and turn.reply.calls[-1].fault):  # its result says that it was cut
            limit = f"{self.window.reply_limit:,} tokens"
            note = f"Your reply was cut at the limit of {limit}. Go on exactly where it stopped."
            self.messages = add_user_text(self.messages, note)
        return None
