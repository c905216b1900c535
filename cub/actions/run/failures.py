"""Define the classes of failed attempts: what each means, whether it counts, and what a run does.

This table is the one home of the classes. A verdict carries a class as a whole, so that no other
module has to look one up by its name; only what reads a ledger does that, with `find_class`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cub.harness.refusals import RefusalKind
from cub.store.events import Event, get_mapping, get_outcome

# What the run does next: it continues, waits for the service, or ends at once.
RunEffect = Literal["continue", "wait", "end"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """Hold a class of failed attempts; `name` is its key in the ledger.

    - `description`: what such an attempt did, for a sentence that starts with "An attempt".
    - `meaning`: what happened, for the next prompt, if the attempt has no reason of its own.
    - `prompt_note`: what the documentation says that the next prompt tells of it.
    - `is_charged`: whether it counts as one of the attempts of its task; `charge_note` is when not.
    - `effect`: what the run does next; `remedy` is what a person can do, and `wait_reason` what the
      run waits for, with the name of the `{agent}`.
    - `shows_items`: failing items are the reason.
    - `observation`, `advice`: further lines for the next prompt.
    - `is_environment`: three in a row say something about the environment, and not about tasks.
    """

    name: str
    description: str
    meaning: str
    prompt_note: str = "nothing"
    is_charged: bool = True
    charge_note: str = ""
    effect: RunEffect = "continue"
    remedy: str = ""
    wait_reason: str = ""
    shows_items: bool = False
    observation: str = ""
    advice: str = ""
    is_environment: bool = False


_NO_FAULT = "for no fault of the task"


def _define_free(
    name: str,
    description: str,
    meaning: str,
    effect: RunEffect = "continue",
    remedy: str = "",
    wait_reason: str = "",
) -> FailureClass:
    """Return a class that says something about the environment, and nothing about the task."""
    return FailureClass(
        name,
        description,
        f"{meaning}, {_NO_FAULT}",
        is_charged=False,
        effect=effect,
        remedy=remedy,
        wait_reason=wait_reason,
        is_environment=True,
    )


INTERRUPTED = _define_free(
    "interrupted",
    "was stopped by the user, or its run was killed",
    "the run was stopped",
    effect="end",
)
CONTEXT_FAILED = _define_free(
    "context_failed",
    "did not start because a [context command](#context-commands) with `on_failure: fail` failed",
    "the context commands failed",
)
UNTRUSTED = _define_free(
    "untrusted",
    "did not start because files that the agent would execute are [not trusted](#trust), such as "
    "settings that an earlier attempt changed",
    "the agent would execute files that were not trusted",
    effect="end",
    remedy="review the files, then run `cub trust`",
)
RATE_LIMITED = _define_free(
    "rate_limited",
    "met a limit or an overloaded service, and did no work",
    "the agent had reached its limit",
    effect="wait",
    wait_reason="{agent} has reached its limit",
)
AUTH = _define_free(
    "auth",
    "could not log in, or has no credit left, and did no work",
    "the agent was not logged in",
    effect="end",
    remedy="log in to the agent, or set the key that it needs",
)
SERVICE_FAILED = _define_free(
    "service_failed",
    "met a service or a network that failed, such as HTTP 5xx, a stream that was cut, or a "
    "web page instead of a reply, and did no work; or got no reply of a model, or an empty one",
    "the agent's service did not answer",
    effect="wait",
    wait_reason="the service of {agent} failed",
)
HARNESS_MISSING = _define_free(
    "harness_missing",
    "has an agent that can't be started",
    "the agent could not be started",
    effect="end",
    remedy="install the agent, or correct its command under `harnesses` in the configuration",
)
HARNESS_SETUP = _define_free(
    "harness_setup",
    "has an agent that can't work as it is set up: a model that does not exist, arguments that it "
    "does not know, a first prompt that is too long, or another request that its service refuses "
    "for good (HTTP 4xx)",
    "the agent could not work as it is set up",
    effect="end",
    remedy="fix the agent's model and arguments under `harnesses` in the configuration",
)
BUDGET = _define_free(
    "budget",
    "used up the rest of the run's budget",
    "the run's budget was used up",
    effect="end",
)
TIMEOUT_IDLE = FailureClass(
    "timeout_idle",
    "printed nothing for `run.idle_timeout`",
    "the agent was stopped because it was silent for too long",
    "how long it took",
)
TIMEOUT_WALL = FailureClass(
    "timeout_wall",
    "took as long as `run.timeout`",
    "the agent was stopped because its time was over",
    "how long it took",
)
PERMISSION_DENIED = FailureClass(
    "permission_denied",
    "was not allowed something, and failed or did no work",
    "the agent was not allowed what it wanted to do",
    "what, and that it is not allowed",
    advice="this was denied: {reason}",
)
STUCK = FailureClass(
    "stuck",
    "says so, or asks to close the task as `wontfix` or `duplicate`",
    "the agent gave up, and did not say why",
    "why",
)
ASKED_QUESTION = FailureClass(
    "asked_question",
    "ended with a question, and did no work",
    "the agent ended with a question that no one could answer",
    "the question, and that questions are not answered",
    advice="questions are not answered during a run: decide on your own and describe the "
    "decision in your final message; if only a human can know the answer, end with the "
    "signal that you are stuck",
)
HARNESS_EXIT = FailureClass(
    "harness_exit",
    "has an agent that failed by its own rule",
    "the agent failed",
    "how, and what ended it, or its last line",
)
UNVERIFIED = FailureClass(
    "unverified",
    "was judged by no check, see [above](#what-cannot-decide)",
    "no check could judge the work: all of them fail as they did before",
    "that a check has to pass, or to fail less",
    charge_note="unless the checks could not work",
    remedy="fix the check, give the task one of its own with `cub task edit ID --check CMD`, "
    "or set run.accept_unverified",
    observation="a check has to pass, or to fail less than before: nothing else shows that it is "
    "done",
)
NOT_MENDED = FailureClass(
    "not_mended",
    "fixed none of the [known failures](#checks-that-failed-before), "
    "and its task has no check of its own",
    "the checks failed before the attempt, and no known failure is fixed",
    is_charged=False,
    effect="end",
    remedy="fix the failures with a task of their own; or give each task a check of its own: "
    "`cub task edit ID --check CMD`; or pass --excuse-known-failures",
    observation="at least one of the known failures has to be fixed, and no new one may come",
)
PROTECTED = FailureClass(
    "protected",
    "changed a file that [`run.protect`](#what-the-checks-go-by) names",
    "a file was changed that no attempt may change",
    "which path",
)
INSTRUCTIONS_CHANGED = FailureClass(
    "instructions_changed",
    "deleted an [instruction file](#instruction-files), or changed cub's section in it",
    "an instruction file was deleted, or cub's section in it was changed",
    "which file",
    remedy="name the file in the task if it is to be changed",
)
TESTS_REMOVED = FailureClass(
    "tests_removed",
    "[removed tests](#removed-tests) that ran before",
    "tests that ran before the attempt no longer run",
    "how many tests, and which files",
    remedy="name the tests or their file in the task if they may go, or set "
    "run.allow_removed_tests",
    observation="every test that ran before has to run: restore what was deleted, emptied or "
    "skipped; a test may be moved or renamed",
)
CHECK_CHANGED = FailureClass(
    "check_changed",
    "passes its checks only with its own changes of what [defines them](#changed-definitions)",
    "the checks pass only with the attempt's changes of what defines them",
    "which file, and what fails without its changes",
    remedy="name the file in the task, or allow the change with --allow-check-changes",
    observation="the checks have to pass as they were defined before: leave these files alone",
)
NO_CHANGES = FailureClass(
    "no_changes",
    "changed nothing, and the agent did not say that nothing had to be changed",
    "nothing was changed, and the agent did not say that nothing had to be",
    "what it said",
)
CHECKS_FAILED = FailureClass(
    "checks_failed",
    "has checks that fail",
    "a check failed that passed before",
    "the failing items, or [what is wrong](task-prompt.md#checks) and the end of the output",
    shows_items=True,
)
TOO_LARGE = FailureClass(
    "too_large",
    "left a file larger than `run.max_file_size` that git does not ignore",
    "a file was left that is too large to be kept",
    "which one",
)
COMMIT_FAILED = FailureClass(
    "commit_failed",
    "could not be committed: a hook, one that changes what is committed, a signature, a changed "
    "submodule, new files that the attempt made git ignore",
    "the changes could not be committed",
    "what git or the hook printed, or which file",
    is_environment=True,
)
MERGE_CONFLICT = FailureClass(
    "merge_conflict",
    "left a merge with conflicts in it, or conflicts with newer commits of its branch",
    "the changes could not be merged",
    "in which file",
)
NOT_MERGED = FailureClass(
    "not_merged",
    "was accepted, but edits in the checkout keep its commit out of it, or the branch got newer "
    "commits during five checks in a row: the commit stays under a ref, and the task is parked "
    "with the command that merges it",
    "the commit could not be brought into the checkout",
    is_charged=False,
    charge_note="the work is done",
    remedy="commit or stash the edits that are in the way, then merge the commit",
)
UNKNOWN = FailureClass(
    "unknown",
    "went wrong in a way that has no class of its own",
    "something went wrong that has no class of its own",
    "what",
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
