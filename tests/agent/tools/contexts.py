"""What tools work with in tests: a project's folder, an environment, a request to stop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cub.agent.tools.tool import ToolContext
from cub.processes.command import StopRequest


@contextmanager
def open_context(root: Path, *, search_url: str = "", **environ: str) -> Iterator[ToolContext]:
    """A context in `root`, with PATH and these variables."""
    stop, root = StopRequest(), Path(os.path.realpath(root))
    try:
        variables = {"PATH": os.environ["PATH"], **environ}
        yield ToolContext(root, root, variables, stop, search_url=search_url)
    finally:
        stop.close()
