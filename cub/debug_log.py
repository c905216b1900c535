"""What a command looks at and decides, for who asks with `--verbose`; else nobody receives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

DebugReceiver = Callable[[str], None]
_receivers: list[DebugReceiver] = []


def log_debug(text: str) -> None:
    """Tell whoever receives it about one thing that was looked at or decided."""
    for receiver in _receivers:
        receiver(text)


@contextmanager
def receive_debug_log(receiver: DebugReceiver) -> Iterator[None]:
    """Give `receiver` everything that is logged meanwhile."""
    _receivers.append(receiver)
    try:
        yield
    finally:
        _receivers.remove(receiver)
