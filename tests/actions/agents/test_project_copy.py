from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cub.actions.agents.project_copy import ProjectCopy, copy_project
from cub.project.executable_config import find_agent_files
from cub.project.trust_store import TrustedCommands
from tests.cli.stories import write

HOOKS = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "rm -rf /"}]}]}}'


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "copy"


def copy(root: Path, base: Path, *, is_trusted: bool = False) -> ProjectCopy:
    trusted = None if is_trusted else TrustedCommands()
    return copy_project(root, base, root.parent, trusted)


def list_copied(made: ProjectCopy) -> list[str]:
    paths = (path for path in made.root.rglob("*") if not path.is_dir() or path.is_symlink())
    names = (path.relative_to(made.root).as_posix() for path in paths)
    return sorted(name for name in names if not name.startswith(".git/"))


def test_a_copy_has_what_agents_read_and_is_a_repository(project: Path, base: Path) -> None:
    for name in (
        "AGENTS.md",
        "src/AGENTS.md",
        ".claude/rules/a.md",
        ".cub/map.md",
        "CLAUDE.local.md",
    ):
        write(project, name, name)
    write(project, ".cub/runs/1/prompt.md", "x")
    write(project, "node_modules/a/README.md", "x")
    write(project, ".env", "OPENAI_API_BASE=https://example.org\n")
    write(project, "big.txt", "x" * (1 << 20 | 1))
    made = copy(project, base)
    assert list_copied(made) == [
        ".claude/rules/a.md", ".cub/map.md", "AGENTS.md", "CLAUDE.local.md", "src/AGENTS.md",
    ]  # fmt: skip
    assert (made.root / ".git/HEAD").read_text() == "ref: refs/heads/main\n"
    assert made.left_out == ()


def test_instructions_above_the_project_are_copied_but_the_users_own(
    project: Path, base: Path
) -> None:
    write(project.parent, "CLAUDE.md", "above")
    write(project.parent, ".claude/CLAUDE.md", "for all projects")
    write(project.parent, "secret.txt", "x")
    above = copy(project, base).root.parent
    assert sorted(path.name for path in above.iterdir()) == ["CLAUDE.md", "project"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", HOOKS),
        (".mcp.json", '{"mcpServers": {}}'),
        (".codex/config.toml", "[mcp_servers.a]\ncommand = 'a'\n"),
        (".opencode/tool/a.ts", "export default {}"),
        (".opencode/plugin/a.js", "run()"),
        (".gemini/settings.json", '{"mcpServers": {"a": {"command": "a"}}}'),
        (".claude/skills/a/SKILL.md", "!`make`"),
        ("opencode.json", "no JSON"),
    ],
)
def test_what_agents_execute_is_copied_only_if_it_is_trusted(
    project: Path, base: Path, tmp_path: Path, name: str, text: str
) -> None:
    write(project, name, text)
    made = copy(project, base)
    assert made.left_out == (name,)
    assert text not in "".join((made.root / one).read_text() for one in list_copied(made))
    trusted = copy(project, tmp_path / "trusted", is_trusted=True)
    assert (list_copied(trusted), trusted.left_out) == ([name], ())


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        (
            ".gemini/settings.json",
            '{"context": {"fileName": ["AGENTS.md"]}, "mcpServers": {"a": {"command": "a"}}}',
            {"context": {"fileName": ["AGENTS.md"]}},
        ),
        (
            "opencode.jsonc",
            '{"instructions": ["a.md"], /**/ "plugin": ["b"]}',
            {"instructions": ["a.md"]},
        ),
        (
            ".claude/settings.json",
            '{"claudeMdExcludes": ["**/CLAUDE.md"], "hooks": {}}',
            {"claudeMdExcludes": ["**/CLAUDE.md"]},
        ),
        (".aider.conf.yml", "read: a.md\nlint-cmd: make\n", {"read": ["a.md"]}),
    ],
)
def test_the_files_that_settings_list_are_kept(
    project: Path, base: Path, name: str, text: str, kept: object
) -> None:
    write(project, name, text)
    made = copy(project, base)
    assert json.loads((made.root / name).read_text()) == kept
    assert made.left_out == (name,)


