"""When a limit ends, out of the words of a client: in seconds, as a time, or as a duration."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_MOST = timedelta(days=366)
_HALF_A_YEAR = timedelta(days=183)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGAIN = r"(?:retry|again|resets?(?:ting)?|available|wait|until|after)"
_QUOTES = r"[\s\\\"':=]{1,8}"  # what stands between a key and its value, in headers and in JSON
_UNIT = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)"
_STEP = rf"\d{{1,9}}(?:\.\d{{1,9}})?\s?{_UNIT}(?![a-z])"
_PART = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|milli|[smhdw])", re.IGNORECASE)

_EPOCH = re.compile(
    r"(?:\||\breset(?:s|_at|s_at|At|sAt|-\w+)?" + _QUOTES + r")\s*(\d{10}(?:\d{3})?)(?!\d)",
    re.IGNORECASE,
)
_STAMP = re.compile(
    r"(?:reset|retry|again|until)[\w\s\\\"':=-]{1,40}?"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)",
    re.IGNORECASE,
)
_HEADER_DATE = re.compile(
    r"retry-after" + _QUOTES + r"(\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)", re.IGNORECASE
)
_DURATION = re.compile(
    rf"(?:\b{_AGAIN}(?:\s\w{{1,12}})?\s(?:in|after|for)\s(?:about\s)?~?|\bwait\s~?|\bresets?\sin\s~?"
    rf"|\b(?:retryDelay|quotaResetDelay|retry[-_]after|x-ratelimit-reset(?:-\w{{1,20}})?){_QUOTES}"
    rf"|\bafter\s)(?P<steps>{_STEP}(?:(?:,|\sand)?\s?{_STEP}){{0,6}})",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\b(?:retry[-_]after(?P<milli>[-_]ms)?|x-ratelimit-reset(?:-after)?){_QUOTES}"
    r"(?P<count>\d{1,8}(?:\.\d{1,9})?)(?![\w:.-]\w)",
    re.IGNORECASE,
)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b"
_CLOCK = re.compile(
    rf"\b(?:resets?|again|until|after|reset)\s(?:(?:at|on|after)\s)?"
    rf"(?:{_MONTH}(?:,?\s(?P<year>20\d\d)\b)?|(?P<weekday>{'|'.join(_DAYS)})[a-z]{{0,6}})?"
    r"(?:,?\s?(?:at\s)?(?P<hour>\d{1,2})"
    r"(?:(?::(?P<minute>\d\d))(?::\d\d)?(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|\s?(?P<alone>[ap])\.?m\b\.?))?"
    r"(?:\s?(?:\((?P<zone>[\w/+-]{1,40})\)|(?P<utc>UTC|GMT)\b))?",
    re.IGNORECASE,
)


def find_reset_time(text: str, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """The first time in UTC that a text names as a limit's end; None if it names none.

    Clock times without a known zone are those of `zone`, the machine's own if it is None. A
    time that is past is `now`, but a clock time is that of the next day.
    """
    text, now = " ".join(text.split()), now.astimezone(UTC)
    for read in (_epoch, _stamp, _header_date, _duration, _bare):
        if (found := read(text, now)) is not None:
            return found if found - now < _MOST else None
    return _clock(text, now, zone)


def _epoch(text: str, now: datetime) -> datetime | None:
    if not (found := _EPOCH.search(text)):
        return None
    seconds = int(found[1][:10])
    return max(now, datetime.fromtimestamp(seconds, UTC))


def _stamp(text: str, now: datetime) -> datetime | None:
    if not (found := _STAMP.search(text)):
        return None
    try:
        told = datetime.fromisoformat(found[1].replace(" UTC", "Z").replace(" Z", "Z").strip())
        return max(now, told.astimezone(UTC) if told.tzinfo else told.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _header_date(text: str, now: datetime) -> datetime | None:
    if not (found := _HEADER_DATE.search(text)):
        return None
    from email.utils import parsedate_to_datetime

    try:
        return max(now, parsedate_to_datetime(found[1]).astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def _duration(text: str, now: datetime) -> datetime | None:
    if not (found := _DURATION.search(text)):
        return None
    steps = _PART.findall(found["steps"].lower())
    return _later(
        now, sum(float(n) * _SECONDS["ms" if unit == "milli" else unit] for n, unit in steps)
    )


def _bare(text: str, now: datetime) -> datetime | None:
    if not (found := _BARE.search(text)):
        return None
    return _later(now, float(found["count"]) / (1000 if found["milli"] else 1))


def _later(now: datetime, seconds: float) -> datetime | None:
    return now + timedelta(seconds=seconds) if seconds < _MOST.total_seconds() else None


def _clock(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """A date, a clock time or both; the first that is one."""
    for found in _CLOCK.finditer(text):
        if not (found["hour"] or found["month"] or found["weekday"]):
            continue
        try:
            return _parse_clock(found, now, _zone(found, now, zone))
        except (ValueError, OverflowError):
            continue
    return None


def _parse_clock(match: re.Match[str], now: datetime, zone: tzinfo) -> datetime:
    here = now.astimezone(zone)
    told = here.replace(
        hour=_hour(match), minute=int(match["minute"] or 0), second=0, microsecond=0, fold=0
    )
    if match["month"]:
        month = _MONTHS.index(match["month"].lower()) + 1
        year = int(match["year"] or here.year)
        told = told.replace(year=year, month=month, day=int(match["day"]))
        if not match["year"] and here - told > _HALF_A_YEAR:
            told = told.replace(year=year + 1)
        return max(now, told.astimezone(UTC))
    days = 1
    if match["weekday"]:
        days = 7
        told += timedelta(days=(_DAYS.index(match["weekday"].lower()) - told.weekday()) % 7)
    if told <= here:
        told += timedelta(days=days)
    return told.astimezone(UTC)


def _hour(match: re.Match[str]) -> int:
    hour, half = int(match["hour"] or 0), (match["half"] or match["alone"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * (half == "p") if half else hour


def _zone(match: re.Match[str], now: datetime, zone: tzinfo | None) -> tzinfo:
    if match["utc"]:
        return UTC
    try:
        if match["zone"]:
            return ZoneInfo(match["zone"])
    except (ValueError, OSError, KeyError):  # there is none of this name
        pass
    return zone or now.astimezone().tzinfo or UTC
