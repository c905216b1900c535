"""Suggest the rule that a person agrees to who allows a call for good: wide enough to be of use."""

from __future__ import annotations

import re
from pathlib import Path

from cub.agent.command_rules import find_bounded_command, is_harmless
from cub.agent.permission_rules import CallTarget, PermissionRule, escape_path, find_target
from cub.agent.running_files import find_running_part
from cub.agent.shell_commands import ShellCommand, read_command_line
from cub.agent.shell_programs import find_risks, find_runner
from cub.agent.tools.http_get import parse_web_host
from cub.agent.tools.tool import Tool, ToolContext
from cub.json_values import JsonObject

# Programs whose first argument says what they do, and those of which the second one does.
_WITH_SUBCOMMANDS = frozenset(
    ("git", "gh", "glab", "hg", "jj", "npm", "pnpm", "yarn", "bun", "deno", "pip", "pip3", "uv",
     "poetry", "pdm", "hatch", "conda", "cargo", "rustup", "go", "dotnet", "mix", "bundle", "gem",
     "rails", "composer", "docker", "podman", "kubectl", "helm", "terraform", "ansible", "brew",
     "apt", "apt-get", "systemctl", "cub", "ruff", "pre-commit", "alembic", "swift", "flutter")
)  # fmt: skip
_WITH_TWO = re.compile(
    r"(?:npm|pnpm|yarn|bun|deno|uv|poetry|pdm|hatch) run|bundle exec|docker compose|uv pip|"
    r"git (?:stash|worktree|remote|submodule)|(?:gh|kubectl) \w+|go tool|python[\d.]* -m"
)
# A rule for one of these would be for anything at all, or for what can't be undone.
_TOO_WIDE = re.compile(
    r"(?:python|perl|ruby|node|php|lua|tclsh|[gmn]?awk|sed)[\d.]*|rm|rmdir|dd|shred|truncate|mkfs.*|"
    r"chmod|chown|kill|pkill|killall|curl|wget|ssh|scp|rsync|nc|ncat|socat|telnet|ftp|sftp|"
    r"tee|ed|vim?|emacs|gpg|crontab|at|batch|source|\.|docker run|docker exec|kubectl exec"
)
_SCRIPT = re.compile(r"[\w./-]+\.(?:py|js|mjs|cjs|ts|rb|pl|php|lua)")
_PLAIN_WORD = re.compile(r"[\w./][\w:./+-]*", re.ASCII)


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
    """Return the pattern that is missing for a command line; "" if no single one is enough."""
    line = read_command_line(text)
    if not line.is_certain or any(file.is_write for file in line.redirections):
        return ""
    patterns = {_describe_command(one) for one in line.commands if not is_harmless(one)}
    return patterns.pop() if len(patterns) == 1 else ""


def _describe_command(command: ShellCommand) -> str:
    """Return the pattern for a program, with its subcommand or script; "" if that is too wide."""
    if bounded := find_bounded_command(command):
        return _describe_command(bounded)
    words, two = command.words, " ".join(command.words[:2])
    is_script = len(words) > 1 and _SCRIPT.fullmatch(words[1])
    count = 2 if words[0] in _WITH_SUBCOMMANDS or is_script else 1
    count = 3 if _WITH_TWO.fullmatch(two) else count
    names = [word for word in words[:count] if word != "-m"]
    if (
        len(words) < count
        or command.assignments
        or find_risks(command)
        or len(find_runner(words).split()) >= count
        or not all(map(_PLAIN_WORD.fullmatch, names))
        or any(map(_TOO_WIDE.fullmatch, (names[-1], two)))
    ):
        return ""
    return " ".join([*words[:count], "*"])


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
