"""Turn the signals that end a command into a request to stop, which it carries out in order."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from cub.cli import output
from cub.processes.command import StopRequest

_SignalHandler = Callable[[int, FrameType | None], object] | signal.Handlers
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class _Handler:
    """Request a stop at the first signal, with a message unless it is ""; end at the second."""

    def __init__(self, stop: StopRequest, message: str) -> None:
        self.stop = stop
        self.message = message

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.stop.is_requested:
            raise KeyboardInterrupt
        self.stop.is_requested = True  # a second signal may come while the message is printed
        if self.message:
            output.print_message_from_signal(self.message)
        self.stop.request()  # last, as its listener may raise an exception


@contextmanager
def handle_stop_signals(message: str) -> Iterator[StopRequest]:
    """Request a stop at the first signal, with a message unless it is ""; end at the second.

    Inside another such context, a stop is requested of that one as well, without its listener.
    """
    stop = StopRequest()
    with _replace_handlers(_SIGNALS, _Handler(stop, message)) as old_handlers:
        try:
            yield stop
        finally:
            for old_handler in old_handlers if stop.is_requested else ():
                if isinstance(old_handler, _Handler):
                    old_handler.stop.is_requested = True
            stop.close()


@contextmanager
def interrupt_at_signals() -> Iterator[None]:
    """Let the other signals end the command as Ctrl-C does, so that it cleans up."""
    with _replace_handlers(_SIGNALS[1:], signal.default_int_handler):
        yield


@contextmanager
def notify_termination(listener: Callable[[], None]) -> Iterator[None]:
    """Call a listener at the signals that end a command, but for that of Ctrl-C."""
    with _replace_handlers(_SIGNALS[1:], lambda _number, _frame: listener()):
        yield


@contextmanager
def ignore_stop_signals() -> Iterator[None]:
    """Ignore these signals for the moment that a cleanup takes."""
    with _replace_handlers(_SIGNALS, signal.SIG_IGN):
        yield


@contextmanager
def _replace_handlers(numbers: Iterable[int], handler: _SignalHandler) -> Iterator[list[object]]:
    """Handle signals in another way; yield the old handlers, which come back at the end.

    A signal that was ignored from the start, for instance by nohup, stays ignored.
    """
    handled = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    old_handlers = {number: signal.signal(number, handler) for number in handled}
    try:
        yield list(old_handlers.values())
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
