"""What an event of the ledger says of a failed attempt, however odd its values are."""

from __future__ import annotations

from cub.checks.fingerprint import Change, compare, fingerprint
from cub.checks.items import Item
from cub.checks.parsers import parse
from cub.store.events import Event, part


def items(event: Event) -> tuple[Item, ...]:
    """The failing items of all checks, as recorded, or parsed from the end of their output."""
    return _items(failed_checks(event))


def count(event: Event) -> int:
    """How many items failed; not all of many are recorded."""
    return max(len(items(event)), sum(number(check.get("n")) for check in failed_checks(event)))


def tail(event: Event) -> str:
    """The end of what the failed checks printed."""
    return "\n".join(str(check["tail"]) for check in failed_checks(event) if check.get("tail"))


def print_of(event: Event) -> str:
    """The fingerprint of a failure: as it was recorded, or of what its checks printed."""
    known = part(event, "fail").get("fp")
    return str(known) if known else fingerprint(items(event), tail(event))


def change(before: Event, after: Event) -> Change:
    """What is known to be new, fixed and unchanged among the checks that both attempts ran.

    An item that is not in a list that was cut may have failed all the same.
    """
    both = _commands(before) & _commands(after)
    then, now = (
        [check for check in failed_checks(event) if _command(check) in both]
        for event in (before, after)
    )
    new, fixed, unchanged = compare(_items(then), _items(now))
    return Change(new if _whole(then) else (), fixed if _whole(now) else (), unchanged)


def failed_checks(event: Event) -> list[Event]:
    """The checks that failed."""
    return [check for check in _checks(event) if check.get("exit") != 0]


def texts(value: object) -> list[str]:
    """What says anything in a list."""
    return [str(one) for one in value if one] if isinstance(value, list) else []


def number(value: object) -> int:
    """A number that counts something."""
    return value if type(value) is int else 0


def _checks(event: Event) -> list[Event]:
    found = event.get("checks")
    return [check for check in found if isinstance(check, dict)] if isinstance(found, list) else []


def _command(check: Event) -> str:
    return str(check.get("cmd"))


def _commands(event: Event) -> set[str]:
    return {_command(check) for check in _checks(event)}


def _items(checks: list[Event]) -> tuple[Item, ...]:
    found: list[Item] = []
    for check in checks:
        rows = check.get("items")
        listed = [row for row in rows if _is_row(row)] if isinstance(rows, list) else []
        found += [Item(*row[:3]) for row in listed] or parse(str(check.get("tail") or ""))
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
    return all(len(_items([check])) >= max(1, number(check.get("n"))) for check in checks)
