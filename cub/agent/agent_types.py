"""Describe the kinds of sub-agents that are there without any file."""

from __future__ import annotations

from typing import NamedTuple

_LOOK = ("Read", "Glob", "Grep")


class AgentType(NamedTuple):
    """Describe a kind of sub-agent, as the model that calls it and as the agent itself read it.

    `tools` are names and permission rules of those that it has, None for all. `model` is `small`,
    the name of a model, or "" for that of the agent that calls it.
    """

    name: str
    description: str
    instructions: str
    tools: tuple[str, ...] | None = None
    model: str = ""


GENERAL_PURPOSE = AgentType(
    "general-purpose",
    "Works on a task of several steps, with all tools.",
    "Do the whole task, and check what you did.",
)
BUILT_IN_AGENTS = (
    AgentType(
        "Explore",
        "Finds files and code, and answers questions about the repository, fast. It only reads.",
        "Find what is asked for in as few steps as possible. Answer with paths and lines, such as "
        "`src/a.py:12`.",
        _LOOK,
        "small",
    ),
    AgentType(
        "Plan",
        "Reads the code, and plans a change: steps, files, risks. It only reads.",
        "Read the code that the change is about, and answer with a plan: which files change, in "
        "which order and how, what can break, and how to check the result.",
        _LOOK,
    ),
    AgentType(
        "Bash",
        "Runs commands, and reports what they showed.",
        "Run the commands that the task needs. Answer with their exit codes and the "
        "part of their output that matters.",
        ("Bash",),
    ),
    GENERAL_PURPOSE,
)
