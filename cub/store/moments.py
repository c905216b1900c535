"""Moments: times as text of one form, so that their order is the order of their letters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_FORM = len("2026-11-21T09:40:00.123Z")


def now() -> str:
    """This moment, in UTC and to the millisecond."""
    return written(datetime.now(UTC))


def written(at: datetime) -> str:
    """A time as a moment; one without a zone is in UTC."""
    at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read(text: str) -> datetime | None:
    """The time that any ISO 8601 text tells; None where it tells none."""
    try:
        at = datetime.fromisoformat(text.strip())
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def moment(value: object) -> str:
    """What another tool wrote as a moment, to be compared; text that tells no time as it is."""
    if not isinstance(value, str):
        return ""
    if len(value) == _FORM and value[10] == "T" and value[-1] == "Z" and value[19] == ".":
        return value
    at = read(value)
    return written(at) if at else value


def later(this: str, than: str) -> str:
    """`this`, or the first moment after `than` where a clock runs behind what it must follow."""
    if this > than:
        return this
    at = read(than)
    try:
        return written(at + timedelta(milliseconds=1)) if at else this
    except OverflowError:
        return this
