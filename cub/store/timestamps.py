"""Write times as strings of one form, which sort as the times do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_LENGTH = len("2026-11-21T09:40:00.123Z")


def utc_now() -> str:
    """Return the current time, in UTC and to the millisecond."""
    return format_timestamp(datetime.now(UTC))


def format_timestamp(at: datetime) -> str:
    """Return a time as a timestamp; one without a zone is in UTC."""
    at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime | None:
    """Return the time of any ISO 8601 string; None for any other string."""
    try:
        at = datetime.fromisoformat(text.strip())
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def normalize_timestamp(value: object) -> str:
    """Return another tool's time as a timestamp, and a string that is not a time as it is."""
    if not isinstance(value, str):
        return ""
    if len(value) == _LENGTH and value[10] == "T" and value[-1] == "Z" and value[19] == ".":
        return value
    at = parse_timestamp(value)
    return format_timestamp(at) if at else value


def later_timestamp(timestamp: str, floor: str) -> str:
    """Return `timestamp`, or the first one after `floor` if a slow clock is not past it."""
    if timestamp > floor:
        return timestamp
    at = parse_timestamp(floor)
    try:
        return format_timestamp(at + timedelta(milliseconds=1)) if at else timestamp
    except OverflowError:
        return timestamp
