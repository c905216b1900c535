"""Read rules such as `Bash(git diff *)` or `Edit(src/**)`, and match calls of tools with them.

A rule allows only what it certainly means, and denies what it may mean. It is no sandbox: a program
that a rule allows may do anything, and a command can be written so that no rule recognizes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.agent.command_rules import denies_command
from cub.agent.tools.http_get import parse_web_host
from cub.agent.tools.tool import OUTSIDE_PREFIX, RuleKind, Tool, ToolContext
from cub.agent.tools.toolset import SESSION_TOOLS, TOOLS
from cub.errors import CubError
from cub.json_values import JsonObject
from cub.text import suggest_known

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_RULE = re.compile(r"([\w-]+)(?:\((.+)\))?", re.DOTALL)
_DOMAIN = re.compile(r"domain:[\w.-]+", re.ASCII)
_WILDCARD = re.compile(r"[*?\[\\]")
_INNER_START = re.compile(r"[{,][/~]")
_SPECIAL = re.compile(r"[*?\[\]\\]")
# Hooks and settings of git run programs; cub's tasks are changed by its commands.
_PROTECTED_FOLDERS = (".git", ".cub")


class CallTarget(NamedTuple):
    """Hold what a call is about: its subject, and the real paths that it reads or edits.

    `*` in a folder stands for any file there. `named_paths` are the same before links are followed.
    """

    tool: Tool
    subject: str
    paths: tuple[Path, ...]
    named_paths: tuple[Path, ...]
    context: ToolContext

    def is_inside(self, path: Path) -> bool:
        """Return whether a path is in the project, for edits not in git's or cub's folders.

        The files of the user's skills count as inside for tools that read.
        """
        if not path.is_relative_to(self.context.root):
            return self.tool.effect == "read" and self.context.skills.has_file(path)
        parts = map(str.casefold, path.relative_to(self.context.root).parts)
        return self.tool.effect != "edit" or not any(part in _PROTECTED_FOLDERS for part in parts)


class PermissionRule(NamedTuple):
    """Describe calls: all of a tool, or those that a pattern matches."""

    tool: str
    pattern: str = ""

    def __str__(self) -> str:
        """Return the rule as it is written."""
        return f"{self.tool}({self.pattern})" if self.pattern else self.tool

    def allows(self, target: CallTarget) -> bool:
        """Return whether it certainly describes a call, of a command with exactly its text.

        Without a pattern, or with a relative one, it describes no path outside of the project.
        """
        if self.tool not in target.tool.rule_names:
            return False
        match target.tool.rule_kind:
            case "command":
                return self.pattern in ("", target.subject.strip())
            case "path":
                spec = _compile_patterns((_make_absolute(self.pattern or "**", target.context),))
                reaches_out = self.pattern.startswith(("/", "~"))
                return bool(target.paths) and all(
                    (reaches_out or target.is_inside(path))
                    and (not self.pattern or spec.match_file(path.as_posix().lstrip("/")))
                    for path in target.paths
                )
        return not self.pattern or self._matches_host(target.subject)

    def denies(self, targets: Sequence[CallTarget]) -> bool:
        """Return whether it describes one of the calls of a session, or a part of one.

        In paths, letters may be cased in any way. A search from above a file is not one of that
        file: it leaves the file out.
        """
        own = [target for target in targets if self.tool in target.tool.rule_names]
        if not (own and self.pattern):
            return bool(own)
        paths = {path for target in own for path in (*target.paths, *target.named_paths)}
        match own[0].tool.rule_kind:
            case "command":
                return any(denies_command(self.pattern, target.subject) for target in own)
            case "path":
                return any(map(_compile_denied([self.pattern], own[0].context), paths))
        return any(self._matches_host(target.subject) for target in own)

    def names(self, part: str) -> bool:
        """Return whether its pattern has a part of a path literally, in whatever case."""
        return not {*self.pattern.casefold().split("/")}.isdisjoint(part.casefold().split("/"))

    def _matches_host(self, url: str) -> bool:
        """Return whether an address has the domain's host, or one below it."""
        domain = self.pattern.partition(":")[2].lower()
        return f".{parse_web_host(url)}".endswith(f".{domain}")


