"""Hold what is known of an attempt so far, and write down what recovery needs of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
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
from cub.actions.run.verdict import AttemptEvidence
from cub.actions.tasks.attempt_edits import NO_EDITS, AttemptEdits
from cub.context.output_blocks import OutputBlock
from cub.harness.base import Harness, Transcript
from cub.place.changes import FileChange, diff_trees, read_files
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.place.tree import TreeState
from cub.processes.command import ProcessResult
from cub.store.jsonl import Record

_NOT_STARTED = ProcessResult(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """Hold what is known of an attempt so far.

    - `place`: where it works; `base`: what it begins from.
    - `state`: what the agent has left; None before that. `tree`: what is judged and committed.
    - `head`: the last of the agent's own commits that are kept; "" for none.
    - `blocks`: the output of context commands.
    - `evidence`: what is known of the agent's work; None before it has ended.
    - `is_prepared`: the checks of the base have run; `is_begun`: the agent's tree is at it.
    - `baseline`: what each check said before the agent, by its command.
    - `inputs`, `new_inputs`: what the checks go by, before and after the agent.
    - `notices`: what to report to a person and to the next attempt; `review_notes` are those that
      the commit's message has as well.
    - `edits`: what it did to its copy of the tasks.
    - `left_out_paths`: new files that look like secrets, in the attempt's folder.
    - `recorded`: what the stores say of it already, for the commit that contains them.
    """

    task: Record
    task_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: AttemptHistory
    place: Place
    base: Base
    state: TreeState | None = None
    tree: str = ""
    head: str = ""
    agent_result: AgentResult = field(
        default_factory=lambda: AgentResult(_NOT_STARTED, Transcript(), "")
    )
    blocks: list[OutputBlock] = field(default_factory=list)
    baseline: dict[str, CheckResult] = field(default_factory=dict)
    checks: list[CheckComparison] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    edits: AttemptEdits = NO_EDITS
    notices: list[str] = field(default_factory=list)
    inputs: CheckInputs = field(default_factory=dict)
    new_inputs: CheckInputs = field(default_factory=dict)
    review_notes: list[str] = field(default_factory=list)
    left_out_paths: list[str] = field(default_factory=list)
    recorded: RecordedOutcome | None = None
    evidence: AttemptEvidence | None = None
    is_prepared: bool = False
    is_begun: bool = False

    @property
    def task_id(self) -> str:
        """Return the task's id."""
        return str(self.task["id"])

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Return the paths that differ from the base; none before the agent has ended."""
        return diff_trees(self.place.tree, self.base.tree, self.tree).changes if self.tree else ()

    def read_files_before(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Read files as they are in the base, by their paths in the repository; b"" for none."""
        return read_files(self.place.tree, self.base.tree, paths)

    def read_project_files_before(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Read files as they are in the base, by their paths in the project."""
        prefix = self.place.settings.prefix
        names = {path: (prefix / path).as_posix() for path in paths}
        data = self.read_files_before(names.values())
        return {path: data[name] for path, name in names.items()}

    def note_for_review(self, notes: Iterable[str]) -> None:
        """Add notices about changes that a reviewer of the commit should look at, each once."""
        new = [note for note in notes if note not in self.review_notes]
        self.review_notes += new
        self.notices += new


def save_start(context: RunContext, attempt: Attempt) -> None:
    """Write down what recovery needs, before the agent is started."""
    start = {
        "task": attempt.task_id,
        "n": attempt.number,
        "harness": attempt.harness.name,
        "at": context.timestamp,
        "charged": attempt.history.counted_attempts,
        "place": attempt.place.folder.path.as_posix(),
        "kind": astuple(attempt.place.settings.kind),
        "base": list(attempt.base),
        "excluded": attempt.place.list_excluded_paths(),
    }
    attempt.files.write_state(run_folders.START_FILE, start)


def save_records(files: AttemptFolder, outcome: RecordedOutcome) -> None:
    """Write down how to withdraw what is about to be recorded for a commit."""
    tree = {"before": outcome.before, "after": outcome.after, "events": outcome.events}
    files.write_state(run_folders.RECORDS_FILE, tree)
