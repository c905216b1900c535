"""A context for tools in an empty folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cub.agent.tools.tool import AnyTool, ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import parse_arguments
from cub.processes.command import StopRequest

ENVIRON = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
_STOP = StopRequest()  # each has two open files


def make_context(
    root: Path, folder: Path | None = None, environ: Mapping[str, str] = ENVIRON
) -> ToolContext:
    real = Path(os.path.realpath(root))
    return ToolContext(real, folder or real, environ, _STOP)


def call(tool: AnyTool, context: ToolContext, /, **values: Any) -> ToolOutput:
    return tool.run(parse_arguments(tool.arguments, values), context)


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
