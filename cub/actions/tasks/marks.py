"""The mark that all processes of an attempt are told by, whatever their environment says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from cub.processes.ancestors import find_marks


class Mark(NamedTuple):
    """The project, the task, and the folder where the run takes requests."""

    root: str
    task: str
    requests: str


def to_mark(mark: Mark) -> str:
    """Return what a keeper carries for all that it starts."""
    return json.dumps(mark)


def find_mark(root: Path) -> Mark | None:
    """Find the attempt at a task of the project at `root` that this process is a part of."""
    for text in find_marks():
        try:
            mark = Mark(*map(str, json.loads(text)))
        except (ValueError, TypeError):
            continue
        if os.path.realpath(mark.root) == os.path.realpath(root):
            return mark
    return None
