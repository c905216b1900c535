"""Log what a command looks at and decides, for `--verbose`; otherwise the lines are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

DebugReceiver = Callable[[str], None]
_receivers: list[DebugReceiver] = []


def log_debug(text: str) -> None:
    """Pass one line to every receiver."""
    for receiver in _receivers:
        receiver(text)


@contextmanager
def receive_debug_log(receiver: DebugReceiver) -> Iterator[None]:
    """Pass everything that is logged in the meantime to `receiver`."""
    _receivers.append(receiver)
    try:
        yield
    finally:
        _receivers.remove(receiver)
