"""Run one turn: make a request, read the reply as it comes, and execute the calls in it.

The reply is read in a thread, and so is each call. All of them put what they have into one queue,
and the thread that called takes it out: it alone decides, and it waits for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread

from cub.agent.conversation import (
    Block,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
)
from cub.agent.events import ReplyText, RequestRetry
from cub.agent.executor import CallBatch, CallEvent, Toolbox
from cub.agent.model import (
    Model,
    ModelError,
    ModelRequest,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
)
from cub.agent.retries import stream_with_retries

TurnEvent = TextDelta | ReasoningBlock | ReplyText | RequestRetry | CallEvent


# What came from the model, a tool or the user: the thread of the turn carries it out.
_Step = Callable[[], Iterator[TurnEvent]]


@dataclass(slots=True)
class Turn:
    """Hold what a turn has led to: the reply, the results of its calls, and how it has ended.

    `end` is None if the reply was cancelled or failed; `error` says why it failed. `longest_call`
    is in seconds.
    """

    reply: Message
    answer: Message
    end: ReplyEnd | None
    error: ModelError | None
    is_cancelled: bool
    longest_call: float


def run_turn(
    model: Model, request: ModelRequest, toolbox: Toolbox, get_random: Callable[[], float]
) -> Generator[TurnEvent, None, Turn]:
    """Yield what happens in a turn, and return what it has led to.

    A stop of the tools' context ends it at once, but for a command that runs: that is ended first.
    Raises CubError if the model can't be asked at all.
    """
    inbox, stop = SimpleQueue[_Step](), toolbox.context.stop
    call_ids = {call.id for message in request.messages for call in message.calls}
    reply = _Reply(CallBatch(toolbox, inbox.put), call_ids)
    stream = stream_with_retries(model, request, stop.wait, get_random)
    with stop.notify(lambda: inbox.put(reply.cancel)):
        Thread(target=_read_stream, args=(stream, reply, inbox), daemon=True).start()
        while reply.is_open or not reply.calls.is_done:
            yield from inbox.get()()
    return reply.make_turn()


def _read_stream(
    stream: Iterator[ReplyEvent | RequestRetry], reply: _Reply, inbox: SimpleQueue[_Step]
) -> None:
    """Put a reply into the inbox as it comes; its end is last in any case."""
    error: Exception | None = None
    try:
        for event in stream:
            inbox.put(partial(reply.add_event, event))
    except Exception as failure:  # noqa: BLE001 - the thread that waits raises it
        error = failure
    inbox.put(partial(reply.end_stream, error))


@dataclass(slots=True)
class _Reply:
    """Build a turn from what comes in; `call_ids` are those that the conversation has."""

    calls: CallBatch
    call_ids: set[str]
    is_open: bool = True  # whether more of it is wanted
    _end: ReplyEnd | None = None
    _error: ModelError | None = None
    _is_cancelled: bool = False
    _pieces: list[str] = field(default_factory=list)
    _held: list[TextBlock | ReasoningBlock] = field(default_factory=list)  # void after a retry
    _blocks: list[Block] = field(default_factory=list)

    def cancel(self) -> Iterator[TurnEvent]:
        """End the reply because the user wants to stop; the rest of it is not wanted."""
        self._is_cancelled, self.is_open = True, False
        yield from self._close_text()
        yield from self.calls.cancel()

    def make_turn(self) -> Turn:
        """Return the turn, with all results."""
        reply = Message("assistant", tuple(self._blocks))
        answer, longest = Message("user", self.calls.results), self.calls.longest_call
        return Turn(reply, answer, self._end, self._error, self._is_cancelled, longest)

    def add_event(self, event: ReplyEvent | RequestRetry) -> Iterator[TurnEvent]:
        """Add what has come from the model."""
        if not self.is_open:
            return
        match event:
            case TextDelta():
                self._pieces.append(event.text)
                yield event
            case ReasoningBlock():
                self._hold_text()
                self._held.append(event)
                yield event
            case RequestRetry():
                self._pieces.clear()
                self._held.clear()
                yield event
            case ToolCall():
                yield from self._close_text()
                call = self._identify(event)
                self._blocks.append(call)
                yield from self.calls.add_call(call)
            case ReplyEnd():
                self._end = event

    def _identify(self, call: ToolCall) -> ToolCall:
        """Return a call with an id that no other one has: services refuse a conversation if not."""
        number, call_id = len(self.call_ids), call.id
        while not call_id or call_id in self.call_ids:
            number += 1
            call_id = f"call_{number}"
        self.call_ids.add(call_id)
        return call._replace(id=call_id)

    def end_stream(self, error: Exception | None) -> Iterator[TurnEvent]:
        """Note that the reply has come to its end, or why it has not."""
        if not self.is_open:
            return
        if isinstance(error, ModelError):
            self._error = error
        elif error:
            raise error
        self.is_open = False
        yield from self._close_text()
        yield from self.calls.end_reply()

    def _close_text(self) -> Iterator[ReplyText]:
        """Keep what has come since the last call: no retry follows that would void it."""
        self._hold_text()
        self._blocks += self._held
        yield from (ReplyText(block.text) for block in self._held if isinstance(block, TextBlock))
        self._held.clear()

    def _hold_text(self) -> None:
        """Make a block of the pieces that have come since the last block, unless it is blank."""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text.strip():
            self._held.append(TextBlock(text))
