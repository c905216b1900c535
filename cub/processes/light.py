"""`signal`, `suppress` and prctl(2) for keepers: every command pays for what its keeper imports,
and the standard modules cost 10 ms of CPU, more than all else in it (they import enum, functools).
"""

from __future__ import annotations

import sys

__all__ = ["PARENT_DEATH", "SUBREAPER", "load_prctl", "signal", "suppress"]

SUBREAPER, PARENT_DEATH = 36, 1  # what prctl(2) sets

TYPE_CHECKING = False  # as in typing, which costs more than both
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from contextlib import suppress

    Prctl = Callable[[int, int], int]
else:
    import _signal as signal  # what signal.py wraps: the same functions, with plain numbers

    class suppress:  # noqa: N801 - contextlib's name
        """contextlib's, in short."""

        def __init__(self, *errors: type[BaseException]) -> None:
            self._errors = errors

        def __enter__(self) -> None: ...

        def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
            return isinstance(error, self._errors)


def load_prctl() -> Prctl:
    """Load Linux's prctl(2); elsewhere, return one that always says no."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import _ctypes  # ctypes itself is more than two milliseconds

            class Function(_ctypes.CFuncPtr):  # it takes and returns what is int in C
                _flags_ = _ctypes.FUNCFLAG_CDECL

            call = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"))  # type: ignore[arg-type]
            return lambda what, value: int(call(what, value, 0, 0, 0))
    return lambda _what, _value: -1
