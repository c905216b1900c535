"""Decide whether a call of a tool may run: by rules, by the mode, and by what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cub.agent.command_rules import explain_git_program, find_coverage, list_possible_files
from cub.agent.permission_rules import CallTarget, PermissionRule, find_target, parse_rule
from cub.agent.running_files import find_running_part
from cub.agent.shell_commands import Redirection
from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import Tool, ToolContext, ToolEffect, ToolLimit
from cub.agent.tools.tool_arguments import ToolError
from cub.errors import CubError
from cub.json_values import JsonObject

# `accept-edits` allows edits in the project, `plan` nothing but to read, `bypass` everything that
# no rule denies.
PermissionMode = Literal["ask", "accept-edits", "plan", "bypass"]
_PLAN_PATTERNS = ("git status *", "git diff *", "git log *", "git show *", "git blame *")
_MAX_KNOWN_BYTES = 64 * 1024 * 1024  # Read takes no larger file
_JUDGED_ELSEWHERE: ToolEffect = "agent"  # each of its calls is decided on


class Decision(NamedTuple):
    """Say whether a call may run, and why not: to the person who is asked, or to the model."""

    answer: Literal["allow", "ask", "deny"]
    reason: str = ""


@dataclass(slots=True)
class Permissions:
    """Hold a mode and rules; whoever carries a call out asks a person, or denies it without one.

    A person may change them in the middle of a session.
    """

    mode: PermissionMode = "ask"
    allow: list[PermissionRule] = field(default_factory=list)
    deny: list[PermissionRule] = field(default_factory=list)

    def decide(self, tool: Tool, call_arguments: JsonObject, context: ToolContext) -> Decision:
        """Return whether a call may run. Rules that deny come first, and hold in every mode."""
        try:
            target = find_target(tool, call_arguments, context)
        except (ToolError, OSError) as error:  # a zero byte, a folder that may not be read
            return Decision("deny", f"the path can't be used: {error}")
        if denial := self._explain_denial(target):
            return Decision("deny", denial)
        if tool.effect == _JUDGED_ELSEWHERE:
            return Decision("allow")
        if self.mode == "plan" and not tool.is_harmless:
            is_command = tool.effect == "command"
            if is_command and self._decide_command(target, _PLAN_PATTERNS).answer == "allow":
                return self._decide_by_rules(target)
            return Decision("deny", "the mode is plan: propose the change instead of making it")
        return Decision("allow") if self.mode == "bypass" else self._decide_by_rules(target)

    def _explain_denial(self, target: CallTarget) -> str:
        """Return which rule or limit denies a call in every mode; "" if none does."""
        if rule := self._find_denial(target):
            return f"the rule {rule} denies it: do without it, or ask the user"
        for limit in target.context.limits:
            if not _is_within(limit, target):
                return f"{limit.owner} may use only: {', '.join(limit.tools) or 'no tools'}"
        return ""

    def _decide_by_rules(self, target: CallTarget) -> Decision:
        """Return what rules that allow, and the place, say of a call that no rule denies."""
        running = self._find_running_part(target)
        for rule in self.allow:
            if rule.allows(target) and (not running or rule.names(running)):
                return Decision("allow")
        if target.tool.effect == "command":
            patterns = [rule.pattern for rule in self.allow if rule.tool in target.tool.rule_names]
            return self._decide_command(target, patterns)
        return self._decide_by_place(target, running)

    def _find_denial(self, target: CallTarget) -> PermissionRule | None:
        """Return a rule that denies a call, or a file that a command opens."""
        sure, guessed = [target], list[CallTarget]()
        if target.tool.effect == "command" and self.deny:
            for file in list_possible_files(target.subject, target.context.folder):
                with suppress(ToolError, OSError):  # what can't be a path
                    opened = _find_file_target(file, target.context)
                    if file.use != "argument":
                        sure.append(opened)
                    elif opened.paths[0].is_file():
                        guessed.append(opened)
        for rule in self.deny:
            if rule.denies(sure) or (rule.pattern and rule.denies(guessed)):
                return rule
        return None

    def _find_running_part(self, target: CallTarget) -> str:
        """Return by which part of its path a file to edit runs uncalled; "" if it does not.

        A session that may run any command could write it by a command.
        """
        root, path = target.context.root, next(iter(target.paths), None)
        if target.tool.effect != "edit" or path is None or not path.is_relative_to(root):
            return ""
        if any(rule.tool == "Bash" and not rule.pattern for rule in self.allow):
            return ""
        return find_running_part(path.relative_to(root).as_posix())

    def _decide_command(self, target: CallTarget, patterns: Sequence[str]) -> Decision:
        """Allow a line whose commands rules cover, or that only reads, if its files are allowed."""
        guards_files = any(rule.tool == "Read" for rule in self.deny)
        text, folder = target.subject, target.context.folder
        obstacle, files = find_coverage(text, patterns, folder, guards_files=guards_files)
        if obstacle:
            return Decision("ask", obstacle)
        for file in files:  # no rule denies one: it was among the possible files
            try:
                decision = self._decide_file(file, _find_file_target(file, target.context))
            except (ToolError, OSError) as error:
                decision = Decision("ask", f"the path can't be used: {error}")
            if decision.answer != "allow" or (file.is_write and self.mode == "plan"):
                use = "writes" if file.is_write else "reads"
                return Decision("ask", f"the command {use} {file.path}: {decision.reason}")
        reason = explain_git_program(text, patterns, folder)
        return Decision("ask", reason) if reason else Decision("allow")

    def _decide_file(self, file: Redirection, target: CallTarget) -> Decision:
        """Return whether a command may open a file: to overwrite one, the model has to know it."""
        decision, path = self._decide_by_rules(target), target.paths[0]
        is_ruled = any(rule.allows(target) for rule in self.allow)
        if decision.answer == "allow" and file.use == "write" and path.is_file() and not is_ruled:
            data = path.read_bytes() if path.stat().st_size < _MAX_KNOWN_BYTES else b""
            if reason := target.context.reads.explain_unknown(path, data):
                return Decision("ask", reason)
        return decision

    def _decide_by_place(self, target: CallTarget, running: str) -> Decision:
        effect = target.tool.effect
        outside = [path for path in target.paths if not target.is_inside(path)]
        if outside:
            place = target.context.describe_path(outside[0])
            is_project = outside[0].is_relative_to(target.context.root)
            where = "in a directory of git or cub" if is_project else "outside of the project"
            return Decision("ask", f"{place} is {where}")
        if effect == "read" or (effect == "edit" and self.mode == "accept-edits" and not running):
            return Decision("allow")
        if running:
            return Decision("ask", f"{running} can run something without being called")
        return Decision("ask", f"{target.tool.name} needs approval")


def _find_file_target(file: Redirection, context: ToolContext) -> CallTarget:
    return find_target(EDIT if file.is_write else READ, {"file_path": file.path}, context)


def _is_within(limit: ToolLimit, target: CallTarget) -> bool:
    """Return whether a limit names the tool of a call, alone or in a rule that describes the call.

    Names of tools that cub does not have are of no use, and no error.
    """
    tool = target.tool
    texts = [text for text in limit.tools if text.partition("(")[0] == tool.name]
    if tool.name in texts:
        return True
    with suppress(CubError):
        rules = [parse_rule(text, {tool.name: tool}) for text in texts]
        if any(rule.allows(target) for rule in rules):
            return True
        if rules and tool.effect == "command":
            patterns = [rule.pattern for rule in rules]
            return not find_coverage(target.subject, patterns, target.context.folder)[0]
    return False
