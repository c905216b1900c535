"""`signal` and `suppress` for keepers: every command pays for what its keeper imports, and the
standard modules cost 8 ms of CPU, twice as much as all else in it (they import enum, functools).
"""

from __future__ import annotations

__all__ = ["signal", "suppress"]

TYPE_CHECKING = False  # as in typing, which costs more than both
if TYPE_CHECKING:
    import signal
    from contextlib import suppress
else:
    import _signal as signal  # what signal.py wraps: the same functions, with plain numbers

    class suppress:  # noqa: N801 - contextlib's name
        """contextlib's, in short."""

        def __init__(self, *errors: type[BaseException]) -> None:
            self._errors = errors

        def __enter__(self) -> None: ...

        def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
            return isinstance(error, self._errors)
