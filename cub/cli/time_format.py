"""Times as people read them: in their own zone, and how far away they are. JSON has UTC."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from cub.store import timestamps

_TIMESTAMP = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d\.\d{3})?Z\b")  # as cub writes them
_DATE = len("2026-01-31")
_UNITS = ((86_400, "day", "days"), (3_600, "h", "h"), (60, "min", "min"))
_MAX_AGE = 30 * 86_400  # seconds; from there on the date alone says more


def format_local_time(
    stamp: object, form: str = "%Y-%m-%d %H:%M", zone: tzinfo | None = None
) -> str:
    """Format a timestamp in the local zone, or in `zone`; return other text unchanged."""
    at = _parse_moment(stamp)
    if at is None:
        return str(stamp)
    try:
        return at.astimezone(zone).strftime(form)
    except (OverflowError, OSError, ValueError):  # a year that the zone does not reach
        return str(stamp)


def format_time_with_age(stamp: object, now: datetime, zone: tzinfo | None = None) -> str:
    """Format a timestamp in the local zone, with how long ago it was or when it will be."""
    far = format_age(stamp, now)
    return format_local_time(stamp, zone=zone) + (f" ({far})" if far else "")


def format_age(stamp: object, now: datetime) -> str:
    """Format an age such as "5 min ago" or "in 2 days"; "" beyond a month, or for no timestamp."""
    at = _parse_moment(stamp)
    if at is None or abs(seconds := (at - now).total_seconds()) >= _MAX_AGE:
        return ""
    for size, one, many in _UNITS:
        if count := int(abs(seconds) // size):
            amount = f"{count} {one if count == 1 else many}"
            return f"in {amount}" if seconds > 0 else f"{amount} ago"
    return "in less than a minute" if seconds > 0 else "just now"


def localize_timestamps(text: str, zone: tzinfo | None = None) -> str:
    """Return cub's own text with every timestamp in the local zone."""
    return _TIMESTAMP.sub(lambda match: format_local_time(match[0], zone=zone), text)


def _parse_moment(stamp: object) -> datetime | None:
    """Parse a timestamp. A date alone is none: it would be another day in some zones."""
    return (
        timestamps.parse_timestamp(stamp) if isinstance(stamp, str) and len(stamp) > _DATE else None
    )
