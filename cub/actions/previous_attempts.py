"""Summarize why earlier attempts at a task failed, from the ledger's events, without a model.

Values of an event may be of any type: what a function doesn't expect counts as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from cub.actions.run.failures import counts_as_attempt, find_class
from cub.checks.failing_items import FailingItem, ItemChanges, compare_items, fingerprint_items
from cub.checks.tool_output import parse_output
from cub.json_values import JsonObject, get_count, list_objects
from cub.prompt.task_prompt import FailureSummary
from cub.prompt.untrusted_text import embed_code, embed_line
from cub.store.events import Event, get_mapping, get_outcome, get_timestamp
from cub.text import truncate_text

PIVOT_ADVICE = "take another way than the attempts before, or say what keeps you from it"
MAX_OLDER, OLDER_COUNT = 300, 2  # characters for each attempt before the newest; their number
_MAX_REASON_CHARS, _MAX_ITEMS, _MAX_NAMES = 400, 8, 3
MAX_EVENTS = 20


def summarize_failures(newest_first: Iterable[Event]) -> FailureSummary | None:
    """Summarize the attempts since the last success; None if none of them failed."""
    # By time, as git merges the ledger's files in any order.
    events = sorted(islice(newest_first, MAX_EVENTS), key=get_timestamp, reverse=True)
    failed = [*takewhile(lambda event: not event.get("ok"), events)]
    if not failed:
        return None
    attempts = [event for event in failed if counts_as_attempt(event)] or failed[:1]
    last, *before = attempts[: OLDER_COUNT + 1]
    return FailureSummary(
        _describe_reason(last),
        tuple(filter(None, _list_observations(last, before))),
        tuple(filter(None, _list_avoidable(attempts))),
        "" if _get_items(last) else _get_tail(last),
        tuple(map(_describe_earlier, before)),
    )


def _get_items(event: Event) -> tuple[FailingItem, ...]:
    """Return the failing items as recorded, or parsed from the end of the output."""
    return _read_items(_list_failed_checks(event))


def _count_items(event: Event) -> int:
    """Return how many items failed; if there are many, not all of them are recorded."""
    counts = (get_count(check, "n") for check in _list_failed_checks(event))
    return max(len(_get_items(event)), sum(counts))


def _get_tail(event: Event) -> str:
    tails = (check.get("tail") for check in _list_failed_checks(event))
    return "\n".join(str(tail) for tail in tails if tail)


def _get_fingerprint(event: Event) -> str:
    if recorded := get_mapping(event, "fail").get("fp"):
        return str(recorded)
    return fingerprint_items(_get_items(event), _get_tail(event))


def _compare_attempts(before: Event, after: Event) -> ItemChanges:
    """Compare the items of the checks that both attempts ran: new, fixed and unchanged ones.

    An item that is missing in a list that was cut may have failed nevertheless.
    """
    both = _get_commands(before) & _get_commands(after)
    then, now = (
        [check for check in _list_failed_checks(event) if str(check.get("cmd")) in both]
        for event in (before, after)
    )
    new, fixed, unchanged = compare_items(_read_items(then), _read_items(now))
    return ItemChanges(new if _is_whole(then) else (), fixed if _is_whole(now) else (), unchanged)


def _list_failed_checks(event: Event) -> list[JsonObject]:
    return [check for check in list_objects(event, "checks") if check.get("exit") != 0]


def _to_texts(value: object) -> list[str]:
    """Return the entries of a list that are not empty, as texts."""
    return [str(entry) for entry in value if entry] if isinstance(value, list) else []


def _get_commands(event: Event) -> set[str]:
    return {str(check.get("cmd")) for check in list_objects(event, "checks")}


def _read_items(checks: list[JsonObject]) -> tuple[FailingItem, ...]:
    items: list[FailingItem] = []
    for check in checks:
        rows = check.get("items")
        recorded = [row for row in rows if _is_row(row)] if isinstance(rows, list) else []
        parsed = () if recorded else parse_output(str(check.get("tail") or ""))
        items += [*(FailingItem(*row[:3]) for row in recorded), *parsed]
    return tuple(dict.fromkeys(items))


def _is_row(row: object) -> bool:
    if not (isinstance(row, list) and all(isinstance(cell, str) for cell in row[:3])):
        return False
    return len(row) >= 3 and bool(row[1].strip())


def _is_whole(checks: list[JsonObject]) -> bool:
    """Tell whether all items of each check are recorded."""
    return all(len(_read_items([check])) >= max(1, get_count(check, "n")) for check in checks)


def _describe_reason(event: Event) -> str:
    """Return the class, and the agent's own words, the first failing item or the meaning."""
    failure = find_class(get_outcome(event))
    items = _get_items(event) if failure.shows_items else ()
    first = next(map(_describe_item, items), "")
    reason = event.get("stuck") or first or get_mapping(event, "fail").get("reason")
    texts = (embed_line(get_outcome(event)), embed_line(reason or failure.meaning))
    return truncate_text(": ".join(filter(None, texts)), _MAX_REASON_CHARS)