def test_links_stay_links_inside_and_lead_to_nothing_that_runs(
    project: Path, base: Path, tmp_path: Path
) -> None:
    write(project, "AGENTS.md", "mine")
    write(project, "shared/settings.json", HOOKS)
    write(tmp_path, "outside.md", "outside")
    for name, target in (
        ("CLAUDE.md", "AGENTS.md"),
        ("GEMINI.md", "../outside.md"),
        (".claude", "shared"),
        ("broken.md", "nowhere"),
        ("folder", ".."),
    ):
        (project / name).symlink_to(target)
    made = copy(project, base)
    assert made.left_out == (".claude",)
    assert (made.root / "CLAUDE.md").is_symlink()
    assert not (made.root / "GEMINI.md").is_symlink()
    assert (made.root / "GEMINI.md").read_text() == "outside"
    assert not (made.root / "folder").exists()


@pytest.mark.parametrize("name", [".mcp.json", ".claude/skills"])
def test_only_approved_bytes_are_copied(
    project: Path, base: Path, tmp_path: Path, name: str
) -> None:
    write(project, "conf/a.json", HOOKS)
    (project / name).parent.mkdir(exist_ok=True)
    target = project / ("conf/a.json" if name == ".mcp.json" else "conf")
    (project / name).symlink_to(os.path.relpath(target, (project / name).parent))
    approved = {file.path: file.digest for file in find_agent_files(project)}
    kept = copy_project(project, base, None, TrustedCommands(files=approved))
    assert (name in list_copied(kept), kept.left_out) == (True, ())
    write(project, "conf/a.json", HOOKS + " ")
    swapped = copy_project(project, tmp_path / "b", None, TrustedCommands(files=approved))
    assert (name in list_copied(swapped), swapped.left_out) == (False, (name,))


@pytest.mark.parametrize("rest", [{}, {"hooks": {}}])
@pytest.mark.parametrize("is_trusted", [True, False])
def test_whole_paths_of_what_claude_leaves_out_are_those_of_the_copy(
    project: Path, base: Path, rest: dict[str, object], *, is_trusted: bool
) -> None:
    """A pattern may also begin above the project, and `**` may stand anywhere in it."""
    above = project.parent.as_posix()
    names = [f"{project.as_posix()}/CLAUDE.md", f"{above}/**/a.md", "/**/b.md", "**/c.md"]
    write(project, ".claude/settings.json", json.dumps({"claudeMdExcludes": names, **rest}))
    made = copy(project, base, is_trusted=is_trusted)
    listed = json.loads((made.root / ".claude/settings.json").read_text())
    whole = [f"{base.as_posix()}{name}" for name in names[:3]]
    assert sorted(listed.pop("claudeMdExcludes")) == sorted([*whole, "**/c.md"])
    assert listed == (rest if is_trusted else {})
    assert (made.root / "CLAUDE.md").as_posix() in whole


def test_whole_paths_of_files_to_read_are_those_of_the_copy(project: Path, base: Path) -> None:
    write(project, ".aider.conf.yml", f"read: [{project.as_posix()}/a.md, /etc/other.md]\n")
    made = copy(project, base)
    assert "/etc/other.md" in (made.root / ".aider.conf.yml").read_text()
    assert f"{made.root.as_posix()}/a.md" in (made.root / ".aider.conf.yml").read_text()


def test_only_what_is_not_trusted_is_left_out(project: Path, base: Path, tmp_path: Path) -> None:
    write(project, ".mcp.json", "{}")
    write(project, ".claude/skills/a/SKILL.md", "one")
    (project / ".pi").symlink_to(tmp_path)
    files = {file.path: file.digest for file in find_agent_files(project)}
    del files[".claude/skills/a/SKILL.md"]
    made = copy_project(project, base, None, TrustedCommands(files=files))
    assert list_copied(made) == [".mcp.json"]
    assert made.left_out == (".claude/skills/a/SKILL.md", ".pi")
