"""Hold what is known of an attempt so far, and write down what recovery needs of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cub.actions.run import run_folders
from cub.actions.run.agent_process import AgentResult
from cub.actions.run.check_comparison import CheckComparison
from cub.actions.run.check_inputs import CheckInputs
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.retry_policy import AttemptHistory
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import AttemptFolder
from cub.actions.run.task_queue import RecordedOutcome
from cub.context.output_blocks import OutputBlock
from cub.git.repository_settings import GitSettings
from cub.git.snapshot import FileChange, Snapshot, list_changes
from cub.harness.base import Harness, Transcript
from cub.processes.command import ProcessResult
from cub.store.jsonl import Record

_NOT_STARTED = ProcessResult(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """Hold what is known of an attempt so far.

    - `before`, `after`: snapshots around the agent's work; None until they are taken.
    - `blocks`: the output of context commands.
    - `baseline`: what each check said before the agent, by its command.
    - `edited_paths`: tracked files that changed while checks and commands before the agent ran.
    - `inputs`, `new_inputs`: what the checks go by, before and after the agent.
    - `notices`: what to report to a person and to the next attempt; `review_notes` are those that
      the commit's message has as well.
    - `left_out_paths`: new files that look like secrets, in the attempt's folder.
    - `recorded`: what the stores say of it already, for the commit that contains them.
    - `replacements`: what the attempt put in the place of `.cub` or of git's folder.
    """

    task: Record
    task_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: AttemptHistory
    before: Snapshot | None = None
    after: Snapshot | None = None
    agent_result: AgentResult = field(
        default_factory=lambda: AgentResult(_NOT_STARTED, Transcript(), "")
    )
    changes: list[FileChange] = field(default_factory=list)
    blocks: list[OutputBlock] = field(default_factory=list)
    baseline: dict[str, CheckResult] = field(default_factory=dict)
    edited_paths: list[str] = field(default_factory=list)
    checks: list[CheckComparison] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    settings: GitSettings | None = None
    replacements: list[str] = field(default_factory=list)
    inputs: CheckInputs = field(default_factory=dict)
    new_inputs: CheckInputs = field(default_factory=dict)
    review_notes: list[str] = field(default_factory=list)
    left_out_paths: list[str] = field(default_factory=list)
    recorded: RecordedOutcome | None = None
    head_move: str = ""
    started_at: float = 0.0

    @property
    def task_id(self) -> str:
        """Return the task's id."""
        return str(self.task["id"])

    def note_for_review(self, notes: Iterable[str]) -> None:
        """Add notices about changes that a reviewer of the commit should look at, each once."""
        new = [note for note in notes if note not in self.review_notes]
        self.review_notes += new
        self.notices += new


def save_git_settings(context: RunContext, attempt: Attempt) -> None:
    """Read git's settings, and write them down for recovery unless the same are there."""
    attempt.settings = context.workspace.read_git_settings()
    tree = {"settings": attempt.settings.to_json()}
    if context.folder.read_state(run_folders.GIT_SETTINGS_FILE) != tree:
        context.folder.write_state(run_folders.GIT_SETTINGS_FILE, tree)


def save_start(context: RunContext, attempt: Attempt, before: Snapshot) -> None:
    """Write down what recovery needs, before anything is started."""
    start = {
        "task": attempt.task_id,
        "n": attempt.number,
        "harness": attempt.harness.name,
        "at": context.timestamp,
        "charged": attempt.history.counted_attempts,
        "folder": context.workspace.folder.as_posix(),
        "top": context.workspace.toplevel.as_posix(),
        "before": before.to_json(),
    }
    attempt.files.write_state(run_folders.START_FILE, start)


def save_records(files: AttemptFolder, outcome: RecordedOutcome) -> None:
    """Write down how to withdraw what is about to be recorded for a commit."""
    tree = {"before": outcome.before, "after": outcome.after, "events": outcome.events}
    files.write_state(run_folders.RECORDS_FILE, tree)


def save_commit(files: AttemptFolder, parent: str, tree: str) -> None:
    """Write down the commit that is about to be made: recovery knows it by that."""
    files.write_state(run_folders.COMMIT_FILE, {"parent": parent, "tree": tree})


def set_result(context: RunContext, attempt: Attempt, before: Snapshot, after: Snapshot) -> None:
    """Take a snapshot as the result of an attempt, until another one is taken."""
    attempt.after = after
    attempt.head_move = context.workspace.classify_head_move(before, after)
    attempt.changes = list_changes(context.workspace.worktree, before, after)
