"""Accept an attempt: commit exactly what was checked, and bring the commit into the checkout.

The person may have committed, switched or edited meanwhile. Nothing of that is lost: what can't be
fast-forwarded is merged and checked again, or stays under a ref of cub's.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from cub.actions.run import failures, run_folders
from cub.actions.run.attempt_checks import run_final_checks
from cub.actions.run.attempt_values import AttemptResult, JudgedAttempt
from cub.actions.run.check_comparison import format_failure_count
from cub.actions.run.end_event import make_end_event
from cub.actions.run.retry_policy import Disposition
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import AttemptFolder, encode_folder_name
from cub.actions.run.task_queue import record_outcome, withdraw_outcome
from cub.actions.run.verdict import Verdict, judge_by_checks
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git.process import decode_output, run_git, try_git
from cub.place.acceptance import (
    Acceptance,
    BranchTip,
    accept_commit,
    bring_objects,
    keep_commit,
    rebase_commit,
)
from cub.place.changes import add_checkout_files, write_patch
from cub.place.commits import (
    has_commit_hooks,
    make_commit,
    make_internal_commit,
    run_commit_hooks,
)
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.processes.command import TimeLimits
from cub.prompt.templates import render_commit_message
from cub.store.events import Event
from cub.store.task_schema import CLOSED
from cub.text import join_first

KEPT_REFS = "refs/cub/kept/"
_MAX_ROUNDS = 5  # of checks together with newer commits
Steps = Generator[Event, None, JudgedAttempt]


def accept_attempt(context: RunContext, judged: JudgedAttempt) -> Steps:
    """Bring the attempt's work into the checkout; return it with its commit, or as failed."""
    if not (judged.attempt.changes or judged.attempt.head):
        return judged
    with context.turn:  # else each acceptance would outdate the checks of the others
        return (yield from _accept_in_turn(context, judged))


def _accept_in_turn(context: RunContext, judged: JudgedAttempt) -> Steps:
    message = ""
    for number in range(1, _MAX_ROUNDS + 1):
        is_last = number == _MAX_ROUNDS
        judged = yield from _merge_newer_commits(context, judged)
        if judged.verdict.is_ok and context.settings.commits:
            message = build_commit_message(context, judged)
            judged, message = yield from _run_hooks(context, judged, message)
        if not judged.verdict.is_ok:
            return judged
        attempt = judged.attempt
        with context.lock:
            if not is_last and context.find_base().commit not in ("", attempt.base.commit):
                continue  # the person has committed
            if not context.settings.commits:
                _apply_changes(context, judged)
                return judged
            judged, acceptance = _commit(context, judged, message, is_last=is_last)
        if acceptance.state == "blocked":
            reason = explain_blocked(acceptance, attempt.spec.task_id)
            judged = JudgedAttempt(attempt, Verdict(failures.NOT_MERGED, reason))
        if acceptance.state != "moved":
            break
    return judged


def _merge_newer_commits(context: RunContext, judged: JudgedAttempt) -> Steps:
    """Have the attempt begin from the branch as it is by now, and judge it again."""
    attempt, tip = judged.attempt, context.find_base()
    if tip.commit in ("", attempt.base.commit):
        return judged
    place, base = attempt.spec.place, attempt.base
    commit = make_internal_commit(place, attempt.tree, base.commit)
    merged = rebase_commit(place.tree, commit, tip.commit, base.commit)
    newer = _describe_newer_commits(place, base.tip, tip.tip)
    if not merged.tree:
        what = f"{join_first(merged.conflicts) or merged.reason}: conflicts with {newer}"
        return JudgedAttempt(attempt, Verdict(failures.MERGE_CONFLICT, what, is_uncounted=True))
    place.set_base(tip)
    text = "the branch has newer commits: checking both together"
    yield context.make_event("notice", task=attempt.spec.task_id, text=text)
    attempt, verdict, *_ = yield from _check_again(context, attempt.move_base(tip, merged.tree))
    if verdict.is_ok:
        return judged._replace(attempt=attempt)
    attempt.spec.notes.add(f"it passed alone, and fails together with {newer}")
    reason = f"together with newer commits: {verdict.reason}"
    return JudgedAttempt(attempt, verdict._replace(reason=reason))


def _describe_newer_commits(place: Place, old: str, new: str) -> str:
    """Return the subjects of what was committed since the attempt began."""
    words = ("log", "-4", "--no-show-signature", "--format=%s", f"{old}..{new}")
    answer = try_git(place.settings.checkout.toplevel, *words)
    subjects = decode_output(answer.stdout).splitlines()
    return f"newer commits ({'; '.join(subjects)})" if subjects else "newer changes"


