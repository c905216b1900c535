"""Why earlier attempts at a task failed, computed from the ledger's events, without a model.

What an event of the ledger says of a failed attempt, however odd its values are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from cub.checks.failing_items import FailingItem, ItemChanges, compare_items, fingerprint_items
from cub.checks.tool_output import parse_output
from cub.prompt import untrusted_text
from cub.store.events import Event, get_mapping, get_outcome, get_timestamp, truncate_text


def get_failing_items(event: Event) -> tuple[FailingItem, ...]:
    """The failing items of all checks, as recorded, or parsed from the end of their output."""
    return _items(list_failed_checks(event))


def count_failing_items(event: Event) -> int:
    """How many items failed; not all of many are recorded."""
    return max(
        len(get_failing_items(event)),
        sum(to_count(check.get("n")) for check in list_failed_checks(event)),
    )


def get_output_tail(event: Event) -> str:
    """The end of what the failed checks printed."""
    return "\n".join(str(check["tail"]) for check in list_failed_checks(event) if check.get("tail"))


def get_fingerprint(event: Event) -> str:
    """The fingerprint of a failure: as it was recorded, or of what its checks printed."""
    known = get_mapping(event, "fail").get("fp")
    return (
        str(known) if known else fingerprint_items(get_failing_items(event), get_output_tail(event))
    )


def compare_attempts(before: Event, after: Event) -> ItemChanges:
    """What is known to be new, fixed and unchanged among the checks that both attempts ran.

    An item that is not in a list that was cut may have failed all the same.
    """
    both = _commands(before) & _commands(after)
    then, now = (
        [check for check in list_failed_checks(event) if _command(check) in both]
        for event in (before, after)
    )
    new, fixed, unchanged = compare_items(_items(then), _items(now))
    return ItemChanges(new if _whole(then) else (), fixed if _whole(now) else (), unchanged)


def list_failed_checks(event: Event) -> list[Event]:
    """The checks that failed."""
    return [check for check in _checks(event) if check.get("exit") != 0]


def to_texts(value: object) -> list[str]:
    """What says anything in a list."""
    return [str(one) for one in value if one] if isinstance(value, list) else []


def to_count(value: object) -> int:
    """A number that counts something."""
    return value if type(value) is int else 0


def _checks(event: Event) -> list[Event]:
    found = event.get("checks")
    return [check for check in found if isinstance(check, dict)] if isinstance(found, list) else []


def _command(check: Event) -> str:
    return str(check.get("cmd"))


def _commands(event: Event) -> set[str]:
    return {_command(check) for check in _checks(event)}


def _items(checks: list[Event]) -> tuple[FailingItem, ...]:
    found: list[FailingItem] = []
    for check in checks:
        rows = check.get("items")
        listed = [row for row in rows if _is_row(row)] if isinstance(rows, list) else []
        found += [FailingItem(*row[:3]) for row in listed] or parse_output(
            str(check.get("tail") or "")
        )
    return tuple(dict.fromkeys(found))


def _is_row(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) >= 3
        and all(isinstance(cell, str) for cell in row[:3])
        and bool(row[1].strip())
    )


def _whole(checks: list[Event]) -> bool:
    """Whether all items are listed: those of checks that ran, each of them."""
    return all(len(_items([check])) >= max(1, to_count(check.get("n"))) for check in checks)


# Classes that say something about the machine, and nothing about the task.
INFRASTRUCTURE_FAILURES = ("interrupted", "rate_limited", "auth", "harness_missing", "budget")
QUESTION_FAILURE = "asked_question"
_MEANING = {
    "interrupted": "the run was stopped, for no fault of the task",
    "rate_limited": "the client had reached its limit, for no fault of the task",
    "auth": "the client was not logged in, for no fault of the task",
    "harness_missing": "the client could not be started, for no fault of the task",
    "budget": "the run's budget was used up, for no fault of the task",
    "timeout_idle": "the client was stopped because it was silent for too long",
    "timeout_wall": "the client was stopped because its time was over",
    "permission_denied": "the client was not allowed what it wanted to do",
    "stuck": "the agent gave up, and did not say why",
    QUESTION_FAILURE: "the agent ended with a question, which nobody could answer",
    "harness_exit": "the client failed by itself",
    "checks_failed": "a check failed that passed before",
    "unverified": "no check could judge the work: all of them fail as they did before",
    "protected": "a file was changed that no attempt may change",
    "no_changes": "nothing was changed, and the agent did not say that nothing had to be",
    "too_large": "a file was left that is too large to be kept",
    "commit_failed": "the changes could not be committed",
    "merge_conflict": "the changes could not be merged",
}
DECIDE_ADVICE = (
    "nobody answers questions while you work: decide by yourself, and say in your closing lines "
    "how; where only a person can know, end with the signal that you are stuck"
)
PIVOT_ADVICE = "take another way than the attempts before, or say what keeps you from it"
MAX_NEWEST, MAX_OLDER, OLDER_COUNT = 1500, 300, 2  # characters, for each; how many older attempts
_REASON, _ITEMS, _NAMES = 400, 8, 3
MAX_EVENTS = 20


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """What a retry has to know. `tail` is the end of a log that no parser knows, as it was printed;
    all else is fit for a prompt. `earlier` are attempts before the last one, a line each.
    """

    reason: str
    observations: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    tail: str = ""
    earlier: tuple[str, ...] = field(default=())


def summarize_failures(newest_first: Iterable[Event]) -> FailureSummary | None:
    """The last attempt, if it failed, and what those before it add; None where none failed."""
    failed = _list_failed(newest_first)
    if not failed:
        return None
    told = [event for event in failed if counts_as_attempt(event)] or failed[:1]
    last, *before = told[: OLDER_COUNT + 1]
    return FailureSummary(
        _reason(last),
        tuple(filter(None, _observations(last, before))),
        tuple(filter(None, _avoid(told))),
        "" if get_failing_items(last) else get_output_tail(last),
        tuple(_earlier(event) for event in before),
    )


def counts_as_attempt(event: Event) -> bool:
    """Tell whether a failed attempt counts as one of those that its task has."""
    charge = get_mapping(event, "fail").get("charge")
    return charge if isinstance(charge, bool) else get_outcome(event) not in INFRASTRUCTURE_FAILURES


def _list_failed(newest_first: Iterable[Event]) -> list[Event]:
    """The attempts since the last one that succeeded, by time: git merges files in any order."""
    found = sorted(islice(newest_first, MAX_EVENTS), key=get_timestamp, reverse=True)
    return [*takewhile(lambda event: not event.get("ok"), found)]


def _reason(event: Event) -> str:
    """The class, and what tells most of it: the agent's own words, or the first failing item."""
    unverified = get_outcome(event) == "unverified"  # its items are no fault of the attempt's
    first = "" if unverified else next(map(_describe_item, get_failing_items(event)), "")
    said = event.get("stuck") or first or get_mapping(event, "fail").get("reason")
    what = said or _MEANING.get(get_outcome(event), "")
    return truncate_text(
        ": ".join(filter(None, map(untrusted_text.embed_line, (get_outcome(event), what)))), _REASON
    )


