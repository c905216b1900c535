"""Decide whether a call of a tool may run: by rules, by the mode, and by what it is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cub.agent.permission_rules import CallTarget, PermissionRule, find_target
from cub.agent.tools.tool import Tool, ToolContext, ToolEffect
from cub.agent.tools.tool_arguments import ToolError
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
        for rule in self.deny:
            if rule.denies(target):
                reason = f"the rule {rule} denies it: find another way, or inform the user"
                return Decision("deny", reason)
        if tool.effect == _JUDGED_ELSEWHERE:
            return Decision("allow")
        if self.mode == "plan" and not tool.is_harmless:
            return Decision("deny", "the mode is plan: propose the change instead of making it")
        if self.mode == "bypass" or any(rule.allows(target) for rule in self.allow):
            return Decision("allow")
        return self._decide_by_place(target)

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
