"""Work on a prompt: ask the model, run the tools that it calls, return their results, and repeat.

`AgentSession.work_on` is the loop. It yields what happens as events and prints nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from typing import NamedTuple, Protocol, cast

from cub.agent.compaction import (
    build_summary_request,
    can_summarize,
    estimate_conversation,
    replace_old_messages,
    truncate_old_results,
)
from cub.agent.conversation import Message, TextBlock, make_user_message, repair_conversation
from cub.agent.events import (
    Compaction,
    RequestRetry,
    SessionEnd,
    SessionEvent,
    TurnEnd,
)
from cub.agent.executor import Toolbox
from cub.agent.model import Model, ModelError, ModelRequest
from cub.agent.session_budget import SessionBudget
from cub.agent.turn import Turn, run_turn

_AFTER_EMPTY_REPLY = "Your reply was empty. Go on, or say what you have done."
MAX_REPEATS = 5  # the same call with the same result, and nothing new between


class SessionLimits(NamedTuple):
    """Limit a session; None for no limit.

    `max_tokens` is for one reply. Above `compaction_threshold` tokens, old messages are summarized.
    """

    max_tokens: int
    compaction_threshold: int
    max_turns: int | None = None


class ReviewResult(NamedTuple):
    """Hold what is left to do, "" for nothing, or why the work has failed, "" if it has not."""

    request: str = ""
    failure: str = ""


class EndReview(Protocol):
    """Decide whether the work is over when the model says so."""

    def review_end(
        self, session: AgentSession, prompt: str, number: int, /
    ) -> Generator[SessionEvent, None, ReviewResult]:
        """Yield what happens in a review of the work on a prompt, and return what it says.

        `number` is 1, and one more for each time that this review has found something to do.
        """


@dataclass(slots=True)
class AgentSession:
    """Hold a conversation with a model, and all that it needs to go on.

    `system` never changes, so the service can cache it. `take_notices` returns what the model has
    to know before its next turn, "" for nothing. `resources` are closed with the session.
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
    get_random: Callable[[], float] = random.random
    _known_calls: set[bytes] = field(default_factory=set)  # digests, with their results
    _repeats: Counter[tuple[str, bytes]] = field(default_factory=Counter)

    def work_on(self, prompt: str) -> Iterator[SessionEvent]:
        """Work on a prompt until the model has nothing to do any more; a SessionEnd is last.

        The conversation is valid at the end, however the work has ended, and can be continued.
        """
        self.messages.append(make_user_message(prompt))
        end = yield from self._run_turns(prompt)
        self.messages = repair_conversation(self.messages)
        yield self.toolbox.cache.statistics
        yield end

    @property
    def last_text(self) -> str:
        """Return the text of the model's last reply."""
        replies = (one for one in reversed(self.messages) if one.role == "assistant")
        return next((reply.text for reply in replies), "")

    def close(self) -> None:
        """End what runs in the background, and close the connections of the models."""
        self.resources.close()
        self.model.close()
        self.small_model.close()

    def _run_turns(self, prompt: str) -> Generator[SessionEvent, None, SessionEnd]:
        text, rounds = "", Counter[int]()
        for number in count(1):
            if end := self._find_limit(number, text):
                return end
            end = yield from self._compact(prompt, text)
            if end:
                return end
            turn = yield from self._run_turn(number)
            text = turn.text or text
            if end := self._find_end(turn, text):
                end = yield from self._review_end(end, prompt, rounds)
                if end:
                    return end
        raise AssertionError  # count() has no end

    def _run_turn(self, number: int) -> Generator[SessionEvent, None, Turn]:
        """Run a turn, add it to the conversation, and count what it has used."""
        if notices := self.take_notices():
            self.messages.append(make_user_message(notices))
        self.messages = repair_conversation(self.messages)
        definitions = [tool.definition for tool in self.toolbox.tools.values()]
        request = ModelRequest(
            self.system, tuple(self.messages), definitions, self.limits.max_tokens
        )
        turn = yield from run_turn(self.model, request, self.toolbox, self.get_random)
        self.messages += turn.messages
        self._count_repeats(turn)
        if turn.end:
            usd = self.budget.add_usage(self.model.name, turn.end.usage)
            yield TurnEnd(number, turn.end.stop_reason, turn.end.usage, usd, self.model.name)
        return turn

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
        if turn.is_cancelled:
            return SessionEnd("cancelled", text, "cancelled")
        if turn.error:
            return SessionEnd("error", text, _explain(turn.error), turn.error.kind)
        reason = turn.end.stop_reason if turn.end else "end_turn"
        if reason == "max_tokens":
            return SessionEnd("max_tokens", text, "the reply was cut at the limit of its length")
        if reason == "refusal":
            return SessionEnd("refusal", text, "the model refused to go on")
        for (name, _), repeats in self._repeats.most_common(1):
            if repeats >= MAX_REPEATS - 1:
                message = f"{name} was called {MAX_REPEATS} times with the same result"
                return SessionEnd("repetition", text, message)
        return None if turn.calls else _end_with_reply(turn, text)

    def _review_end(
        self, end: SessionEnd, prompt: str, rounds: Counter[int]
    ) -> Generator[SessionEvent, None, SessionEnd | None]:
        """Return how the session ends; None if the model is told what is left to do.

        `rounds` counts for each review how often it has found something.
        """
        *_, asked, _, _ = self.messages  # before the reply and its results
        if end.reason == "empty" and TextBlock(_AFTER_EMPTY_REPLY) not in asked.blocks:
            yield RequestRetry(1, 0.0, "service", end.message)
            self.messages.append(make_user_message(_AFTER_EMPTY_REPLY))
            return None
        for place, review in enumerate(self.end_reviews if end.reason == "end_turn" else ()):
            result = yield from review.review_end(self, prompt, rounds[place] + 1)
            if self.toolbox.context.stop.is_requested:
                return SessionEnd("cancelled", end.text, "cancelled")
            if result.failure:
                return SessionEnd("gate", end.text, result.failure)
            if result.request:
                rounds[place] += 1
                self.messages.append(make_user_message(result.request))
                return None
        return end

    def _count_repeats(self, turn: Turn) -> None:
        """Count how often calls have had the same result again since there was a new one.

        So a model that goes round in a circle of calls is found as well.
        """
        for call, result in zip(turn.calls, turn.results, strict=True):
            text = repr((call.name, call.arguments, result.text))
            digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
            if digest in self._known_calls:
                self._repeats[call.name, digest] += 1
            else:
                self._known_calls.add(digest)
                self._repeats.clear()

    def _compact(self, prompt: str, text: str) -> Generator[SessionEvent, None, SessionEnd | None]:
        """Make the conversation shorter if it has become long; return an end if that fails.

        The main model writes the summary if the small one does not.
        """
        before = estimate_conversation(self.system, self.messages)
        self.messages = truncate_old_results(self.messages)
        after = estimate_conversation(self.system, self.messages)
        if after < before:
            yield Compaction("micro", before, after)
        if after <= self.limits.compaction_threshold or not can_summarize(self.messages):
            return None
        for model in dict.fromkeys((self.small_model, self.model)):
            turn = yield from self._summarize(model)
            if turn.is_cancelled:
                return SessionEnd("cancelled", text, "cancelled")
            if turn.end:
                usd = self.budget.add_usage(model.name, turn.end.usage)
                if turn.text.strip():
                    break
        else:
            error = turn.error or ModelError(f"{model.name} wrote no summary", "service")
            message = f"the conversation could not be summarized: {_explain(error)}"
            return SessionEnd("error", text, message, error.kind)
        self.messages = replace_old_messages(self.messages, prompt, turn.text)
        self.toolbox.forget_results()
        self._known_calls.clear()
        shortest = estimate_conversation(self.system, self.messages)
        yield Compaction("auto", after, shortest, turn.end.usage, usd)
        return None

    def _summarize(self, model: Model) -> Generator[SessionEvent, None, Turn]:
        """Have a model summarize the old messages; only retries are worth an event."""
        request = build_summary_request(self.messages)
        no_tools = replace(self.toolbox, tools={})
        events = run_turn(model, request, no_tools, self.get_random)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return cast("Turn", end.value)
            if isinstance(event, RequestRetry):
                yield event


def _end_with_reply(turn: Turn, text: str) -> SessionEnd:
    """Return the end of a session whose last reply has no call; it should have a text."""
    if turn.text.strip():
        return SessionEnd("end_turn", text)
    return SessionEnd("empty", text, "the model's reply was empty")


def _explain(error: ModelError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
