"""Give a session of the built-in agent its sub-agents, with the session's models and tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

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


@dataclass(slots=True)
class _SessionStarter:
    """Start sessions of sub-agents below `session`; models that only they have are kept by name."""

    session: AgentSession
    settings: SubagentSettings
    subagents: Subagents = field(init=False)
    _models: dict[str, Model] = field(default_factory=dict)

    def start_session(
        self, agent: AgentType, context: ToolContext, budget: SessionBudget
    ) -> AgentSession:
        """Return a session for an agent in this context, within this budget."""
        toolbox, limits = self.session.toolbox, self.session.limits
        tools = choose_agent_tools(agent, toolbox.tools, context.depth)
        if TASK in tools:
            tools[TASK] = self.subagents.make_tool(budget)
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
            self._find_model(agent.model),
            self.session.small_model,
            toolbox,
            self.settings.render_system(agent.instructions),
            limits._replace(window=None) if agent.model else limits,
            budget=budget,
        )

    def _find_model(self, name: str) -> Model:
        if name in ("", SMALL_MODEL):
            return self.session.small_model if name else self.session.model
        if name not in self._models:
            self._models[name] = self.settings.load_model(name)
            self.session.resources.callback(self._models[name].close)
        return self._models[name]


def add_subagents(
    session: AgentSession, settings: SubagentSettings, stop: StopRequest
) -> Subagents:
    """Add the tool that starts sub-agents to a session, which ends them when it is closed.

    `stop` ends those in the background, and is not requested to stop a turn of the session.
    """
    starter = _SessionStarter(session, settings)
    types = {row.name: row for row in settings.types}
    child_stop = session.resources.enter_context(stop.open_child())
    subagents = starter.subagents = Subagents(types, starter.start_session, child_stop)
    session.resources.callback(subagents.close)
    session.toolbox = replace(
        session.toolbox,
        tools={**session.toolbox.tools, TASK: subagents.make_tool(session.budget)},
    )
    session.take_notices = subagents.take_notices
    return subagents
