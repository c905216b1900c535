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
        ("Bash", "git stash pop", "Bash(git stash pop)"),
        ("Bash", "pytest", "Bash(pytest *)"),
        ("Bash", "cd sub && pytest -x 2>&1 | tail", "Bash(pytest *)"),
        ("Bash", "timeout 60 pytest", "Bash(pytest *)"),
        ("Bash", "make && make test", "Bash(make *)"),
        ("Bash", "npm run lint -- --fix", "Bash(npm run lint *)"),
        ("Bash", "python -m pytest -q", "Bash(python -m pytest *)"),
        ("Bash", "python3 tools/gen.py x", "Bash(python3 tools/gen.py *)"),
        ("Bash", "uv run pytest", "Bash(uv run pytest *)"),
        ("Bash", "./scripts/check", "Bash(./scripts/check *)"),
        ("Bash", "CI=1 npm test", "Bash(CI=1 npm test *)"),
        ("Bash", "npx tsc --noEmit", "Bash(npx tsc *)"),
        ("Bash", ".venv/bin/python -m pytest", "Bash(.venv/bin/python -m pytest *)"),
        ("Bash", "bash scripts/x.sh", "Bash(bash scripts/x.sh *)"),
        ("Bash", "rm -rf build", "Bash(rm -rf build)"),
        ("Bash", "git add . && git commit", "Bash(git add . && git commit)"),
        ("Bash", "make > out", "Bash(make > out)"),
        (
            "Bash",
            "touch x; until test -f y; do sleep 1; done",
            "Bash(touch x; until test -f y; do sleep 1; done)",
        ),
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
        "rm x", "rm a.py", "cp a.py x", "sudo ls", "env pytest", "sh -c x", "python -c x",
        "python3", ".venv/bin/python x", "./venv/bin/python x", "node -e x",
        "uv run python -c x", "uv run sh x",
        "bundle exec ruby", "npx prettify", "curl x", "ssh x", "docker run x", "xargs grep x",
        "docker compose exec web sh", "git -c x=y log", "git config a b", "git -C x status",
        "git reset --hard", "git push", "sed -n 1p a", "awk '{print}' a", "eval x", "source x",
        "$x y", "FOO=1 ls", "cat ../a", "../x/y", "/opt/x", "f() { x; }", "x 'y", "export A=1",
        "psql x", "npm test && rm x", "mkdir x && cd x && git init", "npm --version",
    ],
)  # fmt: skip
def test_a_rule_for_what_is_not_known_is_for_the_same_line(
    context: ToolContext, command: str
) -> None:
    assert str(suggest_rule(TOOLS["Bash"], {"command": command}, context)) == f"Bash({command})"


@pytest.mark.parametrize(
    "command",
    [
        "", "rm *", "rm a?", "rm x[1]", "python - <<E\nx\nE", "echo \u202e", "a" * 101,
        "API_TOKEN=abcdefgh12345678abcd make",
        "curl -H 'Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz' x",
    ],
)  # fmt: skip
def test_a_line_with_wildcards_secrets_or_what_can_not_be_shown_gets_no_rule(
    context: ToolContext, command: str
) -> None:
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
