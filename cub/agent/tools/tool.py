"""Define what a tool is, what it works with, and what it returns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from cub.agent.conversation import ImageBlock
from cub.agent.events import ToolEvent
from cub.agent.model import ToolDefinition
from cub.agent.read_state import ReadState
from cub.agent.skills import SkillSet
from cub.agent.tools.tool_arguments import (
    ToolError,
    build_schema,
    fold_name,
    parse_arguments,
    rename_arguments,
)
from cub.agent.tools.tool_text import make_valid_text, unquote_name
from cub.json_values import JsonObject, get_text
from cub.processes.command import StopRequest

A = TypeVar("A")
# What a tool does to the world; permissions, the order of calls, and the cache go by it. What an
# agent does is judged call by call. Of a tool from outside nothing is known.
ToolEffect = Literal["read", "web", "edit", "command", "open", "agent", "unknown"]
# What the pattern of a permission rule is; "" if rules for a tool have none.
RuleKind = Literal["command", "path", "domain", ""]
_RULE_KINDS: Mapping[ToolEffect, RuleKind] = {
    "read": "path", "edit": "path", "command": "command", "web": "domain",
}  # fmt: skip
# The tool whose rules hold for all that have its effect, so that no new one is outside of them.
_EFFECT_NAMES: Mapping[ToolEffect, str] = {"read": "Read", "edit": "Edit", "command": "Bash"}
OUTSIDE_PREFIX = "mcp__"  # mcp__SERVER__TOOL is a tool of a server that speaks MCP
_MAX_PATH_CHARS = 1_000


class ToolLimit(NamedTuple):
    """Limit calls to these tools and permission rules; `owner` says for whom, in words."""

    owner: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Hold what tools work with.

    Relative paths start in `folder`, which is the project's `root` or in it; both are real paths.
    A requested `stop` ends what runs. `search_url` is a SearXNG server's address, "" for none.
    `hides_file` tells which files a search leaves out, by their paths. `depth` counts the agents
    above this one; `send` takes what whoever shows the session should see while a tool runs.
    `skills` are what the model and the user can call for. A call has to be within all `limits`.
    """

    root: Path
    folder: Path
    environ: Mapping[str, str]
    stop: StopRequest
    reads: ReadState = field(default_factory=ReadState)
    search_url: str = ""
    hides_file: Callable[[Path], bool] = lambda _: False
    depth: int = 0
    send: Callable[[ToolEvent], None] = lambda _: None
    skills: SkillSet = field(default_factory=SkillSet)
    limits: tuple[ToolLimit, ...] = ()

    def add_limit(self, owner: str, tools: tuple[str, ...] | None) -> ToolContext:
        """Return the context of one who may use these tools only, None for all."""
        limits = () if tools is None else (ToolLimit(owner, tools),)
        return replace(self, limits=self.limits + limits)

    def resolve_path(self, text: str) -> Path:
        """Return the real path of what a model names: relative, absolute, or with `~`.

        A name may be quoted as tools print it.
        Raises ToolError for what can't be a path.
        """
        if len(text) > _MAX_PATH_CHARS:  # what follows takes the square of it
            raise ToolError(f"a path has at most {_MAX_PATH_CHARS:,} characters")
        is_valid = make_valid_text(text) == text
        text = unquote_name(text)
        if "\0" in text or not is_valid:
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

    `preview` is for people and not for the model, as the diff of an edit. A text that `is_kept`
    stays when old results are cut.
    """

    text: str
    images: tuple[ImageBlock, ...] = ()
    changed: tuple[Path, ...] = ()
    preview: str = ""
    is_kept: bool = False


class Tool(NamedTuple):
    """Describe a tool: what the model reads of it, what it does, and which rules are about it.

    `schema` is the JSON Schema of its arguments, an object. `bind` checks arguments, and returns
    what carries the call out; it raises ToolError, and that may raise ToolError, CubError or
    OSError, for what the model should know. `subject` names the argument that says what a call is
    about, or several, of which the first one that is given does: rules and lines for people go by
    it. `search` names the one in which a tool that searches has a pattern of paths. `resolve_names`
    returns arguments by the names of the schema.
    """

    name: str
    description: str
    schema: JsonObject
    bind: Callable[[JsonObject], Callable[[ToolContext], ToolOutput]]
    effect: ToolEffect
    subject: str = ""
    search: str = ""
    resolve_names: Callable[[JsonObject], JsonObject] = dict

    @property
    def is_concurrent(self) -> bool:
        """Return whether calls may run beside others of this kind."""
        return self.is_harmless or self.effect == "agent"

    @property
    def is_harmless(self) -> bool:
        """Return whether calls change nothing, so that one may be abandoned."""
        return self.effect in ("read", "web")

    @property
    def definition(self) -> ToolDefinition:
        """Return what a model is told."""
        return ToolDefinition(self.name, self.description, self.schema)

    @property
    def rule_kind(self) -> RuleKind:
        """Return what the pattern of a rule for it is."""
        kind = _RULE_KINDS.get(self.effect, "")
        return "" if kind == "domain" and self.subject != "url" else kind

    @property
    def rule_names(self) -> tuple[str, ...]:
        """Return the names of the tools whose rules hold for it: a rule for Read is for searches.

        A rule with the name of a server outside holds for all of its tools.
        """
        is_outside = self.name.startswith(OUTSIDE_PREFIX)
        server = "__".join(self.name.split("__")[:2]) if is_outside else ""
        return self.name, _EFFECT_NAMES.get(self.effect, ""), server

    def get_subject(self, values: JsonObject) -> str:
        """Return what a call with these arguments is about; "" if they do not say.

        Of a tool of which nothing is known, any argument may matter to the person who is asked.
        """
        if self.effect == "unknown" and not self.subject:
            return make_valid_text(json.dumps(values, ensure_ascii=False)) if values else ""
        return next(filter(None, (get_text(values, name) for name in self.subject.split())), "")


def define_tool(
    name: str,
    description: str,
    arguments: type[A],
    run: Callable[[A, ToolContext], ToolOutput],
    effect: ToolEffect,
    *,
    subject: str,
    search: str = "",
) -> Tool:
    """Return the tool that a function with checked arguments is; `arguments` is a NamedTuple.

    See tool_arguments for their types.
    """

    def bind(values: JsonObject) -> Callable[[ToolContext], ToolOutput]:
        return partial(run, parse_arguments(arguments, values))

    schema = build_schema(arguments)
    resolve_names = partial(rename_arguments, arguments)
    return Tool(name, description, schema, bind, effect, subject, search, resolve_names)


def find_tool(tools: Mapping[str, Tool], name: str) -> Tool | None:
    """Return the tool of this name, or the only one that differs in case, `_` and `-`."""
    if name in tools:
        return tools[name]
    near = [tool for known, tool in tools.items() if fold_name(known) == fold_name(name)]
    return near[0] if len(near) == 1 else None
