"""Turn the signals that end a command into a request to stop, which it carries out in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from cub.cli import output

if TYPE_CHECKING:
    from cub.processes.command import StopRequest

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
    from cub.processes.command import StopRequest

    stop = StopRequest()
    handler = _Handler(stop, message)
    # A signal that was ignored from the start, for instance by nohup, stays ignored.
    handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    old_handlers = {number: signal.signal(number, handler) for number in handled}
    try:
        yield stop
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
            if stop.is_requested and isinstance(old_handler, _Handler):
                old_handler.stop.is_requested = True
        stop.close()


@contextmanager
def ignore_stop_signals() -> Iterator[None]:
    """Ignore these signals for the moment that a cleanup takes."""
    old_handlers = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
