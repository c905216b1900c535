"""What a command looks at and decides, for who asks with `--verbose`; nobody listens otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], None]
_listeners: list[Listener] = []


def trace(text: str) -> None:
    """Tell whoever listens about one thing that was looked at or decided."""
    for listener in _listeners:
        listener(text)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have `listener` told of everything that is traced meanwhile."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
