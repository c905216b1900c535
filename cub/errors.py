"""Define every error that a user sees: a CubError with an exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence


class CubError(Exception):
    """Report a known error (exit 1).

    `where` is `file`, `file:line` or `file:line:column`; `hint` says what to do next; `details` are
    further lines, shown below the message.
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
        """Return the line that `where` names, counted from 1; None if it names a whole file."""
        match = re.search(r":(\d+)(?::\d+)?$", self.where)
        return int(match[1]) if match else None


class UsageError(CubError):
    """Report a wrong command line (exit 2)."""

    exit_code = 2


class InternalError(CubError):
    """Report a bug that cub noticed before it wrote anything (exit 3)."""

    exit_code = 3


class NewerVersionError(CubError):
    """Refuse what a newer cub wrote (a version, in words); `knows` is this cub's."""

    def __init__(self, what: str, wrote: str, knows: str, *, where: str) -> None:
        from cub.installation import find_installation

        super().__init__(
            f"{what} by a newer cub ({wrote}, this cub {knows})",
            where=where,
            hint=find_installation().advise_upgrade(wrote),
        )


class CombinedError(CubError):
    """Report several known errors at once: all targets are checked before one is written."""

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
