"""Why earlier attempts at a task failed, computed from the ledger's events, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from cub.checks.fingerprint import Change
from cub.checks.items import Item
from cub.prompt import data
from cub.prompt.recorded import change, count, items, print_of, tail, texts
from cub.store.events import Event, cut, outcome, part, when

# Classes that say something about the machine, and nothing about the task.
INFRASTRUCTURE = ("interrupted", "rate_limited", "auth", "harness_missing", "budget")
QUESTION = "asked_question"
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
    QUESTION: "the agent ended with a question, which nobody could answer",
    "harness_exit": "the client failed by itself",
    "checks_failed": "a check failed that passed before",
    "unverified": "no check could judge the work: all of them fail as they did before",
    "protected": "a file was changed that no attempt may change",
    "no_changes": "nothing was changed, and the agent did not say that nothing had to be",
    "too_large": "a file was left that is too large to be kept",
    "commit_failed": "the changes could not be committed",
    "merge_conflict": "the changes could not be merged",
}
DECIDE = (
    "nobody answers questions while you work: decide by yourself, and say in your closing lines "
    "how; where only a person can know, end with the signal that you are stuck"
)
PIVOT = "take another way than the attempts before, or say what keeps you from it"
NEWEST, OLDER, OLDER_COUNT = 1500, 300, 2  # characters, for each; how many older attempts
_REASON, _ITEMS, _NAMES = 400, 8, 3
MOST_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Previous:
    """What a retry has to know. `tail` is the end of a log that no parser knows, as it was printed;
    all else is fit for a prompt. `earlier` are attempts before the last one, a line each.
    """

    reason: str
    observations: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    tail: str = ""
    earlier: tuple[str, ...] = field(default=())


def previous(newest_first: Iterable[Event]) -> Previous | None:
    """The last attempt, if it failed, and what those before it add; None where none failed."""
    failed = _failed(newest_first)
    if not failed:
        return None
    told = [event for event in failed if is_charged(event)] or failed[:1]
    last, *before = told[: OLDER_COUNT + 1]
    return Previous(
        _reason(last),
        tuple(_observations(last, before)),
        tuple(_avoid(told)),
        "" if items(last) else tail(last),
        tuple(_earlier(event) for event in before),
    )


def is_charged(event: Event) -> bool:
    """Tell whether a failed attempt counts as one of those that its task has."""
    charge = part(event, "fail").get("charge")
    return charge if isinstance(charge, bool) else outcome(event) not in INFRASTRUCTURE


def _failed(newest_first: Iterable[Event]) -> list[Event]:
    """The attempts since the last one that succeeded, by time: git merges files in any order."""
    found = sorted(islice(newest_first, MOST_LOOKED_AT), key=when, reverse=True)
    return [*takewhile(lambda event: not event.get("ok"), found)]


def _reason(event: Event) -> str:
    """The class, and what tells most of it: the agent's own words, or the first failing item."""
    unverified = outcome(event) == "unverified"  # its items are no fault of the attempt's
    first = "" if unverified else next(map(_said, items(event)), "")
    said = event.get("stuck") or first or part(event, "fail").get("reason")
    what = said or _MEANING.get(outcome(event), "")
    return cut(": ".join(filter(None, map(data.line, (outcome(event), what)))), _REASON)


def _observations(event: Event, before: Sequence[Event]) -> Iterator[str]:
    changed = change(before[0], event) if before else Change((), (), ())
    if total := count(event):
        yield f"{total} failing{_compared(changed, total)}"
    fresh = set(changed.new) if changed.unchanged else set()
    for item in items(event)[:_ITEMS]:
        yield f"{'new' if item in fresh else 'failing'}: {_said(item)}"
    if changed.fixed:
        yield f"fixed: {_named([item.where for item in changed.fixed])}"
    if outcome(event) == "unverified":
        yield "a check has to pass, or to fail less than before: nothing else shows that it is done"
    yield from (data.line(text) for text in texts(event.get("obs")))
    if files := texts(part(event, "git").get("files")):
        yield f"files touched: {_named(files)}"
    trailer = part(event, "trailer")
    reason = _reason(event)
    for name, said in (
        ("the agent's summary", trailer.get("summary")),
        ("the agent said", event.get("said")),
        ("the agent's next step", trailer.get("next")),
    ):
        if said and (text := data.line(said)) not in reason:
            yield f"{name}: {text}"


def _compared(changed: Change, total: int) -> str:
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
    mark = print_of(failed[0])
    same = [event for event in failed if mark and print_of(event) == mark]
    if len(same) > 1:
        yield f"{_same(count(failed[0]))}, {len(same)} times{_edits(same)}"
        if print_of(failed[1]) == mark:  # the last two: more of the same leads nowhere
            yield PIVOT
    if outcome(failed[0]) == QUESTION:
        yield DECIDE
    denied = (text for event in failed for text in texts(event.get("denied")))
    yield from dict.fromkeys(f"this is not allowed: {data.code(text)}" for text in denied)
    for event in failed:
        if outcome(event) == "permission_denied" and (why := part(event, "fail").get("reason")):
            yield f"this was denied: {data.line(why)}"
    tried = (text for event in failed for text in texts(part(event, "trailer").get("tried")))
    yield from dict.fromkeys(data.line(text) for text in tried)


def _same(total: int) -> str:
    return "the same failure" if total == 0 else f"same {total} failure{'s' * (total > 1)}"


def _edits(events: Sequence[Event]) -> str:
    """What was edited before each; "" where nobody knows."""
    known = [part(event, "git").get("files") for event in events]
    if names := [*dict.fromkeys(name for files in known for name in texts(files))]:
        return f", after editing {_named(names)}"
    nothing = all(files == [] for files in known) and not any(map(_is_cut, events))
    return ", after no edit at all" if nothing else ""


def _is_cut(event: Event) -> bool:
    return bool(event.get("cut"))


def _earlier(event: Event) -> str:
    number = event.get("n")
    which = f"attempt {number}: " if type(number) is int else ""
    return cut(which + _reason(event), OLDER)


def _said(item: Item) -> str:
    message = data.line(item.message)
    return data.code(item.where) + (f": {message}" if message else "")


def _named(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f", and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(map(data.code, names[:_NAMES])) + more