def _run_hooks(
    context: RunContext, judged: JudgedAttempt, message: str
) -> Generator[Event, None, tuple[JudgedAttempt, str]]:
    """Run the person's hooks, and the checks on what they have made of the files.

    Return the message as the hooks have left it, too.
    """
    attempt, limits = judged.attempt, TimeLimits(context.settings.timeout, None)
    place = attempt.spec.place
    if not has_commit_hooks(place):
        return judged, message
    place.check_out(attempt.tree, attempt.head or attempt.base.commit)
    hooks = run_commit_hooks(place, attempt.tree, message, context.environ, limits)
    if hooks.failure:
        return judged._replace(verdict=Verdict(failures.COMMIT_FAILED, hooks.failure)), ""
    if hooks.tree != attempt.tree:
        attempt.spec.notes.add("a hook changed the files, and the checks ran again on that")
        again = yield from _check_again(context, replace(attempt, tree=hooks.tree))
        if not again.verdict.is_ok:
            reason = f"after a hook changed the files: {again.verdict.reason}"
            return again._replace(verdict=Verdict(failures.COMMIT_FAILED, reason)), ""
        judged = judged._replace(attempt=again.attempt)
    return judged, hooks.message


def _check_again(context: RunContext, attempt: AttemptResult) -> Steps:
    """Run the checks on the attempt's tree, which is another one now."""
    attempt, _ = yield from run_final_checks(context, attempt)
    verdict = judge_by_checks(attempt.checks, attempt.evidence, excuses=True)
    return JudgedAttempt(attempt, verdict)


def _commit(
    context: RunContext, judged: JudgedAttempt, message: str, *, is_last: bool
) -> tuple[JudgedAttempt, Acceptance]:
    """Record the outcome, commit it with the work, and bring the commit into the checkout.

    If this is the last round, newer commits block it.
    """
    attempt, files, stores = judged.attempt, judged.attempt.spec.files, context.current_stores
    decision = _write_decision(context, judged, message)
    work = AcceptedWork.from_decision(attempt.spec.place, decision)
    if work.stores:  # the commit contains them
        event, ended, no_change = decision["event"], Disposition(CLOSED), decision["no_change"]
        recorded = record_outcome(
            stores, event, ended, attempt.edits, no_change=no_change, files=files
        )
        judged = judged._replace(recorded=recorded)
    try:
        tree = work.make_tree()
        head = work.make_commit(tree)
    except CubError:  # such as of a program that signs
        withdraw_decision(stores, files)
        raise
    files.write_state(run_folders.COMMIT_FILE, {"commit": head})
    acceptance = work.bring_into_checkout(head)
    if acceptance.state == "merged":
        _store_results(context, attempt, tree)
        return judged._replace(head=head), acceptance
    if acceptance.state == "moved" and is_last:
        reason = f"the branch got newer commits {_MAX_ROUNDS} times while the checks ran"
        acceptance = acceptance._replace(state="blocked", reason=reason)
    withdraw_decision(stores, files)
    work.replace_kept_commit(head, is_blocked=acceptance.state == "blocked")
    return judged._replace(recorded=None), acceptance


def _write_decision(context: RunContext, judged: JudgedAttempt, message: str) -> Event:
    """Write down what is accepted, for a recovery to carry it out."""
    attempt, spec, stores = judged.attempt, judged.attempt.spec, context.committed_stores
    event = make_end_event(context, judged)
    if attempt.head and stores:  # the agent has committed, too
        event["git"]["parent"] = attempt.head
    name = f"{context.folder.id}-{encode_folder_name(spec.task_id)}-{spec.number}"
    decision = {
        "no_change": judged.verdict.no_change,
        "tree": attempt.tree,
        "parent": attempt.head or attempt.base.commit,
        "base": list(attempt.base),
        "stores": stores,
        "message": message,
        "ref": f"{KEPT_REFS}{name}",
        "event": event,
    }
    spec.files.write_state(run_folders.DECISION_FILE, decision)
    return decision


def withdraw_decision(stores: Stores, files: AttemptFolder) -> None:
    """Undo what was recorded; the next recovery keeps a patch, if this process is killed."""
    for file in (run_folders.DECISION_FILE, run_folders.COMMIT_FILE):
        files.write_state(file, {})
    withdraw_outcome(stores, files)


