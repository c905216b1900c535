"""Find the run and the attempt that this process is in, and take requests from an agent.

The ancestors of a process tell if it is in an attempt, not its environment, which an agent may
change. If they can't be seen, as in a container, the environment is all there is. Whatever a run
starts is below its process: agents and checks, and also git with its hooks and filters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.files.internal_files import read_json, replace_file
from cub.files.read_files import read_prefix
from cub.files.signed_state import find_project_state, read_signed
from cub.processes.process_tree import iter_ancestor_pids, iter_keeper_marks
from cub.store.task_index import TaskIndex
from cub.text import describe_os_error

RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE = "CUB_RUN", "CUB_TASK", "CUB_ATTEMPT"
ATTEMPT_VARIABLES = (RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE, "CUB_AGENT")
REQUEST_FILE, RESULT_FILE = "request.json", "result.json"
RUN_FILE, RUN_LOCK_FILE = "run.json", "lock"  # in the folder of a run's state
_DECIDES = "the run's checks decide"
_MAX_REQUEST = 1 << 16  # bytes of a request


def build_environment(
    hidden: Sequence[str], environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return `environ` for agents and checks: without hidden variables and those of an attempt.

    cub itself may have been called in an attempt.
    """
    return {
        name: value
        for name, value in environ.items()
        if name not in ATTEMPT_VARIABLES
        and not any(fnmatchcase(name, pattern) for pattern in hidden)
    }


def find_current_attempt(
    root: Path, environ: Mapping[str, str] = os.environ
) -> CurrentAttempt | None:
    """Return the attempt at a task of the project at `root` that this process is in.

    Return None for a person, and when the attempt is over. A hook of the run's own commit is in no
    attempt, but in the run: then the task is "".
    """
    folder = Path(environ.get(ATTEMPT_VARIABLE) or os.devnull)
    if mark := find_attempt_mark(root):
        folders = [folder] if folder.is_dir() else []
        return CurrentAttempt(mark.task_id, (Path(mark.request_folder), *folders))
    run, task = environ.get(RUN_VARIABLE, ""), environ.get(TASK_VARIABLE)
    if task and folder.is_dir() and not _is_over(root, folder, run):
        return CurrentAttempt(task, (folder,))
    return CurrentAttempt("", ()) if is_in_run(root, run) else None


def is_in_run(root: Path, run: str = "") -> bool:
    """Return whether a run of the project at `root` that is alive has started this process.

    `run` is its id as the environment has it.
    """
    folders = [file.parent for file in (find_project_state(root) / "runs").glob(f"*/{RUN_FILE}")]
    facts = [(folder, read_signed(folder / RUN_FILE)) for folder in folders]
    unended = [(folder, state.get("pid")) for folder, state in facts if state.get("ended") is False]
    pids = set(iter_ancestor_pids()) if unended else set[int]()
    return any(
        (pid in pids or folder.name == run) and is_run_alive(folder) for folder, pid in unended
    )


def require_no_run(root: Path, *, for_attempts: bool = False, beside: bool = False) -> None:
    """Raise CubError while a run is in progress in the checkout at `root`.

    `for_attempts` allows what an agent may do in its own attempt. `beside` refuses also while a run
    works in a worktree of its own, beside the checkout.
    """
    for file in sorted((find_project_state(root) / "runs").glob(f"*/{RUN_FILE}")):
        facts = read_signed(file)
        is_here = beside or facts.get("folder") == root.as_posix()
        if facts.get("ended", True) or not is_here or not is_run_alive(file.parent):
            continue
        if for_attempts and find_current_attempt(root):
            return
        what = f"a run is in progress ({file.parent.name}, PID {facts.get('pid')})"
        hint = "`cub run status` shows it; wait until it ends, or press Ctrl-C in its terminal"
        raise CubError(what, hint=hint)


def is_run_alive(state: Path) -> bool:
    """Return whether the process of the run that has its state in `state` is alive."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(state / RUN_LOCK_FILE, timeout=0):
            return False
    except Timeout:
        return True


def _is_over(root: Path, folder: Path, run: str) -> bool:
    """Return whether an attempt is over, by the run's own files; else by those that it shows."""
    runs = find_project_state(root) / "runs"
    if not runs.is_dir():
        return bool(read_json(folder / RESULT_FILE))
    attempt = runs / run / folder.parent.name / folder.name
    return not attempt.is_dir() or bool(read_signed(attempt / RESULT_FILE))


class CurrentAttempt(NamedTuple):
    """Describe a running attempt: its task, and directories for requests, the best one first.

    The task is "" for what the run itself started, such as a hook of its commit.
    """

    task_id: str
    request_folders: tuple[Path, ...]

    def require_own_task(self, tasks: TaskIndex, keys: Sequence[str], verb: str) -> None:
        """Raise CubError for a task that is not the attempt's."""
        if not self.task_id:
            self.refuse(keys, verb)
        for key in map(tasks.find_id, keys):
            if key != self.task_id:
                hint = "work on one task at a time; describe the follow-up in your final message"
                raise CubError(f"an attempt at {self.task_id} cannot {verb} {key}", hint=hint)

    def refuse(self, keys: Sequence[str], verb: str) -> None:
        """Raise CubError for what only the run or a person does."""
        hint = (
            "if the task cannot be done, end with `<stuck>reason</stuck>`" if self.task_id else ""
        )
        who = "an attempt" if self.task_id else "a process that `cub run` started"
        raise CubError(f"{who} cannot {verb} {', '.join(keys)}: {_DECIDES}", hint=hint)

    def request_close(self, reason: str, note: str) -> str:
        """Save the request to close the task, and return what to print to the agent."""
        tree = {"task": self.task_id, "reason": reason, "note": note}
        data = [json.dumps(tree).encode()]
        for last, folder in enumerate(self.request_folders, 1 - len(self.request_folders)):
            try:
                replace_file(folder / REQUEST_FILE, data)
                break
            except OSError as error:  # a sandbox may show the project alone
                if not last:
                    what = f"cannot send the request to the run: {describe_os_error(error)}"
                    raise CubError(what) from error
        return f"Asked the run to close {self.task_id} ({reason}): {_DECIDES} after you finish."


def read_request(*folders: Path) -> dict[str, Any]:
    """Return what the agent asked for, from the first directory that has it; {} for nothing.

    The file may contain anything.
    """
    for folder in folders:
        try:
            tree = json.loads(read_prefix(os.fspath(folder), REQUEST_FILE, _MAX_REQUEST))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(tree, dict):
            return tree
    return {}


class AttemptMark(NamedTuple):
    """Hold the project, the task, and the directory in which the run takes requests."""

    root: str
    task_id: str
    request_folder: str


def encode_mark(mark: AttemptMark) -> str:
    """Return what a keeper passes on to all processes that it starts."""
    return json.dumps(mark)


def find_attempt_mark(root: Path) -> AttemptMark | None:
    """Return the mark of the attempt that this process is in, at a task of `root`; or None."""
    for text in iter_keeper_marks():
        try:
            mark = AttemptMark(*map(str, json.loads(text)))
        except (ValueError, TypeError):
            continue
        if os.path.realpath(mark.root) == os.path.realpath(root):
            return mark
    return None
