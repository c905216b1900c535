"""Whether checks can decide about an attempt, and whether they did.

Something has to pass before a task is called done: a check, a failing item that went away, or tests
beside those that failed before. Checks that all fail as they did before have judged nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cub.actions.run.checking import NOT_RUN, Check, Compared

UNVERIFIED = "unverified"
HINT = (
    "mend the check, give the task one of its own with `cub task edit ID --check CMD`, "
    "or set run.accept_unverified"
)


def find_obstacle(before: Mapping[str, Check], own: Collection[str]) -> str:
    """Find out why no client should be started, by what the checks say before it; "" for no reason.

    A check of the task's own (`own`) decides in any case: it has to pass, or to fail less.
    """
    checks = [check for check in before.values() if check.command not in own]
    for check in checks:
        if check.exit in NOT_RUN:
            return f"the check `{check.command}` can't be run{_quote_reason(check)}"
    if not before or any(command in own for command in before) or any(map(_may_decide, checks)):
        return ""
    return "; ".join(_explain(check) + _quote_reason(check) for check in checks)


def describe_undecided(before: Mapping[str, Check], own: Collection[str]) -> Iterator[str]:
    """Tell of each check of the project's that decides nothing as things stand."""
    for check in before.values():
        if check.command not in own and not check.passed and not check.items:
            yield _explain(check)


def find_unverified(checks: Sequence[Compared]) -> str:
    """Find out why checks, none of which stands against an attempt, have not judged it; "" if one
    has, or if there is none.
    """
    if not checks or any(map(_has_judged, checks)):
        return ""
    if not has_worked(checks):
        return f"the checks could not work, before and after: {_name(checks[0].check)}"
    what = "every check fails as it did before, and none shows a test that passes"
    return f"{what}: {_name(checks[0].check)}"


def has_worked(checks: Sequence[Compared]) -> bool:
    """Tell whether a check got as far as to run something of the project's.

    What can't be imported or collected, and where there is no test, nothing has run.
    """
    return any(
        one.check.passed or any(item.kind != "error" for item in one.check.items) for one in checks
    )


def _may_decide(check: Check) -> bool:
    """Whether its result after an attempt can tell anything: items can go away, tests can come."""
    return check.passed or bool(check.items) or check.finds_no_test


def _has_judged(one: Compared) -> bool:
    return one.check.passed or bool(one.fixed) or (bool(one.check.items) and one.check.passes)


def _explain(check: Check) -> str:
    if check.cause:
        return f"`{check.command}` does not end: until it does, it decides nothing"
    if check.finds_no_test:
        return f"`{check.command}` finds no test: it can't decide before there is one"
    return f"`{check.command}` fails already, and names no failing item: it can't decide"


def _name(check: Check) -> str:
    for item in check.items:
        return f"`{check.command}`: {item.where}" + (f": {item.message}" if item.message else "")
    return f"`{check.command}`{_quote_reason(check)}"


def _quote_reason(check: Check) -> str:
    """Quote what a check printed of what is wrong, in parentheses."""
    return f" ({check.reason})" if check.reason else ""
