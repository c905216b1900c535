"""Being inside an attempt of a run: what an agent may ask for there, and what the run decides."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.files.private import read_json, replace_file

TASK, ATTEMPT = "CUB_TASK", "CUB_ATTEMPT"
REQUEST, RESULT = "request.json", "result.json"
_DECIDES = "the run's own checks decide"


class Inside(NamedTuple):
    """An attempt that is under way: its task, and its folder."""

    task: str
    folder: Path

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
        replace_file(self.folder / REQUEST, [json.dumps(tree).encode()])
        return f"You asked to close {self.task} ({reason}): {_DECIDES} when you have ended."


def inside(environ: Mapping[str, str] = os.environ) -> Inside | None:
    """The attempt that this process is a part of; None for a person, and when it is over."""
    task, name = environ.get(TASK), environ.get(ATTEMPT)
    if not task or not name:
        return None
    folder = Path(name)
    return None if not folder.is_dir() or (folder / RESULT).exists() else Inside(task, folder)


def request(folder: Path) -> dict[str, Any]:
    """What the agent asked for; {} for nothing."""
    return read_json(folder / REQUEST)
