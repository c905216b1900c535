"""Being inside an attempt of a run: what an agent may ask for there, and what the run decides.

Whether a process is inside is told by its ancestors, not by its environment, which it may change.
Where those can't be seen, as in a container, the environment is all there is.

The mark that all processes of an attempt are told by, whatever their environment says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cub.errors import CubError
from cub.files.internal_files import read_json, replace_file
from cub.files.read_files import read_prefix
from cub.files.signed_state import find_project_state, read_signed
from cub.processes.process_tree import iter_keeper_marks
from cub.text import describe_os_error

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores


RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE = "CUB_RUN", "CUB_TASK", "CUB_ATTEMPT"
REQUEST_FILE, RESULT_FILE = "request.json", "result.json"
_DECIDES = "the run's own checks decide"
_LARGEST = 1 << 16  # bytes of a request


class CurrentAttempt(NamedTuple):
    """An attempt that is under way: its task, and the folders for requests, the best one first."""

    task_id: str
    request_folders: tuple[Path, ...]

    def require_own_task(self, stores: Stores, keys: Sequence[str], verb: str) -> None:
        """CubError for a task that is not the attempt's."""
        tasks = stores.backend.read_tasks()
        for key in map(tasks.find_id, keys):
            if key != self.task_id:
                raise CubError(
                    f"an attempt at {self.task_id} can't {verb} {key}",
                    hint="one task at a time: say at the end what is to be done about it",
                )

    def refuse(self, keys: Sequence[str], verb: str) -> None:
        """CubError for what only the run or a person does."""
        raise CubError(
            f"an attempt can't {verb} {', '.join(keys)}: {_DECIDES}",
            hint="end with `<stuck>reason</stuck>` if the task can't be done",
        )

    def request_close(self, reason: str, note: str) -> str:
        """Keep the wish to close the task; what to tell the agent."""
        tree = {"task": self.task_id, "reason": reason, "note": note}
        data = [json.dumps(tree).encode()]
        for last, folder in enumerate(self.request_folders, 1 - len(self.request_folders)):
            try:
                replace_file(folder / REQUEST_FILE, data)
                break
            except OSError as error:  # a sandbox may have no more than the project
                if not last:
                    what = "the run can't be asked: "
                    raise CubError(what + describe_os_error(error)) from error
        return f"You asked to close {self.task_id} ({reason}): {_DECIDES} when you have ended."


def find_current_attempt(
    root: Path, environ: Mapping[str, str] = os.environ
) -> CurrentAttempt | None:
    """The attempt at a task of the project at `root` that this process is a part of; None for a
    person, and when it is over.
    """
    shown = Path(environ.get(ATTEMPT_VARIABLE) or os.devnull)
    if mark := find_attempt_mark(root):
        return CurrentAttempt(
            mark.task_id, (Path(mark.request_folder), *([shown] if shown.is_dir() else []))
        )
    task = environ.get(TASK_VARIABLE)
    if not task or not shown.is_dir() or _is_over(root, shown, environ.get(RUN_VARIABLE, "")):
        return None
    return CurrentAttempt(task, (shown,))


def read_request(*folders: Path) -> dict[str, Any]:
    """What the agent asked for, in the first folder that has it; {} for nothing. What stands there
    may be anything.
    """
    for folder in folders:
        try:
            tree = json.loads(read_prefix(os.fspath(folder), REQUEST_FILE, _LARGEST))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(tree, dict):
            return tree
    return {}


def _is_over(root: Path, shown: Path, run: str) -> bool:
    """By what the run itself keeps; where that is out of sight, by what it shows."""
    kept = find_project_state(root) / "runs"
    if not kept.is_dir():
        return bool(read_json(shown / RESULT_FILE))
    attempt = kept / run / shown.parent.name / shown.name
    return not attempt.is_dir() or bool(read_signed(attempt / RESULT_FILE))


class AttemptMark(NamedTuple):
    """The project, the task, and the folder where the run takes requests."""

    root: str
    task_id: str
    request_folder: str


def encode_mark(mark: AttemptMark) -> str:
    """Return what a keeper carries for all that it starts."""
    return json.dumps(mark)


def find_attempt_mark(root: Path) -> AttemptMark | None:
    """Find the attempt at a task of the project at `root` that this process is a part of."""
    for text in iter_keeper_marks():
        try:
            mark = AttemptMark(*map(str, json.loads(text)))
        except (ValueError, TypeError):
            continue
        if os.path.realpath(mark.root) == os.path.realpath(root):
            return mark
    return None
