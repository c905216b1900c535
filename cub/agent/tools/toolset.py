"""List the tools of the built-in agent, and choose those that can work in a session."""

from __future__ import annotations

from collections.abc import Mapping

from cub.agent.tools.bash import BASH
from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GREP
from cub.agent.tools.open_target import OPEN, can_open
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import Tool, ToolContext
from cub.agent.tools.web_fetch import WEB_FETCH
from cub.agent.tools.web_search import WEB_SEARCH
from cub.agent.tools.write_file import WRITE

# Those that each session makes for itself; rules can name them, too.
SESSION_TOOLS = ("Task", "Skill")
# In the order in which the model reads them.
TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (READ, GLOB, GREP, EDIT, WRITE, BASH, WEB_FETCH, WEB_SEARCH, OPEN)
}
RULE_NAMES = (*TOOLS, *SESSION_TOOLS)


def choose_tools(context: ToolContext, *, has_terminal: bool) -> Mapping[str, Tool]:
    """Return the tools that can work: one that can't costs the model a turn.

    `has_terminal` says whether a person is there, to whom something can be shown.
    """
    can_work = {
        WEB_SEARCH.name: bool(context.search_url),
        OPEN.name: has_terminal and can_open(context.environ),
    }
    return {name: tool for name, tool in TOOLS.items() if can_work.get(name, True)}
