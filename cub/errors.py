"""What can go wrong, said once: every error a person sees is a CubError with an exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence


class CubError(Exception):
    """A known error (exit 1).

    `where` is `file`, `file:line` or `file:line:column`; `hint` says what to do next;
    `details` are further lines shown below the message, one a line.
    """

    exit_code = 1

    def __init__(
        self, message: str, *, where: str = "", hint: str = "", details: Sequence[str] = ()
    ) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.where = where
        self.hint = hint
        self.details = tuple(details)

    @property
    def line(self) -> int | None:
        """The line that `where` names, counted from 1; None where it names a whole file."""
        found = re.search(r":(\d+)(?::\d+)?$", self.where)
        return int(found[1]) if found else None


class UsageError(CubError):
    """The command line itself is wrong (exit 2)."""

    exit_code = 2


class InternalError(CubError):
    """cub noticed a fault of its own before it wrote anything (exit 3)."""

    exit_code = 3


class NewerVersionError(CubError):
    """Something that a newer cub wrote (a version, in words), and what this one `knows`."""

    def __init__(self, what: str, wrote: str, knows: str, *, where: str) -> None:
        super().__init__(
            f"{what} by a newer cub ({wrote}, this cub {knows})",
            where=where,
            hint=f"upgrade cub to one that knows {wrote}, the way you installed it",
        )


class CombinedError(CubError):
    """Several known errors at once: all targets are looked at before one is written."""

    def __init__(self, errors: Sequence[CubError]) -> None:
        first = errors[0]
        super().__init__(first.message, where=first.where, hint=first.hint, details=first.details)
        self.errors = tuple(errors)


def raise_all(errors: Sequence[CubError]) -> None:
    """Raise nothing for no errors, the error itself for one, `CombinedError` for several."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise CombinedError(errors)
