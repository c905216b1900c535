from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Decision, PermissionMode, Permissions
from cub.agent.skills import Skill, SkillSet
from cub.agent.tools.tool import ToolOutput, define_tool
from cub.agent.tools.toolset import TOOLS
from tests.agent.tools.context import make_context


class Nothing(NamedTuple):
    """The arguments of a tool that is never run."""


TASK = define_tool("Task", "", Nothing, lambda *_: ToolOutput(""), "agent",
                   subject="")  # fmt: skip


def decide(
    tmp_path: Path, texts: list[str], name: str, subject: str, mode: PermissionMode = "bypass"
) -> Decision:
    context = make_context(tmp_path).add_limit("the skill /x", tuple(texts))
    tool = {**TOOLS, "Task": TASK}[name]
    return Permissions(mode).decide(tool, {tool.subject: subject}, context)


@pytest.mark.parametrize(
    ("texts", "name", "subject", "is_allowed"),
    [
        (["Read"], "Read", "a.py", True),
        (["Read"], "Read", "/etc/hosts", True),
        (["Read"], "Grep", "a", False),
        (["Edit"], "Write", "a.py", False),
        (["Read", "Edit"], "Edit", "a.py", True),
        (["Bash"], "Bash", "ls", True),
        (["Bash(git:*)"], "Bash", "git status", True),
        (["Bash(git *)"], "Bash", "rm x", False),
        (["Bash(*)"], "Bash", "rm x", True),
        (["Read"], "Bash", "ls", False),
        (["Edit(docs/**)"], "Edit", "docs/a.md", True),
        (["Edit(docs/**)"], "Edit", "src/a.md", False),
        (["TodoWrite", "mcp__a__b", "WebFetch(*)"], "WebFetch", "https://a.example", False),
        ([], "Read", "a.py", False),
        (["Read"], "Task", "", False),
        (["Task"], "Task", "", True),
    ],
)
def test_a_limit_leaves_what_it_names(
    tmp_path: Path, texts: list[str], name: str, subject: str, is_allowed: bool
) -> None:
    answer, reason = decide(tmp_path, texts, name, subject)
    assert answer == ("allow" if is_allowed else "deny")
    assert is_allowed or reason.startswith("the skill /x may use only: ")


def test_a_limit_allows_nothing_by_itself(tmp_path: Path) -> None:
    assert decide(tmp_path, ["Bash(git *)"], "Bash", "git status", "ask").answer == "ask"
    assert decide(tmp_path, ["Edit"], "Edit", "a.py", "plan").answer == "deny"


def test_the_reason_names_what_is_left(tmp_path: Path) -> None:
    reason = decide(tmp_path, ["Read", "Bash(git:*)", "Agent"], "Edit", "a").reason
    assert reason == "the skill /x may use only: Read, Bash(git:*), Agent"
    assert decide(tmp_path, [], "Edit", "a").reason == "the skill /x may use only: no tools"


def test_a_call_is_within_all_limits(tmp_path: Path) -> None:
    context = make_context(tmp_path).add_limit("a", ("Read", "Edit")).add_limit("b", None)
    context = context.add_limit("c", ("Read", "Bash"))
    for name, answer in {"Read": "allow", "Edit": "deny", "Bash": "deny"}.items():
        values = {TOOLS[name].subject: "a.py"}
        assert Permissions("bypass").decide(TOOLS[name], values, context).answer == answer


def test_tools_that_read_may_read_the_files_of_skills(tmp_path: Path) -> None:
    root, folder = tmp_path / "project", Path(os.path.realpath(tmp_path)) / "home/skill"
    for path in (root, folder / "docs"):
        path.mkdir(parents=True)
    skills = SkillSet({"x": Skill("x", "", "", folder)})
    context = replace(make_context(root), skills=skills)

    def decide(name: str, permissions: Permissions, **values: str) -> str:
        return permissions.decide(TOOLS[name], values, context).answer

    asks = Permissions("ask")
    inside, outside = f"{folder}/docs/a.md", f"{folder}/../other/a.md"
    assert decide("Read", asks, file_path=inside) == "allow"
    assert decide("Glob", asks, pattern="**", path=f"{folder}/docs") == "allow"
    assert decide("Read", asks, file_path=outside) == "ask"
    assert decide("Read", asks, file_path=f"{folder}-2/a.md") == "ask"
    assert decide("Edit", Permissions("accept-edits"), file_path=inside) == "ask"
    denying = Permissions("ask", deny=[parse_rule("Read(a.md)"), parse_rule(f"Read({folder}/**)")])
    assert decide("Read", denying, file_path=inside) == "deny"


def test_rules_name_the_tools_of_a_session(tmp_path: Path) -> None:
    denying = Permissions("bypass", deny=[parse_rule("Task"), parse_rule("Skill")])
    assert denying.decide(TASK, {}, make_context(tmp_path)).answer == "deny"
    for mode in get_args(PermissionMode):
        assert Permissions(mode).decide(TASK, {}, make_context(tmp_path)).answer == "allow"
