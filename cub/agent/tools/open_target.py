"""Open a file or a web address in the person's own program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Annotated, NamedTuple

from cub.agent.tools.command_environment import remove_secrets
from cub.agent.tools.http_get import parse_web_host
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FILE_NAMES, ToolError

# What programs show. Everything else may run when it is opened, on one system or another.
_SHOWN = (
    ".html", ".htm", ".pdf", ".md", ".rst", ".txt", ".log", ".csv", ".tsv", ".json", ".xml",
    ".yaml", ".yml", ".toml", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico",
    ".mp3", ".wav", ".ogg", ".flac", ".mp4", ".webm", ".mov", ".docx", ".xlsx", ".pptx", ".odt",
    ".ods", ".odp", ".epub",
)  # fmt: skip
_DESCRIPTION = """\
Show the user a file or a web address in their own program, such as a browser or a PDF viewer.
- For documents, images, sound and video. Files that may run are refused.
- It returns at once, and you don't see what the program shows.\
"""


class OpenArguments(NamedTuple):
    """Hold what to show."""

    target: Annotated[
        str, "A file's path, or an address with http:// or https://.", "url", *FILE_NAMES
    ]


def open_target(arguments: OpenArguments, context: ToolContext) -> ToolOutput:
    """Start the program for a file or an address, and return. Raises ToolError and OSError."""
    target = arguments.target
    if not parse_web_host(target):
        target = str(_find_shown_file(target, context))
    if sys.platform == "win32":
        os.startfile(target)  # noqa: S606 - the person's own program
    else:
        _start_opener(target, context)
    return ToolOutput(f"Opened {target}.")


def _find_shown_file(text: str, context: ToolContext) -> Path:
    path = context.resolve_path(text)
    if not path.is_file():
        raise ToolError(f"{context.describe_path(path)} is not a file or a web address")
    if path.suffix.lower() not in _SHOWN or os.access(path, os.X_OK):
        hint = "give the user the path, and say how to open the file"
        raise ToolError(f"{context.describe_path(path)} may run when it is opened", hint=hint)
    return path


def can_open(environ: Mapping[str, str]) -> bool:
    """Return whether there is a display, and a program that opens what the user wants to see."""
    return sys.platform == "win32" or _find_opener(environ) is not None


def _find_opener(environ: Mapping[str, str]) -> str | None:
    is_mac = sys.platform == "darwin"
    if not (is_mac or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return None
    return shutil.which("open" if is_mac else "xdg-open", path=environ.get("PATH", ""))


def _start_opener(target: str, context: ToolContext) -> None:
    """Start the program that chooses one for the target."""
    program, environ = _find_opener(context.environ), context.environ
    if program is None:
        raise ToolError("nothing can be opened here", hint="give the user the path or URL")
    process = subprocess.Popen(  # noqa: S603 - the person's own program
        [program, target],
        cwd=context.folder,
        env=remove_secrets(environ),  # other programs can read it
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    Thread(target=process.wait, daemon=True).start()  # so that no zombie stays


OPEN = define_tool("Open", _DESCRIPTION, OpenArguments, open_target, "open", subject="target")
