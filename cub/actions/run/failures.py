"""Define the classes of failed attempts: what each means, whether it counts, and what helps.

This table is the one home of the classes; docs/reference/run.md says when each one applies. A
verdict carries a class as a whole, so that no other module has to look one up by its name; only
what reads a ledger does that, with `find_class`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from cub.harness.refusals import RefusalKind
from cub.store.events import Event, get_mapping, get_outcome


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Hold a class of failed attempts; `name` is its key in the ledger.

    - `meaning`: what happened, for the next prompt, if the attempt has no reason of its own.
    - `is_charged`: whether it counts as one of the attempts of its task.
    - `remedy`: what a person can do.
    - `wait_reason`: what the run waits for, with the name of the `{agent}`; "" if it does not wait.
    - `shows_items`: failing items are the reason.
    - `observation`, `advice`: further lines for the next prompt.
    - `is_environment`: three in a row say something about the environment, and not about tasks.
    """

    name: str
    meaning: str
    is_charged: bool = True
    remedy: str = ""
    wait_reason: str = ""
    shows_items: bool = False
    observation: str = ""
    advice: str = ""
    is_environment: bool = False


# They say something about the environment, and nothing about the task.
_define_free = partial(FailureClass, is_charged=False, is_environment=True)
_NO_FAULT = "for no fault of the task"
INTERRUPTED = _define_free("interrupted", f"the run was stopped, {_NO_FAULT}")
CONTEXT_FAILED = _define_free("context_failed", f"the context commands failed, {_NO_FAULT}")
UNTRUSTED = _define_free(
    "untrusted",
    f"the agent would execute files that were not trusted, {_NO_FAULT}",
    remedy="review the files, then run `cub trust`",
)
RATE_LIMITED = _define_free(
    "rate_limited",
    f"the agent had reached its limit, {_NO_FAULT}",
    wait_reason="{agent} has reached its limit",
)
AUTH = _define_free(
    "auth",
    f"the agent was not logged in, {_NO_FAULT}",
    remedy="log in to the agent, or set the key that it needs",
)
SERVICE_FAILED = _define_free(
    "service_failed",
    f"the agent's service did not answer, {_NO_FAULT}",
    wait_reason="the service of {agent} failed",
)
HARNESS_MISSING = _define_free(
    "harness_missing",
    f"the agent could not be started, {_NO_FAULT}",
    remedy="install the agent, or correct its command under `harnesses` in the configuration",
)
HARNESS_SETUP = _define_free(
    "harness_setup",
    f"the agent could not work as it is set up, {_NO_FAULT}",
    remedy="fix the agent's model and arguments under `harnesses` in the configuration",
)
BUDGET = _define_free("budget", f"the run's budget was used up, {_NO_FAULT}")
TIMEOUT_IDLE = FailureClass(
    "timeout_idle", "the agent was stopped because it was silent for too long"
)
TIMEOUT_WALL = FailureClass("timeout_wall", "the agent was stopped because its time was over")
PERMISSION_DENIED = FailureClass(
    "permission_denied",
    "the agent was not allowed what it wanted to do",
    advice="this was denied: {reason}",
)
STUCK = FailureClass("stuck", "the agent gave up, and did not say why")
ASKED_QUESTION = FailureClass(
    "asked_question",
    "the agent ended with a question that no one could answer",
    advice="questions are not answered during a run: decide on your own and describe the "
    "decision in your final message; if only a human can know the answer, end with the "
    "signal that you are stuck",
)
HARNESS_EXIT = FailureClass("harness_exit", "the agent failed")
UNVERIFIED = FailureClass(
    "unverified",
    "no check could judge the work: all of them fail as they did before",
    remedy="fix the check, give the task one of its own with `cub task edit ID --check CMD`, "
    "or set run.accept_unverified",
    observation="a check has to pass, or to fail less than before: nothing else shows that it is "
    "done",
)
NOT_MENDED = FailureClass(
    "not_mended",
    "the checks failed before the attempt, and no known failure is fixed",
    is_charged=False,
    remedy="fix the failures with a task of their own; or give each task a check of its own: "
    "`cub task edit ID --check CMD`; or pass --excuse-known-failures",
    observation="at least one of the known failures has to be fixed, and no new one may come",
)
PROTECTED = FailureClass("protected", "a file was changed that no attempt may change")
INSTRUCTIONS_CHANGED = FailureClass(
    "instructions_changed",
    "an instruction file was deleted, or cub's section in it was changed",
    remedy="name the file in the task if it is to be changed",
)
TESTS_REMOVED = FailureClass(
    "tests_removed",
    "tests that ran before the attempt no longer run",
    remedy="name the tests or their file in the task if they may go, or set "
    "run.allow_removed_tests",
    observation="every test that ran before has to run: restore what was deleted, emptied or "
    "skipped; a test may be moved or renamed",
)
CHECK_CHANGED = FailureClass(
    "check_changed",
    "the checks pass only with the attempt's changes of what defines them",
    remedy="name the file in the task, or allow the change with --allow-check-changes",
    observation="the checks have to pass as they were defined before: leave these files alone",
)
NO_CHANGES = FailureClass(
    "no_changes", "nothing was changed, and the agent did not say that nothing had to be"
)
CHECKS_FAILED = FailureClass("checks_failed", "a check failed that passed before", shows_items=True)
TOO_LARGE = FailureClass("too_large", "a file was left that is too large to be kept")
COMMIT_FAILED = FailureClass(
    "commit_failed", "the changes could not be committed", is_environment=True
)
MERGE_CONFLICT = FailureClass("merge_conflict", "the changes could not be merged")
NOT_MERGED = FailureClass(
    "not_merged",
    "the commit could not be brought into the checkout",
    is_charged=False,
    remedy="commit or stash the edits that are in the way, then merge the commit",
)
UNKNOWN = FailureClass(
    "unknown",
    "something went wrong that has no class of its own",
    shows_items=True,  # a class of another version of cub
)
# In the order in which an attempt is judged: the first that applies is its class.
_ALL = (
    INTERRUPTED, CONTEXT_FAILED, UNTRUSTED, RATE_LIMITED, AUTH, SERVICE_FAILED, HARNESS_MISSING,
    HARNESS_SETUP, BUDGET, TIMEOUT_IDLE, TIMEOUT_WALL, PERMISSION_DENIED, STUCK, ASKED_QUESTION,
    HARNESS_EXIT, UNVERIFIED, PROTECTED, INSTRUCTIONS_CHANGED, NO_CHANGES, TESTS_REMOVED,
    CHECKS_FAILED, CHECK_CHANGED, NOT_MENDED, TOO_LARGE, COMMIT_FAILED, MERGE_CONFLICT,
    NOT_MERGED, UNKNOWN,
)  # fmt: skip
FAILURE_CLASSES: Mapping[str, FailureClass] = {one.name: one for one in _ALL}

# What a harness reports, as cub.harness.refusals names it.
REFUSAL_CLASSES: Mapping[RefusalKind, FailureClass] = {
    "limit": RATE_LIMITED, "login": AUTH, "service": SERVICE_FAILED, "setup": HARNESS_SETUP,
}  # fmt: skip


def counts_as_attempt(event: Event) -> bool:
    """Return whether a failed attempt in the ledger counts as one of those that its task has."""
    charge = get_mapping(event, "fail").get("charge")
    return charge if isinstance(charge, bool) else find_class(get_outcome(event)).is_charged


def find_class(name: str) -> FailureClass:
    """Return the class that a ledger names; `UNKNOWN` for a name of another version of cub."""
    return FAILURE_CLASSES.get(name, UNKNOWN)
