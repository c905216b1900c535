"""Hold what is known of an attempt: what it is to do, what it begins from, and what it has made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cub.actions.run.check_comparison import CheckComparison, compare_check
from cub.actions.run.check_inputs import CheckInputs
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.retry_policy import AttemptHistory
from cub.actions.run.run_folders import AttemptFolder
from cub.actions.run.task_queue import RecordedOutcome
from cub.actions.run.verdict import AgentResult, AttemptEvidence, Verdict
from cub.actions.tasks.attempt_edits import NO_EDITS, AttemptEdits
from cub.context.output_blocks import OutputBlock
from cub.harness.base import Harness, Transcript
from cub.place.changes import FileChange, diff_trees, read_files
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.processes.command import ProcessResult
from cub.store.jsonl import Record

_NO_EVIDENCE = AttemptEvidence(
    AgentResult(ProcessResult(None, None, "stopped", "", 0.0), Transcript(), "")
)


@dataclass(frozen=True, slots=True)
class AttemptNotes:
    """Collect what to report to a person and to the next attempt.

    `review` are those that the commit's message has as well.
    """

    notices: list[str] = field(default_factory=list)
    review: list[str] = field(default_factory=list)

    def add(self, *notices: str) -> None:
        """Add notices, each once."""
        self.notices.extend(one for one in notices if one not in self.notices)

    def add_for_review(self, notes: Iterable[str]) -> None:
        """Add notices about changes that a reviewer of the commit should look at, each once."""
        new = [note for note in notes if note not in self.review]
        self.review.extend(new)
        self.notices.extend(new)


@dataclass(frozen=True, slots=True)
class AttemptSpec:
    """Say which task an attempt works on, by which agent, and where.

    `task_checks` are those that the task has of its own; `mark` identifies the processes of the
    attempt, whatever their environment says.
    """

    task: Record
    task_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: AttemptHistory
    place: Place
    mark: str
    notes: AttemptNotes = field(default_factory=AttemptNotes)

    @property
    def task_id(self) -> str:
        """Return the task's id."""
        return str(self.task["id"])


@dataclass(frozen=True, slots=True)
class Baseline:
    """Hold what an attempt begins from.

    - `checks`: what each check says of the base, by its command.
    - `blocks`: the output of context commands.
    - `inputs`: what the checks go by.
    """

    base: Base
    checks: Mapping[str, CheckResult] = field(default_factory=dict)
    blocks: tuple[OutputBlock, ...] = ()
    inputs: CheckInputs = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Hold what an attempt has made so far.

    - `is_begun`: the agent's tree has been brought to the base.
    - `edits`: what the agent did to its copy of the tasks.
    - `tree`: what is judged and committed; "" before the agent has ended.
    - `head`: the last of the agent's own commits that are kept; "" for none.
    - `left_out_paths`: new files that look like secrets, in the attempt's folder.
    - `evidence`: how the agent ended, and then what is known of its work.
    - `inputs`: what the checks go by, after the agent.
    """

    spec: AttemptSpec
    baseline: Baseline
    is_begun: bool = False
    edits: AttemptEdits = NO_EDITS
    tree: str = ""
    head: str = ""
    left_out_paths: tuple[str, ...] = ()
    evidence: AttemptEvidence = _NO_EVIDENCE
    inputs: CheckInputs = field(default_factory=dict)
    checks: tuple[CheckComparison, ...] = ()

    @property
    def base(self) -> Base:
        """Return what the attempt's files are compared with."""
        return self.baseline.base

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Return the paths that differ from the base; none before the agent has ended."""
        if not self.tree:
            return ()
        return diff_trees(self.spec.place.tree, self.base.tree, self.tree).changes

    def move_base(self, base: Base, tree: str) -> AttemptResult:
        """Return the attempt as if it had begun from `base`; `tree` has the changes of both."""
        return replace(self, baseline=replace(self.baseline, base=base), tree=tree, head="")

    def compare_check(self, check: CheckResult) -> CheckComparison:
        """Compare the result of a check with what it said before the attempt."""
        is_own = check.command in self.spec.task_checks
        return compare_check(check, self.baseline.checks.get(check.command), is_own=is_own)

    def read_files_before(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Read files as they are in the base, by their paths in the repository; b"" for none."""
        return read_files(self.spec.place.tree, self.base.tree, paths)

    def read_project_files_before(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Read files as they are in the base, by their paths in the project."""
        prefix = self.spec.place.settings.prefix
        names = {path: (prefix / path).as_posix() for path in paths}
        data = self.read_files_before(names.values())
        return {path: data[name] for path, name in names.items()}


class JudgedAttempt(NamedTuple):
    """Hold an attempt and its verdict; if it was accepted, its commit, and what was recorded.

    `head` is "" for no commit; `recorded` is None if the stores say nothing of it yet.
    """

    attempt: AttemptResult
    verdict: Verdict
    head: str = ""
    recorded: RecordedOutcome | None = None
