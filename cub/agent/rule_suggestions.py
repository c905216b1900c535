"""Suggest the rule that a person agrees to who allows a call for good.

A command that the table knows gets a rule for its program and subcommand, or for its script. All
that is not known, or can't be undone, gets a rule for exactly the same line.
"""

from __future__ import annotations

import re

from cub.agent.command_rules import is_harmless
from cub.agent.permission_rules import CallTarget, PermissionRule, escape_path, find_target
from cub.agent.running_files import find_running_part
from cub.agent.shell_commands import ShellCommand, read_command_line
from cub.agent.shell_programs import WRITERS, find_bounded_command, find_risks, reads_by_git
from cub.agent.tools.http_get import parse_web_host
from cub.agent.tools.tool import Tool, ToolContext
from cub.json_values import JsonObject
from cub.masking import mask_text

# Tools that always do the same kind of work, by themselves or with a subcommand, and scripts.
_KNOWN = re.compile(
    r"(?:\w+=[\w./:+-]* )*(?:"
    r"(?:(?:[\w.-]+/)*python[\d.]* -m |(?:uv|poetry|pdm|hatch|pipenv) run |npx |"
    r"(?:bundle|pnpm|yarn) exec )*(?:(?:[\w.-]+/)*"
    r"(?:make|ninja|mvn|gradle|pytest|unittest|tox|nox|mypy|pyright|pylint|flake8|black|isort|"
    r"coverage|tsc|eslint|prettier|jest|vitest|mocha|gofmt|golangci-lint|rustfmt|shellcheck)|"
    r"(?:git|npm|pnpm|yarn|bun|deno|pip3?|uv|poetry|pdm|cargo|go|dotnet|mix|bundle|gem|composer|"
    r"helm|cub|ruff|pre-commit|alembic) "
    r"(?!(?:push|reset|clean|checkout|restore|stash|exec|x|dlx|eval|run)\b)[a-z][\w:-]*|"
    r"(?:npm|pnpm|yarn|bun) run [\w./:-]+|(?:cargo|go) run|"
    r"(?:(?:python[\d.]*|bash|sh|node|ruby|perl|php|bun|tsx|ts-node|deno run) )?"
    r"(?![/-])(?!\S*\.\./)[\w./-]+\.(?:py|[cm]?[jt]s|rb|pl|php|sh)|\./(?!\S*bin/)[\w/-]+))(?= |$)",
    re.ASCII,
)
_EXACT_LINE = re.compile(r"[^\0-\x1f*?[\x7f-\U0010ffff]{1,100}")  # a wildcard would allow more


def suggest_rule(
    tool: Tool, call_arguments: JsonObject, context: ToolContext
) -> PermissionRule | None:
    """Return the rule to allow a call and those like it; None if none can be shown."""
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
        asked = [one for one in line.commands if one.program in WRITERS or not is_harmless(one)]
        changing = [one for one in asked if not reads_by_git(one)]
        patterns = {*map(_describe_command, changing or asked)}
        pattern = patterns.pop() if len(patterns) == 1 else ""
    if not pattern and _EXACT_LINE.fullmatch(text):
        pattern = text.strip()
    return pattern if mask_text(pattern) == pattern else ""


def _describe_command(command: ShellCommand) -> str:
    """Return the pattern for a program, with its subcommand or script; "" if it is not known."""
    if bounded := find_bounded_command(command):
        return _describe_command(bounded)
    found = _KNOWN.match(" ".join((*command.assignments, *command.words)))
    return f"{found[0]} *" if found and not find_risks(command) else ""


def _suggest_path_rule(target: CallTarget) -> PermissionRule | None:
    """Return a rule for the folder of a file, or for the file if more of it would surprise.

    None for git's and cub's folders, and for a search in several places.
    """
    name, root = "Read" if target.tool.effect == "read" else "Edit", target.context.root
    outside = [path for path in target.paths if not path.is_relative_to(root)]
    path, *others = outside or target.paths
    if others or not (outside or target.is_inside(path)):
        return None
    text = escape_path(path).removeprefix(f"{escape_path(root)}/")
    is_folder = path.name == "*" if outside else "/" in text and not find_running_part(text)
    if is_folder:
        return PermissionRule(name, f"{text.rpartition('/')[0]}/**")
    return PermissionRule(name, text if outside else f"./{text}")
