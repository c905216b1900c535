"""When a request is made again, how often, and after how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.conversation import ToolCall
from cub.agent.events import RequestRetry
from cub.agent.model import (
    FailureKind,
    ModelEndpoint,
    ModelError,
    ModelRequest,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    classify_status,
)
from cub.agent.model_failures import explain_error
from cub.agent.retries import MAX_RETRIES, stream_with_retries
from cub.model_server.exchange import ScriptedCall
from tests.agent.services import SERVICES, make_request, stop_after
from tests.model_server.faults import ModelServer, Reply

CALL = ToolCall("1", "Read", {})
BUSY = ModelError("busy", "service", status=529)
NEVER = (400, 401, 403, 404)


class _Attempts:
    """A model that goes through a list of attempts, and a clock that only counts."""

    name = "m"

    def __init__(self, *attempts: Sequence[ReplyEvent | ModelError]) -> None:
        self.attempts = attempts
        self.count = 0
        self.waits: list[float] = []
        self.stops = False

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        assert request.max_tokens == 100
        self.count += 1
        for event in self.attempts[self.count - 1]:
            if isinstance(event, ModelError):
                raise event
            yield event

    def close(self) -> None:
        self.attempts = ()

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.stops

    def run(self, random: Callable[[], float] = lambda: 0.5) -> list[ReplyEvent | RequestRetry]:
        return list(stream_with_retries(self, make_request(), self.wait, random))


def test_a_reply_that_comes_at_once_is_yielded_as_it_is() -> None:
    events: list[ReplyEvent] = [TextDelta("Hi"), CALL, ReplyEnd("tool_use")]
    model = _Attempts(events)
    assert model.run() == events
    assert model.waits == []


def test_the_delay_doubles_and_the_last_error_is_raised() -> None:
    model = _Attempts([BUSY], [BUSY], [BUSY], [BUSY])
    with pytest.raises(ModelError, match="busy"):
        model.run()
    assert model.count == 4
    assert model.waits == [1, 2, 4]


def test_a_retry_is_an_event_before_the_wait() -> None:
    model = _Attempts([BUSY], [ReplyEnd("end_turn")])
    events = stream_with_retries(model, make_request(), model.wait, lambda: 0.5)
    assert next(events) == RequestRetry(1, 1, "service", "busy")
    assert model.waits == []
    assert list(events) == [ReplyEnd("end_turn")]
    assert model.waits == [1]


def test_text_that_was_broken_off_is_asked_for_again() -> None:
    model = _Attempts([TextDelta("Hel"), BUSY], [TextDelta("Hello"), ReplyEnd("end_turn")])
    kinds = [type(event) for event in model.run()]
    assert kinds == [TextDelta, RequestRetry, TextDelta, ReplyEnd]


@pytest.mark.parametrize("status", [None, 529, 400])
def test_a_call_that_is_whole_is_not_asked_for_again(status: int | None) -> None:
    error = ModelError("cut off", "service", status=status)
    model = _Attempts([TextDelta("Hi"), CALL, TextDelta("and"), error])
    assert model.run()[-1] == ReplyEnd("tool_use")
    assert model.count == 1


def test_a_requested_stop_ends_the_wait_without_an_end_of_the_reply() -> None:
    model = _Attempts([BUSY], [ReplyEnd("end_turn")])
    model.stops = True
    assert model.run() == [RequestRetry(1, 1, "service", "busy")]
    assert model.count == 1


@given(
    retry_after=st.none() | st.floats(0, 120),
    number=st.integers(1, MAX_RETRIES),
    random=st.floats(0, 1, exclude_max=True),
)
def test_a_delay_stays_within_its_bounds(
    retry_after: float | None, number: int, random: float
) -> None:
    error = ModelError("busy", "limit", status=429, retry_after=retry_after)
    model = _Attempts(*[[error]] * number, [ReplyEnd("end_turn")])
    model.run(lambda: random)
    delay, wanted = 2.0 ** (number - 1), retry_after or 0.0
    assert max(wanted, 0.75 * delay) <= model.waits[-1] <= max(wanted, min(30.0, 1.25 * delay))


@given(st.floats(120, 10**9, exclude_min=True))
def test_a_service_that_wants_minutes_is_not_waited_for(seconds: float) -> None:
    headers = {"retry-after": f"{seconds}"}
    model = _Attempts([explain_error("busy", ModelEndpoint("m", "http://x"), 429, headers)])
    with pytest.raises(ModelError, match=r"429 \(it can be asked again in \d+ minutes\): busy"):
        model.run()
    assert model.waits == []


_KINDS: Sequence[FailureKind] = ("limit", "login", "service", "request")
_STATUSES = st.sampled_from((*NEVER, 408, 409, 429, 529)) | st.integers(400, 599)
_ERRORS = st.one_of(
    _STATUSES.map(lambda status: ModelError("no", classify_status(status), status=status)),
    st.sampled_from(_KINDS).map(lambda kind: ModelError("no", kind)),
)


@given(st.lists(_ERRORS, min_size=4, max_size=4))
def test_only_failures_that_may_pass_are_tried_again_and_three_times(
    errors: list[ModelError],
) -> None:
    model = _Attempts(*([error] for error in errors))
    with pytest.raises(ModelError):
        model.run()
    final = next((n for n, error in enumerate(errors, 1) if not error.is_retryable), 4)
    assert model.count == final
    statuses = [error.status for error in errors[: model.count - 1]]
    assert not set(statuses) & set(NEVER)
    assert all(s is None or s in (408, 409, 429) or s >= 500 for s in statuses)


@pytest.mark.parametrize("service", SERVICES)
def test_a_server_that_fails_twice_is_asked_three_times(service: str) -> None:
    replies = [
        Reply(status=529, headers={"retry-after": "3"}),
        Reply("Hello", deliver=stop_after(b"He", resets=True)),
        Reply("Hello", calls=[ScriptedCall("Read", {})]),
    ]
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    with ModelServer(replies) as server:
        model = SERVICES[service].connect(server)
        events = list(stream_with_retries(model, make_request(), wait, lambda: 0.5))
        assert len(server.requests) == 3
    assert waits == [3, 2]
    last = max(n for n, event in enumerate(events) if isinstance(event, RequestRetry))
    text = "".join(event.text for event in events[last:] if isinstance(event, TextDelta))
    assert text == "Hello"
    assert isinstance(events[-1], ReplyEnd)