def parse_rule(text: str, tools: Mapping[str, Tool] = TOOLS) -> PermissionRule:
    """Return the rule in a text: `Tool` or `Tool(pattern)`, of a tool in `tools`. Raises CubError.

    Tools from outside are not known when rules are read: `mcp__SERVER`, which may be written as
    `mcp__SERVER__*`, or `mcp__SERVER__TOOL`.
    """
    words = text.strip()
    is_outside = words.startswith(OUTSIDE_PREFIX)
    match = _RULE.fullmatch(words.removesuffix("__*") if is_outside else words)
    if match is None:
        hint = "write Tool or Tool(pattern), such as Bash(git diff *) or Read(~/docs/**)"
        raise CubError(f"not a permission rule: {text!r}", hint=hint)
    tool, pattern = match.groups("")
    if tool not in (*tools, *SESSION_TOOLS) and not tool.startswith(OUTSIDE_PREFIX):
        hint = suggest_known(tool, dict.fromkeys([*tools, *SESSION_TOOLS]))
        raise CubError(f"unknown tool {tool!r} in the permission rule {text!r}", hint=hint)
    kind = tools[tool].rule_kind if tool in tools else ""
    if pattern and (problem := _explain_bad_pattern(tool, pattern, kind)):
        raise CubError(f"the permission rule {text!r} can't match", hint=problem)
    if kind == "command":  # `:*` is an older way to write ` *`
        pattern = f"{pattern[:-2]} *" if pattern.endswith(":*") else pattern
        pattern = "" if pattern.strip() == "*" else pattern.strip()
    return PermissionRule(tool, pattern)


def compile_hidden_files(
    rules: Iterable[PermissionRule], context: ToolContext
) -> Callable[[Path], bool]:
    """Return a function that tells which files searches leave out: what rules deny to Read."""
    return _compile_denied([rule.pattern for rule in rules if rule.tool == "Read"], context)


def _compile_denied(patterns: Sequence[str], context: ToolContext) -> Callable[[Path], bool]:
    """Return a function that tells which files some patterns may describe.

    Letters may be cased in any way, and `/x` may also be x in the project, as git reads it.
    """
    anchored = [f".{pattern}" for pattern in patterns if pattern.startswith("/")]
    texts = (_make_absolute(one, context).casefold() for one in (*patterns, *anchored) if one)
    spec = _compile_patterns(tuple(texts))
    return lambda path: spec.match_file(path.as_posix().lstrip("/").casefold())


def find_target(tool: Tool, call_arguments: JsonObject, context: ToolContext) -> CallTarget:
    """Return what a call is about. Raises ToolError and OSError for what can't be a path."""
    subject = _get_raw_text(call_arguments, tool.subject)
    texts: list[str] = []
    if tool.search:
        texts = _list_searched(tool.search, call_arguments)
    elif tool.rule_kind == "path":
        texts = [subject]
    paths = [context.resolve_path(text) for text in texts]
    named_paths = [Path(os.path.normpath(context.folder / text)) for text in texts]
    if tool.effect == "read":
        paths = [path / "*" if path.is_dir() else path for path in paths]
    return CallTarget(tool, subject, tuple(paths), tuple(named_paths), context)


def _explain_bad_pattern(tool: str, pattern: str, kind: RuleKind) -> str:
    """Say what a pattern should be; "" if it is right."""
    from cub.repomap.listing.file_listing import is_valid_ignore_pattern

    match kind:
        case "path" if ".." in pattern.split("/") or not is_valid_ignore_pattern(pattern):
            return (
                "write a .gitignore pattern; for paths outside of the project, start with / or ~/"
            )
        case "domain" if not _DOMAIN.fullmatch(pattern):
            return f"write {tool}(domain:example.com)"
        case "":
            return f"write {tool} alone"
    return ""


@lru_cache  # of each rule, for each file of a command
def _compile_patterns(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from cub.repomap.listing.file_listing import compile_ignore_patterns

    return compile_ignore_patterns(patterns)


def _make_absolute(pattern: str, context: ToolContext) -> str:
    """Return a path's pattern from the disk's root, links in its part without wildcards resolved.

    As in a .gitignore, one without a slash holds at any depth.
    """
    if "/" not in pattern.rstrip("/") and not pattern.startswith(("/", "~")):
        return f"{escape_path(context.root)}/**/{pattern}"
    literal, rest = _split_pattern(pattern)
    if not pattern.startswith(("/", "~")):
        literal = f"{context.root}/{literal}"
    return "/".join([escape_path(context.resolve_path(literal)).rstrip("/"), *rest])


def _split_pattern(pattern: str) -> tuple[str, list[str]]:
    """Return the folders of a pattern before its first wildcard, and the parts after them."""
    parts = pattern.split("/")
    count = next((at for at, part in enumerate(parts) if _WILDCARD.search(part)), len(parts))
    return "/".join(parts[:count]) or "/", parts[count:]


def escape_path(path: Path) -> str:
    """Return the pattern that is for this path alone."""
    return _SPECIAL.sub(r"\\\g<0>", path.as_posix())


def _list_searched(argument: str, call_arguments: JsonObject) -> list[str]:
    """Return where a search starts, and where else its pattern leads, at worst the disk's root."""
    start = _get_raw_text(call_arguments, "path") or "."
    pattern = _get_raw_text(call_arguments, argument)
    if ".." in pattern or _INNER_START.search(pattern):
        return [start, "/"]
    return [start, _split_pattern(pattern)[0]] if pattern.startswith(("/", "~")) else [start]


def _get_raw_text(call_arguments: JsonObject, name: str) -> str:
    """Return an argument as the tool gets it: with all that is not text in UTF-8."""
    value = call_arguments.get(name)
    return value if isinstance(value, str) else ""
