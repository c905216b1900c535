from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Permissions
from cub.agent.rule_suggestions import suggest_rule
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput
from cub.agent.tools.toolset import TOOLS
from cub.processes.command import StopRequest


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolContext]:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("suggestions"))) / "pro[j]ect"
    (root / "sub").mkdir(parents=True)
    stop = StopRequest()
    yield ToolContext(root, root, {"HOME": str(root.parent)}, stop)
    stop.close()


@pytest.mark.parametrize(
    ("tool", "subject", "rule"),
    [
        ("Bash", "git status", "Bash(git status *)"),
        ("Bash", "git commit -m 'a b'", "Bash(git commit *)"),
        ("Bash", "git stash pop", "Bash(git stash pop *)"),
        ("Bash", "pytest", "Bash(pytest *)"),
        ("Bash", "cd sub && pytest -x 2>&1 | tail", "Bash(pytest *)"),
        ("Bash", "timeout 60 pytest", "Bash(pytest *)"),
        ("Bash", "make && make test", "Bash(make *)"),
        ("Bash", "npm run lint -- --fix", "Bash(npm run lint *)"),
        ("Bash", "python -m pytest -q", "Bash(python -m pytest *)"),
        ("Bash", "python3 tools/gen.py x", "Bash(python3 tools/gen.py *)"),
        ("Bash", "uv run pytest", "Bash(uv run pytest *)"),
        ("Bash", "./scripts/check", "Bash(./scripts/check *)"),
        ("Edit", "src/deep/a.py", "Edit(src/deep/**)"),
        ("Write", "src/new.py", "Edit(src/**)"),
        ("Edit", "README.md", "Edit(./README.md)"),
        ("Edit", "a[1]/b.py", "Edit(a\\[1\\]/**)"),
        ("Edit", ".github/workflows/ci.yml", "Edit(./.github/workflows/ci.yml)"),
        ("Edit", "/etc/hosts", "Edit(/etc/hosts)"),
        ("Read", "/etc/hosts", "Read(/etc/hosts)"),
        ("WebFetch", "https://docs.example.com/a", "WebFetch(domain:docs.example.com)"),
        ("WebSearch", "x", "WebSearch"),
    ],
)
def test_the_rule_allows_the_call_that_was_asked_about(
    context: ToolContext, tool: str, subject: str, rule: str
) -> None:
    values = {TOOLS[tool].subject: subject}
    suggested = suggest_rule(TOOLS[tool], values, context)
    assert str(suggested) == rule
    permissions = Permissions("ask", [parse_rule(rule)])
    assert permissions.decide(TOOLS[tool], values, context).answer == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "sudo ls", "env pytest", "sh -c x", "bash scripts/x.sh", "python -c x", "python3",
        "node -e x", "uv run python -c x", "npx prettier", "curl x", "ssh x", "docker run x",
        "xargs grep x", "find . -exec x {} +", "find . -delete", "git -c x=y log", "git config a b",
        "git -C x status", "sed -n 1p a", "awk '{print}' a", "eval x", "source x", "$x y",
        "FOO=1 ls", "cat ../a",
        "git add . && git commit", "make > out", "f() { x; }", "x 'y", "(( x ))", "",
    ],
)  # fmt: skip
def test_nothing_is_suggested_that_would_allow_too_much(context: ToolContext, command: str) -> None:
    assert suggest_rule(TOOLS["Bash"], {"command": command}, context) is None


def test_nothing_is_suggested_for_what_a_rule_should_not_allow(context: ToolContext) -> None:
    assert suggest_rule(TOOLS["Edit"], {"file_path": ".git/config"}, context) is None
    assert suggest_rule(TOOLS["Open"], {"target": "a.html"}, context) is None
    assert suggest_rule(TOOLS["WebFetch"], {"url": "nonsense"}, context) is None


def test_a_search_outside_gets_a_rule_for_its_folder(context: ToolContext) -> None:
    values = {"pattern": "*", "path": "/etc"}
    assert str(suggest_rule(TOOLS["Glob"], values, context)) == "Read(/etc/**)"


def test_a_tool_from_outside_gets_a_rule_for_all_of_its_calls(context: ToolContext) -> None:
    tool = Tool("mcp__x__y", "", {}, lambda _: lambda _: ToolOutput(""), "unknown")
    assert str(suggest_rule(tool, {}, context)) == "mcp__x__y"
