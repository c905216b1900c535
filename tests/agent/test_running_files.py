from __future__ import annotations

import pytest

from cub.agent.running_files import find_running_part


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (".envrc", ".envrc"),
        ("deep/er/.ENVRC", ".ENVRC"),
        (".husky/pre-commit", ".husky/pre-commit"),
        (".githooks/x", ".githooks/x"),
        (".pre-commit-config.yaml", ".pre-commit-config.yaml"),
        (".mcp.json", ".mcp.json"),
        ("a/.claude/settings.local.json", ".claude/settings.local.json"),
        (".claude/agents/x.md", ".claude/agents/x.md"),
        (".codex/config.toml", ".codex/config.toml"),
        ("opencode.json", "opencode.json"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".gitlab-ci.yml", ".gitlab-ci.yml"),
        (".vscode/tasks.json", ".vscode/tasks.json"),
        (".devcontainer/devcontainer.json", ".devcontainer/devcontainer.json"),
        (".npmrc", ".npmrc"),
        (".gitmodules", ".gitmodules"),
        (".cargo/config.toml", ".cargo/config.toml"),
        ("gradle/wrapper/gradle-wrapper.jar", "gradle/wrapper/gradle-wrapper.jar"),
        ("src/sitecustomize.py", "sitecustomize.py"),
        (".bashrc", ".bashrc"),
    ],
)
def test_a_file_that_runs_uncalled_is_found(path: str, part: str) -> None:
    assert find_running_part(path) == part


@pytest.mark.parametrize(
    "path",
    [
        "Makefile", "package.json", "pyproject.toml", "setup.py", "conftest.py", "Dockerfile",
        "scripts/deploy.sh", "tox.ini", "src/a.py", "AGENTS.md", "CLAUDE.md", ".gitignore",
        ".gitattributes", ".github/CODEOWNERS", ".github/dependabot.yml", ".vscode/snippets.json",
        ".claude/rules/a.md", ".editorconfig", ".env", ".python-version", "docs/.envrc.md", "envrc",
        "Jenkinsfile.md", "",
    ],
)  # fmt: skip
def test_a_file_of_the_daily_work_is_none(path: str) -> None:
    assert find_running_part(path) == ""