def _observations(event: Event, before: Sequence[Event]) -> Iterator[str]:
    changed = compare_attempts(before[0], event) if before else ItemChanges((), (), ())
    if total := count_failing_items(event):
        yield f"{total} failing{_describe_comparison(changed, total)}"
    fresh = set(changed.new) if changed.unchanged else set()
    for item in get_failing_items(event)[:_ITEMS]:
        yield f"{'new' if item in fresh else 'failing'}: {_describe_item(item)}"
    if changed.fixed:
        yield f"fixed: {_join_names([item.where for item in changed.fixed])}"
    if get_outcome(event) == "unverified":
        yield "a check has to pass, or to fail less than before: nothing else shows that it is done"
    yield from (untrusted_text.embed_line(text) for text in to_texts(event.get("obs")))
    if files := to_texts(get_mapping(event, "git").get("files")):
        yield f"files touched: {_join_names(files)}"
    trailer = get_mapping(event, "trailer")
    reason = _reason(event)
    for name, said in (
        ("the agent's summary", trailer.get("summary")),
        ("the agent said", event.get("said")),
        ("the agent's next step", trailer.get("next")),
    ):
        if said and (text := untrusted_text.embed_line(said)) not in reason:
            yield f"{name}: {text}"


def _describe_comparison(changed: ItemChanges, total: int) -> str:
    """The counts, where it is known of each item whether it is new."""
    if len(changed.new) + len(changed.unchanged) != total:
        return ""
    counts = (("new", changed.new), ("unchanged", changed.unchanged), ("fixed", changed.fixed))
    told = ", ".join(f"{len(which)} {name}" for name, which in counts if which)
    return f" ({told} against the attempt before)"


def _avoid(failed: Sequence[Event]) -> Iterator[str]:
    """What led to the same failure again, what is not allowed, and what the agent tried itself.

    Where room is short, the last lines are cut: those that an agent wrote.
    """
    mark = get_fingerprint(failed[0])
    same = [event for event in failed if mark and get_fingerprint(event) == mark]
    if len(same) > 1:
        yield f"{_same(count_failing_items(failed[0]))}, {len(same)} times{_edits(same)}"
        if get_fingerprint(failed[1]) == mark:  # the last two: more of the same leads nowhere
            yield PIVOT_ADVICE
    if get_outcome(failed[0]) == QUESTION_FAILURE:
        yield DECIDE_ADVICE
    denied = (text for event in failed for text in to_texts(event.get("denied")))
    yield from dict.fromkeys(
        f"this is not allowed: {untrusted_text.embed_code(text)}" for text in denied
    )
    for event in failed:
        if get_outcome(event) == "permission_denied" and (
            why := get_mapping(event, "fail").get("reason")
        ):
            yield f"this was denied: {untrusted_text.embed_line(why)}"
    tried = (
        text for event in failed for text in to_texts(get_mapping(event, "trailer").get("tried"))
    )
    yield from dict.fromkeys(untrusted_text.embed_line(text) for text in tried)


def _same(total: int) -> str:
    return "the same failure" if total == 0 else f"same {total} failure{'s' * (total > 1)}"


def _edits(events: Sequence[Event]) -> str:
    """What was edited before each; "" where nobody knows."""
    known = [get_mapping(event, "git").get("files") for event in events]
    if names := [*dict.fromkeys(name for files in known for name in to_texts(files))]:
        return f", after editing {_join_names(names)}"
    nothing = all(files == [] for files in known) and not any(map(_is_cut, events))
    return ", after no edit at all" if nothing else ""


def _is_cut(event: Event) -> bool:
    return bool(event.get("cut"))


def _earlier(event: Event) -> str:
    number = event.get("n")
    which = f"attempt {number}: " if type(number) is int else ""
    return truncate_text(which + _reason(event), MAX_OLDER)


def _describe_item(item: FailingItem) -> str:
    message = untrusted_text.embed_line(item.message)
    return untrusted_text.embed_code(item.where) + (f": {message}" if message else "")


def _join_names(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f", and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(untrusted_text.embed_code, names[:_NAMES])) + more
