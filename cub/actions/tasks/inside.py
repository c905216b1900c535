"""Being inside an attempt of a run: what an agent may ask for there, and what the run decides.

Whether a process is inside is told by its ancestors, not by its environment, which it may change.
Where those can't be seen, as in a container, the environment is all there is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.tasks.marks import find_mark
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.files.private import read_json, replace_file
from cub.files.regular import read_start
from cub.files.signed import project_state, read_signed

RUN, TASK, ATTEMPT = "CUB_RUN", "CUB_TASK", "CUB_ATTEMPT"
REQUEST, RESULT = "request.json", "result.json"
_DECIDES = "the run's own checks decide"
_LARGEST = 1 << 16  # bytes of a request


class Inside(NamedTuple):
    """An attempt that is under way: its task, and the folders for requests, the best one first."""

    task: str
    folders: tuple[Path, ...]

    def require_own(self, stores: Stores, keys: Sequence[str], verb: str) -> None:
        """CubError for a task that is not the attempt's."""
        tasks = stores.backend.read()
        for key in map(tasks.find, keys):
            if key != self.task:
                raise CubError(
                    f"an attempt at {self.task} can't {verb} {key}",
                    hint="one task at a time: say at the end what is to be done about it",
                )

    def refuse(self, keys: Sequence[str], verb: str) -> None:
        """CubError for what only the run or a person does."""
        raise CubError(
            f"an attempt can't {verb} {', '.join(keys)}: {_DECIDES}",
            hint="end with `<stuck>reason</stuck>` if the task can't be done",
        )

    def ask(self, reason: str, note: str) -> str:
        """Keep the wish to close the task; what to tell the agent."""
        tree = {"task": self.task, "reason": reason, "note": note}
        data = [json.dumps(tree).encode()]
        for last, folder in enumerate(self.folders, 1 - len(self.folders)):
            try:
                replace_file(folder / REQUEST, data)
                break
            except OSError as error:  # a sandbox may have no more than the project
                if not last:
                    what = "the run can't be asked: "
                    raise CubError(what + (error.strerror or str(error)).lower()) from error
        return f"You asked to close {self.task} ({reason}): {_DECIDES} when you have ended."


def inside(root: Path, environ: Mapping[str, str] = os.environ) -> Inside | None:
    """The attempt at a task of the project at `root` that this process is a part of; None for a
    person, and when it is over.
    """
    shown = Path(environ.get(ATTEMPT) or os.devnull)
    if mark := find_mark(root):
        return Inside(mark.task, (Path(mark.requests), *([shown] if shown.is_dir() else [])))
    task = environ.get(TASK)
    if not task or not shown.is_dir() or _is_over(root, shown, environ.get(RUN, "")):
        return None
    return Inside(task, (shown,))


def read_request(*folders: Path) -> dict[str, Any]:
    """What the agent asked for, in the first folder that has it; {} for nothing. What stands there
    may be anything.
    """
    for folder in folders:
        try:
            tree = json.loads(read_start(os.fspath(folder), REQUEST, _LARGEST))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(tree, dict):
            return tree
    return {}


def _is_over(root: Path, shown: Path, run: str) -> bool:
    """By what the run itself keeps; where that is out of sight, by what it shows."""
    kept = project_state(root) / "runs"
    if not kept.is_dir():
        return bool(read_json(shown / RESULT))
    attempt = kept / run / shown.parent.name / shown.name
    return not attempt.is_dir() or bool(read_signed(attempt / RESULT))
