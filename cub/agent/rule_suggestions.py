"""Suggest the rule that a person agrees to who allows a call for good.

A command that the table knows gets a rule for its program and subcommand, or for its script. All
that is not known, or can't be undone, gets a rule for exactly the same line.
"""

from __future__ import annotations

import re
from pathlib import Path

from cub.agent.command_rules import find_bounded_command, is_harmless
from cub.agent.permission_rules import CallTarget, PermissionRule, escape_path, find_target
from cub.agent.running_files import find_running_part
from cub.agent.shell_commands import ShellCommand, read_command_line
from cub.agent.shell_programs import find_risks
from cub.agent.tools.http_get import parse_web_host
from cub.agent.tools.tool import Tool, ToolContext
from cub.json_values import JsonObject
from cub.masking import mask_text

# Tools that always do the same kind of work, and those that do what their first argument says.
_TOOLS = frozenset(
    ("make", "ninja", "mvn", "gradle", "pytest", "unittest", "tox", "nox", "mypy", "pyright",
     "pylint", "flake8", "black", "isort", "coverage", "tsc", "eslint", "prettier", "jest",
     "vitest", "mocha", "gofmt", "golangci-lint", "rustc", "rustfmt", "shellcheck")
)  # fmt: skip
_WITH_SUBCOMMANDS = frozenset(
    ("git", "npm", "pnpm", "yarn", "bun", "deno", "pip", "pip3", "uv", "poetry", "pdm", "cargo",
     "go", "dotnet", "mix", "bundle", "gem", "composer", "helm", "cub", "ruff", "pre-commit",
     "alembic")
)  # fmt: skip
_SCRIPT_RUNNERS = re.compile("(?:npm|pnpm|yarn|bun) run")
_ANYTHING = re.compile(r"git (?:push|reset|clean|checkout|restore|stash)|\w+ (?:exec|x|dlx|eval)")
_WRAPPERS = re.compile(
    r"python[\d.]* -m|(?:uv|poetry|pdm|hatch|pipenv) run|(?:bundle|pnpm|yarn) exec|npx"
)
_SCRIPT = re.compile(
    r"(?:(?:python[\d.]*|bash|sh|node|ruby|perl|php|bun|tsx|ts-node|uv run|deno run) )?"
    r"(?!/)(?!.*\.\./)[\w./-]+\.(?:py|[cm]?[jt]s|rb|pl|php|sh)|\./[\w/-]+",
    re.ASCII,
)
_PLAIN_WORD = re.compile(r"-m|[\w./][\w:./=+-]*", re.ASCII)
_EXACT_LINE = re.compile(r"[^\0-\x1f*?[\x7f-\U0010ffff]{1,100}")  # a wildcard would allow more


def suggest_rule(
    tool: Tool, call_arguments: JsonObject, context: ToolContext
) -> PermissionRule | None:
    """Return the rule to allow a call and those like it; None if it would allow too much."""
    target = find_target(tool, call_arguments, context)
    match tool.rule_kind:
        case "command":
            pattern = _suggest_command_pattern(target.subject)
            return PermissionRule("Bash", pattern) if pattern else None
        case "path":
            return _suggest_path_rule(target)
        case "domain":
            host = parse_web_host(target.subject)
            return PermissionRule(tool.name, f"domain:{host}") if host else None
    return None if tool.effect == "open" else PermissionRule(tool.name)


def _suggest_command_pattern(text: str) -> str:
    """Return the one pattern that is missing for a command line, or its own text.

    Return "" for what can't be shown or stored, such as a secret.
    """
    line, pattern = read_command_line(text), ""
    if line.is_certain and not any(file.is_write for file in line.redirections):
        patterns = {_describe_command(one) for one in line.commands if not is_harmless(one)}
        pattern = patterns.pop() if len(patterns) == 1 else ""
    if not pattern and _EXACT_LINE.fullmatch(text):
        pattern = text.strip()
    return pattern if mask_text(pattern) == pattern else ""


def _describe_command(command: ShellCommand) -> str:
    """Return the pattern for a program, with its subcommand or script; "" if it is not known."""
    if bounded := find_bounded_command(command):
        return _describe_command(bounded)
    words = command.words[: _count_words(command.words)]
    parts = (*command.assignments, *words)
    if not words or find_risks(command) or not all(map(_PLAIN_WORD.fullmatch, parts)):
        return ""
    return " ".join([*parts, "*"])


def _count_words(words: tuple[str, ...]) -> int:
    """Return how many words say what a command does; 0 if they are not known to do so."""
    names = (words[0].rpartition("/")[2], *words[1:]) if words else ("",)
    for count in (3, 2, 1):
        if _SCRIPT.fullmatch(" ".join(words[:count])):
            return count
        if _WRAPPERS.fullmatch(" ".join(names[:count])):
            inner = _count_words(words[count:])
            return inner and count + inner
    start = " ".join(names[:2])
    count = 3 if _SCRIPT_RUNNERS.fullmatch(start) else 2 if names[0] in _WITH_SUBCOMMANDS else 1
    is_known = count > 1 or names[0] in _TOOLS
    return count if is_known and len(words) >= count and not _ANYTHING.fullmatch(start) else 0


def _suggest_path_rule(target: CallTarget) -> PermissionRule | None:
    """Return a rule for the folder of a file, or for the file if more of it would surprise.

    None for git's and cub's folders, and for a search in several places.
    """
    name = "Read" if target.tool.effect == "read" else "Edit"
    root = target.context.root
    inside = [
        path.relative_to(root).as_posix() for path in target.paths if path.is_relative_to(root)
    ]
    outside = [path for path in target.paths if not path.is_relative_to(root)]
    if len(outside) == 1:
        path = outside[0]
        is_folder = path.name == "*"
        return PermissionRule(
            name, f"{escape_path(path.parent)}/**" if is_folder else escape_path(path)
        )
    if outside or len(inside) != 1 or not target.is_inside(target.paths[0]):
        return None
    folder, mark, _ = inside[0].rpartition("/")
    if mark and not find_running_part(inside[0]):
        return PermissionRule(name, f"{escape_path(Path(folder))}/**")
    return PermissionRule(name, f"./{escape_path(Path(inside[0]))}")
