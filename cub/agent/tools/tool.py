"""Define what a tool is, what it works with, and what it returns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from cub.agent.conversation import ImageBlock
from cub.agent.model import ToolDefinition
from cub.agent.read_state import ReadState
from cub.agent.tools.tool_arguments import ToolError, build_schema
from cub.json_values import JsonObject, get_text
from cub.processes.command import StopRequest

A = TypeVar("A")
# What a tool does to the world; permissions, the order of calls, and the cache go by it.
ToolEffect = Literal["read", "web", "edit", "command", "open"]
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_PATH_CHARS = 1_000
_CONCURRENT: tuple[ToolEffect, ...] = ("read", "web")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Hold what tools work with.

    Relative paths start in `folder`, which is the project's `root` or in it; both are real paths.
    A requested `stop` ends what runs. `search_url` is a SearXNG server's address, "" for none.
    `hides_file` tells which files a search leaves out, by their paths.
    """

    root: Path
    folder: Path
    environ: Mapping[str, str]
    stop: StopRequest
    reads: ReadState = field(default_factory=ReadState)
    search_url: str = ""
    hides_file: Callable[[Path], bool] = lambda _: False

    def resolve_path(self, text: str) -> Path:
        """Return the real path of what a model names: relative, absolute, or with `~`.

        Raises ToolError for what can't be a path.
        """
        if len(text) > _MAX_PATH_CHARS:  # what follows takes the square of it
            raise ToolError(f"a path has at most {_MAX_PATH_CHARS:,} characters")
        if "\0" in text or _SURROGATE.search(text):
            raise ToolError("a path has neither NUL nor a lone surrogate")
        path = Path(text)
        home = self.environ.get("HOME")
        if home and (text == "~" or text.startswith("~/")):
            path = Path(home, text[2:])
        return Path(os.path.realpath(self.folder / path))

    def describe_path(self, path: Path) -> str:
        """Return a path as people and models read it: relative to the root if it is inside."""
        inside = path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside else path.as_posix()


class ToolOutput(NamedTuple):
    """Hold what a tool returns, and the files that it has changed.

    `preview` is for people and not for the model, as the diff of an edit.
    """

    text: str
    images: tuple[ImageBlock, ...] = ()
    changed: tuple[Path, ...] = ()
    preview: str = ""


class Tool(NamedTuple, Generic[A]):
    """Describe a tool: what the model reads of it, and the function that does it.

    `arguments` is a NamedTuple (see tool_arguments); `subject` names the one of them that says what
    a call is about: permission rules, lines for people and the cache go by it. The function raises
    ToolError, CubError or OSError for what the model should know.
    """

    name: str
    description: str
    arguments: type[A]
    run: Callable[[A, ToolContext], ToolOutput]
    effect: ToolEffect
    subject: str

    @property
    def is_concurrent(self) -> bool:
        """Return whether calls may run beside others of this kind: they change nothing."""
        return self.effect in _CONCURRENT

    @property
    def definition(self) -> ToolDefinition:
        """Return what a model is told."""
        return ToolDefinition(self.name, self.description, build_schema(self.arguments))

    def get_subject(self, values: JsonObject) -> str:
        """Return what a call with these arguments is about; "" if they do not say."""
        return get_text(values, self.subject)


AnyTool = Tool[Any]
