"""Who hears what comes up while a lock is taken: the command line, which shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from cub.edit.plan import PlanWarning


class Listener(NamedTuple):
    """Shows a person warnings, and lines of talk. Without one, nothing is shown."""

    warn: Callable[[Sequence[PlanWarning]], object]
    talk: Callable[[str], object]


_SILENT = Listener(lambda _: None, lambda _: None)
_CURRENT: ContextVar[Listener] = ContextVar("listener", default=_SILENT)


def listener() -> Listener:
    """The listener of this command."""
    return _CURRENT.get()


@contextmanager
def listening(to: Listener) -> Iterator[None]:
    """Have a listener hear what comes up meanwhile.

    A lock is taken in many places far below the command line; so none of them can forget to pass
    it on.
    """
    token = _CURRENT.set(to)
    try:
        yield
    finally:
        _CURRENT.reset(token)
