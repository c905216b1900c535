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


@contextmanager
def handle_stop_signals(message: str) -> Iterator[StopRequest]:
    """Request a stop at the first signal, with a message unless it is ""; end at the second."""
    from cub.processes.command import StopRequest

    stop = StopRequest()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop.is_requested:
            raise KeyboardInterrupt
        stop.is_requested = True  # a second signal may come while the message is printed
        if message:
            output.print_message_from_signal(message)
        stop.request()  # last, as its listener may raise an exception

    # A signal that was ignored from the start, for instance by nohup, stays ignored.
    handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    old_handlers = {number: signal.signal(number, handle) for number in handled}
    try:
        yield stop
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
        stop.close()
