"""Decide whether a call of a tool may run: by rules, by the mode, and by what it is about."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cub.agent.permission_rules import CallTarget, PermissionRule, find_target, parse_rule
from cub.agent.tools.tool import Tool, ToolContext, ToolEffect, ToolLimit
from cub.agent.tools.tool_arguments import ToolError
from cub.errors import CubError
from cub.json_values import JsonObject

# `accept-edits` allows edits in the project, `plan` nothing but to read, `bypass` everything that
# no rule denies.
PermissionMode = Literal["ask", "accept-edits", "plan", "bypass"]
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
            return Decision("deny", "the mode is plan: propose the change instead of making it")
        if self.mode == "bypass" or any(rule.allows(target) for rule in self.allow):
            return Decision("allow")
        return self._decide_by_place(target)

    def _explain_denial(self, target: CallTarget) -> str:
        """Return which rule or limit denies a call in every mode; "" if none does."""
        for rule in self.deny:
            if rule.denies(target):
                return f"the rule {rule} denies it: find another way, or inform the user"
        for limit in target.context.limits:
            if not _is_within(limit, target):
                return f"{limit.owner} may use only: {', '.join(limit.tools) or 'no tools'}"
        return ""

    def _decide_by_place(self, target: CallTarget) -> Decision:
        effect = target.tool.effect
        outside = [path for path in target.paths if not target.is_inside(path)]
        if outside:
            place = target.context.describe_path(outside[0])
            is_project = outside[0].is_relative_to(target.context.root)
            where = "in a directory of git or cub" if is_project else "outside of the project"
            return Decision("ask", f"{place} is {where}")
        if effect == "read" or (effect == "edit" and self.mode == "accept-edits"):
            return Decision("allow")
        return Decision("ask", f"no rule allows this call of {target.tool.name}")


def _is_within(limit: ToolLimit, target: CallTarget) -> bool:
    """Return whether a limit names the tool of a call, alone or in a rule that describes the call.

    Names of tools that cub does not have are of no use, and no error.
    """
    tool = target.tool
    rules = [text for text in limit.tools if text.partition("(")[0] == tool.name]
    if tool.name in rules:
        return True
    with suppress(CubError):
        return any(parse_rule(text, {tool.name: tool}).allows(target) for text in rules)
    return False
