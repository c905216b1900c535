"""Repeat a request to a model that has failed, if it may succeed later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from cub.agent.conversation import ToolCall
from cub.agent.events import RequestRetry
from cub.agent.model import Model, ModelError, ModelRequest, ReplyEnd, ReplyEvent

MAX_RETRIES = 3
FIRST_DELAY, MAX_DELAY = 1.0, 30.0  # seconds
JITTER = 0.25


def stream_with_retries(
    model: Model,
    request: ModelRequest,
    wait: Callable[[float], bool],
    random: Callable[[], float],
    max_retries: int = MAX_RETRIES,
) -> Iterator[ReplyEvent | RequestRetry]:
    """Yield a reply as it comes, and RequestRetry before the request is made again.

    What came before a RequestRetry no longer counts. A failure after a whole call ends the reply
    instead, so that no call is made twice. `wait` sleeps for some seconds and returns whether a
    stop was requested: then the iterator ends without a ReplyEnd. `random` returns a number in
    [0, 1). Raises the ModelError of the last request.
    """
    for number in count(1):
        has_call = False
        try:
            for event in model.stream_reply(request):
                has_call = has_call or isinstance(event, ToolCall)
                yield event
        except ModelError as error:
            if has_call:
                yield ReplyEnd("tool_use")
                return
            if number > max_retries or not error.is_retryable:
                raise
            delay = min(MAX_DELAY, FIRST_DELAY * 2.0 ** (number - 1))
            delay *= 1 - JITTER + 2 * JITTER * random()
            seconds = max(error.retry_after or 0.0, delay)
            retry = RequestRetry(number, seconds, error.kind, error.message)
        else:
            return
        yield retry
        if wait(seconds):
            return
