"""Find when a limit ends in an agent's output: in seconds, as a time, or as a duration."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_MAX_WAIT = timedelta(days=366)
_HALF_A_YEAR = timedelta(days=183)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGAIN = r"(?:retry|again|resets?(?:ting)?|available|wait|until|after)"
_QUOTES = r"[\s\\\"':=]{1,8}"  # between a key and its value, in headers and in JSON
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
    rf"\b(?:retry[-_]after([-_]ms)?|x-ratelimit-reset(?:-after)?){_QUOTES}"
    r"(\d{1,8}(?:\.\d{1,9})?)(?![\w:.-]\w)",
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
    """Return the first time in UTC that a text names as a limit's end; None if it names none.

    `zone` is for clock times without a known zone; None is the machine's. A time in the past counts
    as `now`, but a clock time as that of the next day.
    """
    text, now = " ".join(text.split()), now.astimezone(UTC)
    for pattern, parse in _FORMATS:
        if match := pattern.search(text):
            with suppress(ValueError, OverflowError):
                time = max(now, parse(match, now))
                return time if time - now < _MAX_WAIT else None
    return _find_clock_time(text, now, zone)


def _parse_stamp(match: re.Match[str], _: datetime) -> datetime:
    time = datetime.fromisoformat(match[1].replace(" UTC", "Z").replace(" Z", "Z").strip())
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _parse_header_date(match: re.Match[str], _: datetime) -> datetime:
    from email.utils import parsedate_to_datetime

    return parsedate_to_datetime(match[1]).astimezone(UTC)


def _add_duration(match: re.Match[str], now: datetime) -> datetime:
    steps = _PART.findall(match["steps"].lower())
    seconds = (float(n) * _SECONDS["ms" if unit == "milli" else unit] for n, unit in steps)
    return _add_seconds(now, sum(seconds))


def _add_seconds(now: datetime, seconds: float) -> datetime:
    if seconds >= _MAX_WAIT.total_seconds():
        raise OverflowError(seconds)
    return now + timedelta(seconds=seconds)


_FORMATS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], datetime]], ...] = (
    (_EPOCH, lambda match, _: datetime.fromtimestamp(int(match[1][:10]), UTC)),
    (_STAMP, _parse_stamp),
    (_HEADER_DATE, _parse_header_date),
    (_DURATION, _add_duration),
    (_BARE, lambda match, now: _add_seconds(now, float(match[2]) / (1000 if match[1] else 1))),
)


def _find_clock_time(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    for match in _CLOCK.finditer(text):
        if match["hour"] or match["month"] or match["weekday"]:
            with suppress(ValueError, OverflowError):
                return _parse_clock(match, now, _parse_zone(match, now, zone))
    return None


def _parse_clock(match: re.Match[str], now: datetime, zone: tzinfo) -> datetime:
    local_now = now.astimezone(zone)
    hour, minute = _parse_hour(match), int(match["minute"] or 0)
    time = local_now.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    if match["month"]:
        month = _MONTHS.index(match["month"].lower()) + 1
        year = int(match["year"] or local_now.year)
        time = time.replace(year=year, month=month, day=int(match["day"]))
        if not match["year"] and local_now - time > _HALF_A_YEAR:
            time = time.replace(year=year + 1)
        return max(now, time.astimezone(UTC))
    days = 1
    if match["weekday"]:
        days = 7
        time += timedelta(days=(_DAYS.index(match["weekday"].lower()) - time.weekday()) % 7)
    if time <= local_now:
        time += timedelta(days=days)
    return time.astimezone(UTC)


def _parse_hour(match: re.Match[str]) -> int:
    hour, half = int(match["hour"] or 0), (match["half"] or match["alone"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * (half == "p") if half else hour


def _parse_zone(match: re.Match[str], now: datetime, zone: tzinfo | None) -> tzinfo:
    if match["utc"]:
        return UTC
    with suppress(ValueError, OSError, KeyError):  # an unknown zone
        if match["zone"]:
            return ZoneInfo(match["zone"])
    return zone or now.astimezone().tzinfo or UTC
