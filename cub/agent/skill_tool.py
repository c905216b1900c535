"""Let the model load a skill by its name, and work on one that the user has called for.

A skill with `context: fork` goes to a sub-agent, and its caller gets the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated, NamedTuple

from cub.agent.conversation import Message, TextBlock, make_user_message
from cub.agent.events import ReplyText, SessionEnd, SessionEvent
from cub.agent.model import TextDelta
from cub.agent.skill_invocation import SkillInvocation, write_instructions
from cub.agent.skills import Skill
from cub.agent.subagents import SKILL, Subagents
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import ToolError
from cub.errors import CubError
from cub.text import suggest_known

_DESCRIPTION = """\
Load the instructions of a skill, and follow them for the rest of the request. The system prompt
lists the skills. Load one before you start with the work that it is for, and again only if its
instructions are no longer in the conversation. Some skills are carried out by a sub-agent instead:
you get its answer.\
"""


class SkillArguments(NamedTuple):
    """Hold which skill to load."""

    skill: Annotated[str, "The name of the skill, as in the list."]
    args: Annotated[str, "Arguments for the skill, as a user types them."] = ""


def add_skill_tool(subagents: Subagents) -> None:
    """Add the tool that loads skills to the session of the sub-agents."""
    run = partial(_load_skill, subagents)
    # It changes nothing by itself, and what a sub-agent does is decided call by call.
    tool = define_tool(SKILL, _DESCRIPTION, SkillArguments, run, "agent", subject="skill")
    toolbox = subagents.session.toolbox
    subagents.session.toolbox = replace(toolbox, tools={**toolbox.tools, SKILL: tool})


def work_on_skill(
    subagents: Subagents, invocation: SkillInvocation, prompt: str
) -> Iterator[SessionEvent]:
    """Work on a skill that the user has called for, as `AgentSession.work_on` does.

    `prompt` has its text, perhaps with more around it. Meanwhile no tools may be used but those
    that the skill allows.
    """
    skill, session = invocation.skill, subagents.session
    if skill.is_fork:
        yield from _work_apart(subagents, invocation, prompt)
        return
    toolbox = session.toolbox
    session.toolbox = replace(toolbox, context=_limit_tools(skill, toolbox.context))
    try:
        yield from session.work_on(prompt)
    finally:
        session.toolbox = toolbox


def _work_apart(
    subagents: Subagents, invocation: SkillInvocation, prompt: str
) -> Iterator[SessionEvent]:
    """Have a sub-agent work; the conversation gets what the user typed, and the answer."""
    session, skill = subagents.session, invocation.skill
    context = _limit_tools(skill, session.toolbox.context)
    try:
        run = subagents.add_run(skill.agent, f"/{skill.name}", session.budget)
        yield from subagents.follow_agent(run, prompt, context)
        end = SessionEnd("end_turn", run.answer)
    except CubError as error:
        end = SessionEnd("error", "", str(error))
    answer = end.text or f"error: {end.message}"
    session.messages += [
        make_user_message(invocation.prompt),
        Message("assistant", (TextBlock(answer),)),
    ]
    if not end.text and context.stop.is_requested:
        end = SessionEnd("cancelled", "", "cancelled")
    yield session.toolbox.cache.statistics
    if end.text:
        yield TextDelta(end.text)
        yield ReplyText(end.text)
    yield end


def _load_skill(
    subagents: Subagents, arguments: SkillArguments, context: ToolContext
) -> ToolOutput:
    """Return a skill's instructions, or what its sub-agent answers."""
    skills, name = context.skills, arguments.skill.strip().removeprefix("/")
    skill = skills.find_skill(name)
    if skill is None:
        hint = suggest_known(name, [skill.name for skill in skills.for_model])
        raise ToolError(f"there is no skill {name!r}", hint=hint)
    if not skill.is_for_model:
        hint = f"suggest `/{skill.name}` to the user if it is needed"
        raise ToolError(f"only the user can call for the skill {skill.name}", hint=hint)
    text = write_instructions(skill, arguments.args.strip())
    if not skill.is_fork:
        return ToolOutput(text, is_kept=True)
    run = subagents.add_run(skill.agent, f"/{skill.name}", subagents.session.budget)
    return subagents.run_agent(run, text, _limit_tools(skill, context))


def _limit_tools(skill: Skill, context: ToolContext) -> ToolContext:
    return context.add_limit(f"the skill /{skill.name}", skill.tools)
