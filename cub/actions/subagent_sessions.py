"""Give a session of the built-in agent its sub-agents, with the session's models and tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from cub.agent.agent_types import AgentType
from cub.agent.loop import AgentSession
from cub.agent.model import Model
from cub.agent.session_budget import SessionBudget
from cub.agent.skill_tool import SKILL
from cub.agent.subagents import TASK, Subagents, choose_agent_tools
from cub.agent.tools.tool import ToolContext
from cub.processes.command import StopRequest

SMALL_MODEL = "small"


@dataclass(frozen=True, slots=True)
class SubagentSettings:
    """Hold the kinds of sub-agents, and what their sessions need besides that of their parent.

    `render_system` returns the system prompt for instructions; `load_model` raises CubError for a
    name that belongs to no provider.
    """

    types: Iterable[AgentType]
    render_system: Callable[[str], str]
    load_model: Callable[[str], Model]


def add_subagents(
    session: AgentSession, settings: SubagentSettings, stop: StopRequest
) -> Subagents:
    """Add the tool that starts sub-agents to a session, which ends them when it is closed.

    `stop` ends those in the background, and is not requested to stop a turn of the session.
    """
    models: dict[str, Model] = {}

    def start_session(
        agent: AgentType, context: ToolContext, budget: SessionBudget
    ) -> AgentSession:
        toolbox = session.toolbox
        tools = choose_agent_tools(agent, toolbox.tools, context.depth)
        if TASK in tools:
            tools[TASK] = subagents.make_tool(budget)
        tools.pop(SKILL, None)  # their system prompt has no list of skills
        context = context.add_limit(f"the agent {agent.name}", agent.tools)
        toolbox = replace(
            toolbox,
            tools=tools,
            context=replace(context, reads=context.reads.copy()),
            cache=toolbox.cache.copy(),
            rules=toolbox.rules.copy(),
        )
        return AgentSession(
            find_model(agent.model),
            session.small_model,
            toolbox,
            settings.render_system(agent.instructions),
            session.limits._replace(window=None) if agent.model else session.limits,
            budget=budget,
        )

    def find_model(name: str) -> Model:
        if name in ("", SMALL_MODEL):
            return session.small_model if name else session.model
        if name not in models:
            models[name] = settings.load_model(name)
            session.resources.callback(models[name].close)
        return models[name]

    types = {row.name: row for row in settings.types}
    subagents = Subagents(types, start_session, session.resources.enter_context(stop.open_child()))
    session.resources.callback(subagents.close)
    session.toolbox = replace(
        session.toolbox,
        tools={**session.toolbox.tools, TASK: subagents.make_tool(session.budget)},
    )
    session.take_notices = subagents.take_notices
    return subagents
