"""Changes of tasks as calls of `bd`: what differs between a record before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cub.errors import CubError
from cub.store.briefs import EPIC, is_deleted
from cub.store.formats.beads_issue import BLOCKS, CHILD, issue_of
from cub.store.jsonl import Record
from cub.store.spelling import CLOSED, OPEN

Call = tuple[str, ...]
_OPTIONS = {
    "title": "--title",
    "issue_type": "--type",
    "priority": "--priority",
    "description": "--description",
    "design": "--design",
    "acceptance_criteria": "--acceptance",
    "notes": "--notes",
    "assignee": "--assignee",
    "external_ref": "--external-ref",
}


class Pair(NamedTuple):
    """A task before, None for a new one, and after."""

    before: Record | None
    after: Record

    @property
    def key(self) -> str:
        """Its id."""
        return str(self.after["id"])


def calls(pairs: Iterable[Pair]) -> Iterator[Call]:
    """What `bd` is to be told, in an order that it accepts: it closes nothing that waits for an
    open issue, and no epic with open children.
    """
    pairs = list(pairs)
    gone = [pair.key for pair in pairs if is_deleted(pair.after)]
    pairs = [pair for pair in pairs if pair.key not in gone]
    for pair in pairs:
        _require_storable(pair)
    for pair in sorted(pairs, key=lambda pair: pair.key):
        yield from _created(pair)
    for pair in pairs:
        yield from _edges(pair, removed=True)
        yield from _updated(pair)
    for pair in sorted(pairs, key=lambda pair: pair.after.get("issue_type") == EPIC):
        yield from _closed(pair)
    for pair in pairs:
        yield from _edges(pair, removed=False)
    yield from (("delete", key, "--force") for key in gone)  # without it, bd only shows what it did


def _require_storable(pair: Pair) -> None:
    if pair.after.get("checks") and pair.after["checks"] != (pair.before or {}).get("checks"):
        hint = "`run: {checks: […]}` in .cub/config.yaml says those of all tasks"
        raise CubError(f"beads keeps no checks of a task, as {pair.key} has", hint=hint)


def _created(pair: Pair) -> Iterator[Call]:
    """Also with an id that begins with another prefix than the other issues have."""
    if pair.before is None:
        yield "create", f"--id={pair.key}", *_options({}, issue_of(pair.after)), "--force"


def _updated(pair: Pair) -> Iterator[Call]:
    before, after = _issues(pair)
    if before.get("status") == CLOSED and _status(pair) is not None:
        yield "reopen", pair.key
        before["status"] = OPEN
    options = [] if pair.before is None else _options(before, after)
    if after["status"] not in (CLOSED, before.get("status", OPEN)):
        options.append(f"--status={after['status']}")
    if options:
        yield "update", pair.key, *options
    old, new = (dict.fromkeys(issue.get("labels", ())) for issue in (before, after))
    yield from (("label", "remove", pair.key, label) for label in old if label not in new)
    yield from (("label", "add", pair.key, label) for label in new if label not in old)


def _closed(pair: Pair) -> Iterator[Call]:
    if pair.after["status"] == CLOSED and _status(pair) is not None:
        yield "close", pair.key, f"--reason={pair.after.get('close_reason') or 'done'}"


def _status(pair: Pair) -> str | None:
    """The new status, with why it is closed; None where both are as they were."""
    old = pair.before or {}
    same = all(old.get(key) == pair.after.get(key) for key in ("status", "close_reason"))
    return None if same else pair.after["status"]


def _edges(pair: Pair, *, removed: bool) -> Iterator[Call]:
    old, new = _needs(pair.before or {}), _needs(pair.after)
    if removed:
        yield from (
            ("dep", "remove", pair.key, other) for kind, other in old if (kind, other) not in new
        )
        return
    for kind, other in new:
        if (kind, other) not in old:
            yield "dep", "add", pair.key, other, f"--type={kind}"


def _needs(record: Record) -> list[tuple[str, str]]:
    parent = record.get("parent")
    needs = [(BLOCKS, other) for other in record.get("depends_on", ())]
    return needs + ([(CHILD, parent)] if parent else [])


def _issues(pair: Pair) -> tuple[Record, Record]:
    return issue_of(pair.before) if pair.before else {}, issue_of(pair.after)


def _options(before: Record, after: Record) -> list[str]:
    """A field that goes is set to nothing."""
    return [
        f"{option}={after.get(key, '')}"
        for key, option in _OPTIONS.items()
        if before.get(key, "") != after.get(key, "")
    ]
