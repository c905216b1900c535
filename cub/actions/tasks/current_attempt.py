"""Find the attempt that this process is in, and take requests from an agent.

An attempt works in a place of its own, where the state folder of the project has the attempt's
mailbox and nothing else. No variable of the environment is asked, as an agent may change it. What
a run starts outside of a place, such as git with its hooks and filters, is below its process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.files.internal_files import replace_file
from cub.files.read_files import read_small_file
from cub.files.signed_state import find_project_state, find_state_folder, read_signed
from cub.json_values import parse_object
from cub.processes.process_tree import iter_ancestor_pids, iter_keeper_marks
from cub.store.task_index import TaskIndex
from cub.store.timestamps import utc_now
from cub.text import describe_os_error

RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE = "CUB_RUN", "CUB_TASK", "CUB_ATTEMPT"
ATTEMPT_VARIABLES = (RUN_VARIABLE, TASK_VARIABLE, ATTEMPT_VARIABLE, "CUB_AGENT")
ATTEMPT_FILE, REQUEST_FILE, RESULT_FILE = "attempt.json", "request.json", "result.json"
RUN_FILE, RUN_LOCK_FILE = "run.json", "lock"  # in the folder of a run's state
_DECIDES = "the run's checks decide"
_MAX_FILE = 1 << 16  # bytes of a file in a mailbox


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


def find_mailbox(root: Path) -> Path:
    """Return the folder through which an attempt at `root` talks to its run; only there it exists.

    It is beside what cub keeps of a project, so that no sandboxed path of the project leads to it.
    """
    return find_project_state(root) / "attempt"


def write_attempt(mailbox: Path, task_id: str, run: str) -> None:
    """Write which attempt a mailbox belongs to, for commands in it. Raises OSError."""
    tree = {"task": task_id, "run": run, "at": utc_now()}
    replace_file(mailbox / ATTEMPT_FILE, [json.dumps(tree).encode()])


def find_current_attempt(root: Path) -> CurrentAttempt | None:
    """Return the attempt at a task of the project at `root` that this process is in.

    Return None for a person. What the run itself started is in no attempt, but in the run, and so
    is whoever works in a place beside it: then the task is "".
    """
    mailbox = find_mailbox(root)
    if mailbox.is_dir():
        facts = parse_object(read_small_file(mailbox, ATTEMPT_FILE, _MAX_FILE))
        return CurrentAttempt(str(facts.get("task", "")), mailbox, str(facts.get("at", "")))
    if mark := find_attempt_mark(root):
        return CurrentAttempt(mark.task_id, Path(mark.mailbox))
    is_place = find_state_folder().resolve() in root.resolve().parents
    return CurrentAttempt("", None) if is_place or is_in_run(root) else None


def is_in_run(root: Path) -> bool:
    """Return whether a run of the project at `root` that is alive has started this process."""
    running = dict(_iter_running(root))
    return bool(running) and not running.keys().isdisjoint(iter_ancestor_pids())


def require_no_run(root: Path) -> None:
    """Raise CubError while a run of the project at `root` is in progress: it needs the stores."""
    for pid, folder in _iter_running(root):
        what = f"a run is in progress ({folder.name}, PID {pid})"
        hint = "`cub run status` shows it; wait until it ends, or press Ctrl-C in its terminal"
        raise CubError(what, hint=hint)


def _iter_running(root: Path) -> Iterator[tuple[object, Path]]:
    """Yield the process and the state folder of each run that is alive."""
    for file in sorted((find_project_state(root) / "runs").glob(f"*/{RUN_FILE}")):
        facts = read_signed(file)
        if facts.get("ended") is False and is_run_alive(file.parent):
            yield facts.get("pid"), file.parent


def is_run_alive(state: Path) -> bool:
    """Return whether the process of the run that has its state in `state` is alive."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(state / RUN_LOCK_FILE, timeout=0):
            return False
    except Timeout:
        return True


class CurrentAttempt(NamedTuple):
    """Describe a running attempt: its task, the folder for requests, and when it began.

    The task is "", and the folder None, for what the run itself started, such as a hook. Where an
    attempt has no copy of the tasks, its beginning is "".
    """

    task_id: str
    mailbox: Path | None
    timestamp: str = ""

    def require_own_task(self, tasks: TaskIndex, keys: Sequence[str], verb: str) -> None:
        """Raise CubError for a task that is not the attempt's."""
        if not self.task_id:
            self.refuse(keys, verb)
        for key in map(tasks.find_id, keys):
            if key != self.task_id:
                hint = "work on one task at a time; describe the follow-up in your final message"
                raise CubError(f"an attempt at {self.task_id} cannot {verb} {key}", hint=hint)

    def require_editable(self, tasks: TaskIndex, key: str, *, checks: bool = False) -> None:
        """Raise CubError for a task that is neither the attempt's nor one that it has added.

        The run would not take the edit over; nor would it other `checks` of the attempt's own task.
        """
        task = tasks[tasks.find_id(key)]
        if self.timestamp and task.created_at >= self.timestamp:
            return
        self.require_own_task(tasks, [key], "edit")
        if checks:
            self.refuse([task.id], "change the checks of")

    def refuse(self, keys: Sequence[str], verb: str) -> None:
        """Raise CubError for what only the run or a person does."""
        hint = (
            "if the task cannot be done, end with `<stuck>reason</stuck>`" if self.task_id else ""
        )
        who = "an attempt" if self.task_id else "a process that `cub run` started"
        raise CubError(f"{who} cannot {verb} {', '.join(keys)}: {_DECIDES}", hint=hint)

    def request_close(self, reason: str, note: str) -> bool:
        """Save the request to close the task; return False if the mailbox can't be written.

        An agent's own sandbox may show the project alone: then the task is closed in the copy of
        the store, which the run takes as the same request. Raises CubError if there is no copy.
        """
        tree = {"task": self.task_id, "reason": reason, "note": note}
        try:
            replace_file(
                (self.mailbox or Path(os.devnull)) / REQUEST_FILE, [json.dumps(tree).encode()]
            )
        except OSError as error:
            if not self.timestamp:
                what = f"cannot send the request to the run: {describe_os_error(error)}"
                raise CubError(what) from error
            return False
        return True

    def describe_request(self, reason: str) -> str:
        """Return what to print to the agent that has asked to close its task."""
        return f"Asked the run to close {self.task_id} ({reason}): {_DECIDES} after you finish."


def read_request(mailbox: Path) -> dict[str, Any]:
    """Return what the agent asked for; {} for nothing. The mailbox may contain anything."""
    return parse_object(read_small_file(mailbox, REQUEST_FILE, _MAX_FILE))


class AttemptMark(NamedTuple):
    """Hold the project, the task, and the mailbox of an attempt."""

    root: str
    task_id: str
    mailbox: str


def encode_mark(mark: AttemptMark) -> str:
    """Return what a keeper passes on to all processes that it starts."""
    return json.dumps(mark)


def find_attempt_mark(root: Path) -> AttemptMark | None:
    """Return the mark of the attempt that this process is in, if it is of `root`; or None.

    It counts where an attempt can see the person's checkout.
    """
    for text in iter_keeper_marks():
        try:
            mark = AttemptMark(*map(str, json.loads(text)))
        except (ValueError, TypeError):
            continue
        if os.path.realpath(mark.root) == os.path.realpath(root):
            return mark
    return None
