"""What tools work with in tests: a folder, an environment, and a request to stop."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cub.agent.tools.tool import Tool, ToolContext, ToolOutput
from cub.processes.command import StopRequest

ENVIRON = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
_STOP = StopRequest()  # each has two open files


def make_context(
    root: Path, folder: Path | None = None, environ: Mapping[str, str] = ENVIRON
) -> ToolContext:
    real = Path(os.path.realpath(root))
    return ToolContext(real, folder or real, environ, _STOP)


@contextmanager
def open_context(root: Path, *, search_url: str = "", **environ: str) -> Iterator[ToolContext]:
    """A context in `root` that a test may stop, with PATH and these variables."""
    stop, root = StopRequest(), Path(os.path.realpath(root))
    try:
        variables = {"PATH": os.environ["PATH"], **environ}
        yield ToolContext(root, root, variables, stop, search_url=search_url)
    finally:
        stop.close()


def call(tool: Tool, context: ToolContext, /, **values: Any) -> ToolOutput:
    return tool.bind(values)(context)


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