def _describe_earlier(event: Event) -> str:
    number = event.get("n")
    attempt = f"attempt {number}: " if type(number) is int else ""
    return truncate_text(attempt + _describe_reason(event), MAX_OLDER)


def _list_observations(event: Event, before: Sequence[Event]) -> Iterator[str]:
    yield from _list_item_observations(event, before)
    yield find_class(get_outcome(event)).observation
    yield from map(embed_line, _to_texts(event.get("obs")))
    if files := _to_texts(get_mapping(event, "git").get("files")):
        yield f"files touched: {_join_names(files)}"
    trailer = get_mapping(event, "trailer")
    reason = _describe_reason(event)
    for name, statement in (
        ("the agent's summary", trailer.get("summary")),
        ("the agent said", event.get("said")),
        ("the agent's next step", trailer.get("next")),
    ):
        if statement and (text := embed_line(statement)) not in reason:
            yield f"{name}: {text}"


def _list_item_observations(event: Event, before: Sequence[Event]) -> Iterator[str]:
    changes = _compare_attempts(before[0], event) if before else ItemChanges((), (), ())
    if total := _count_items(event):
        yield f"{total} failing{_describe_changes(changes, total)}"
    new = set(changes.new) if changes.unchanged else set()
    for item in _get_items(event)[:_MAX_ITEMS]:
        yield f"{'new' if item in new else 'failing'}: {_describe_item(item)}"
    if changes.fixed:
        yield f"fixed: {_join_names([item.where for item in changes.fixed])}"


def _describe_changes(changes: ItemChanges, total: int) -> str:
    """Return the counts in parentheses, "" unless each item is known to be new or not."""
    if len(changes.new) + len(changes.unchanged) != total:
        return ""
    named = (("new", changes.new), ("unchanged", changes.unchanged), ("fixed", changes.fixed))
    counts = ", ".join(f"{len(items)} {name}" for name, items in named if items)
    return f" ({counts} against the attempt before)"


def _list_avoidable(failed: Sequence[Event]) -> Iterator[str]:
    """List what led to the same failure again, what is denied, and what the agent tried itself.

    If space is short, the last lines are cut: those that an agent wrote.
    """
    fingerprint = _get_fingerprint(failed[0])
    same = [event for event in failed if fingerprint and _get_fingerprint(event) == fingerprint]
    if len(same) > 1:
        total = _count_items(failed[0])
        failure = f"same {total} failure{'s' * (total > 1)}" if total else "the same failure"
        yield f"{failure}, {len(same)} times{_describe_edits(same)}"
        if _get_fingerprint(failed[1]) == fingerprint:  # of the last two attempts
            yield PIVOT_ADVICE
    denied = (text for event in failed for text in _to_texts(event.get("denied")))
    yield from dict.fromkeys(f"this is not allowed: {embed_code(text)}" for text in denied)
    yield from dict.fromkeys(map(_get_advice, failed))
    trailers = (get_mapping(event, "trailer") for event in failed)
    tried = (text for trailer in trailers for text in _to_texts(trailer.get("tried")))
    yield from dict.fromkeys(map(embed_line, tried))


def _get_advice(event: Event) -> str:
    """Return the advice of an event's class, about its reason; "" for none."""
    advice, reason = find_class(get_outcome(event)).advice, get_mapping(event, "fail").get("reason")
    if "{reason}" not in advice:
        return advice
    return advice.replace("{reason}", embed_line(reason)) if reason else ""


def _describe_edits(events: Sequence[Event]) -> str:
    """Name the files that were edited before each failure; "" if they are not known."""
    edited = [get_mapping(event, "git").get("files") for event in events]
    if names := [*dict.fromkeys(name for files in edited for name in _to_texts(files))]:
        return f", after editing {_join_names(names)}"
    is_cut = any(event.get("cut") for event in events)
    return ", after no edit at all" if not is_cut and all(files == [] for files in edited) else ""


def _describe_item(item: FailingItem) -> str:
    message = embed_line(item.message)
    return embed_code(item.where) + (f": {message}" if message else "")


def _join_names(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(embed_code, names[:_MAX_NAMES])) + more