@dataclass(frozen=True, slots=True)
class AcceptedWork:
    """Hold what is to be committed: a tree that was checked, and stores as the checkout has them.

    `parent` is the last of the agent's own commits, or that of the base; `ref` holds the commit
    until it is merged.
    """

    place: Place
    base: Base
    tree: str
    parent: str
    message: str
    ref: str
    stores: tuple[str, ...]

    @classmethod
    def from_decision(cls, place: Place, decision: Event) -> AcceptedWork:
        """Return what a decision, which may be a killed run's, wants to be committed."""
        base, stores = Base(*decision["base"]), tuple(decision["stores"])
        texts = {name: decision[name] for name in ("tree", "parent", "message", "ref")}
        return cls(place, base, stores=stores, **texts)

    def make_tree(self) -> str:
        """Make the commit's tree in cub's objects. Raises CubError if git can't."""
        git = self.place.tree
        return add_checkout_files(git, self.tree, self.stores) if self.stores else self.tree

    def make_commit(self, tree: str) -> str:
        """Make the commit in cub's objects, unless the parent has this tree. Raises CubError if git
        can't.
        """
        old = self.base.tree
        if self.parent != self.base.commit:
            old = self.place.tree.read_line("rev-parse", f"{self.parent}^{{tree}}")
        if old == tree:
            return self.parent
        return make_commit(self.place, tree, self.parent, self.message)

    def bring_into_checkout(self, head: str) -> Acceptance:
        """Bring the commit into the person's repository, and their branch and files to it."""
        checkout, base = self.place.settings.checkout, self.base
        if try_git(checkout.toplevel, "cat-file", "-e", head).exit_code:  # else a killed run did
            bring_objects(checkout, self.place.folder.objects, head, base.tip)
        keep_commit(checkout, self.ref, head)
        changes = base.commit if base.commit != base.tip else ""
        target = BranchTip(base.branch, base.tip)
        return accept_commit(checkout, target, head, self.ref, self.stores, changes=changes)

    def replace_kept_commit(self, head: str, *, is_blocked: bool) -> None:
        """Delete the ref; have it keep the commit without the stores if a person is to merge it."""
        checkout = self.place.settings.checkout
        if not is_blocked:
            run_git(checkout.toplevel, "update-ref", "-d", self.ref, head)
            return
        new = replace(self, stores=()).make_commit(self.tree)
        bring_objects(checkout, self.place.folder.objects, new, self.base.tip)
        keep_commit(checkout, self.ref, new, head)


def explain_blocked(acceptance: Acceptance, task: str) -> str:
    """Say why a commit is not merged, and which commands a person runs to finish the task."""
    return f"{acceptance.reason}; afterwards, run `{acceptance.hint}` and `cub task close {task}`"


def _store_results(context: RunContext, attempt: AttemptResult, tree: str) -> None:
    """Store what the checks said for the tree of the commit, from which the next attempt begins."""
    for comparison in attempt.checks:
        context.check_runner.store_result(tree, comparison.check)


def build_commit_message(context: RunContext, judged: JudgedAttempt) -> str:
    """Return the commit's message, with what a reviewer has to know."""
    spec, verdict = judged.attempt.spec, judged.verdict
    text = render_commit_message(context.settings.message_template, spec.task)
    if verdict.doubt:
        text += f"\n\nNo check has decided whether it is done: {verdict.doubt}."
    if count := verdict.known_failures:
        end = "excused" if verdict.excuses else "left as before"
        text += f"\n\n{format_failure_count(count)} {end}."
    if not spec.notes.review:
        return text
    lines = "\n".join(f"- {note}" for note in spec.notes.review)
    return f"{text}\n\nReview these changes:\n\n{lines}"


def _apply_changes(context: RunContext, judged: JudgedAttempt) -> None:
    """Apply the changes to the files of the checkout, for a run that does not commit."""
    attempt, spec, place = judged.attempt, judged.attempt.spec, judged.attempt.spec.place
    base = attempt.base
    path = spec.files.prepare_path(run_folders.PATCH_FILE)
    write_patch(place.tree, base.tree, attempt.tree, path)
    event = make_end_event(context, judged)
    decision = {"no_change": judged.verdict.no_change, "event": event}
    spec.files.write_state(run_folders.DECISION_FILE, decision)
    apply_patch(place.settings.checkout.toplevel, path)
    path.unlink(missing_ok=True)
    commit = make_internal_commit(place, attempt.tree, base.commit)
    context.uncommitted_base = base._replace(commit=commit, tree=attempt.tree)
    _store_results(context, attempt, attempt.tree)


def apply_patch(toplevel: Path, patch: Path) -> None:
    """Apply a patch to the files of the checkout, all of it or nothing; once more is fine.

    Raises CubError if edits of the person's are in the way.
    """
    data = patch.read_bytes() if patch.exists() else b""
    if not data:
        return
    words = ("apply", "--whitespace=nowarn", "-")
    if not try_git(toplevel, *words[:1], "--reverse", "--check", "-", stdin=data).exit_code:
        return  # a killed run has done it
    run_git(toplevel, *words, stdin=data)
