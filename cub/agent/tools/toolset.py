"""List the tools of the built-in agent, in the order in which the model reads them."""

from __future__ import annotations

from collections.abc import Mapping

from cub.agent.tools.bash import BASH
from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GREP
from cub.agent.tools.open_target import OPEN
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import Tool
from cub.agent.tools.web_fetch import WEB_FETCH
from cub.agent.tools.web_search import WEB_SEARCH
from cub.agent.tools.write_file import WRITE

# Those that each session makes for itself; rules can name them, too.
SESSION_TOOLS = ("Task", "Skill")
TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (READ, GLOB, GREP, EDIT, WRITE, BASH, WEB_FETCH, WEB_SEARCH, OPEN)
}
