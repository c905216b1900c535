"""Moments: times as text of one form, so that their order is the order of their letters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_FORM = len("2026-11-21T09:40:00.123Z")


def utc_now() -> str:
    """This moment, in UTC and to the millisecond."""
    return format_timestamp(datetime.now(UTC))


def format_timestamp(at: datetime) -> str:
    """A time as a moment; one without a zone is in UTC."""
    at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime | None:
    """The time that any ISO 8601 text tells; None where it tells none."""
    try:
        at = datetime.fromisoformat(text.strip())
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def normalize_timestamp(value: object) -> str:
    """What another tool wrote as a moment, to be compared; text that tells no time as it is."""
    if not isinstance(value, str):
        return ""
    if len(value) == _FORM and value[10] == "T" and value[-1] == "Z" and value[19] == ".":
        return value
    at = parse_timestamp(value)
    return format_timestamp(at) if at else value


def later_timestamp(timestamp: str, floor: str) -> str:
    """`timestamp`, or the first moment after `floor` where a clock runs behind what it must
    follow.
    """
    if timestamp > floor:
        return timestamp
    at = parse_timestamp(floor)
    try:
        return format_timestamp(at + timedelta(milliseconds=1)) if at else timestamp
    except OverflowError:
        return timestamp
