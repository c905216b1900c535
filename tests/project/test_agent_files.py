"""Which files of a project agents execute, and what tells that one of them changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.project.executable_config import find_agent_files, iter_project_files
from cub.project.trust_store import TrustedCommands
from tests.cli.stories import write

SETTINGS = ".claude/settings.json"
HOOKS = '{"hooks": {}}'


def list_untrusted(root: Path, trusted: TrustedCommands) -> dict[str, str]:
    found = {file.path: trusted.explain_untrusted(file) for file in find_agent_files(root)}
    return {path: reason for path, reason in found.items() if reason}


def digest_files(root: Path) -> dict[str, str]:
    return {file.path: file.digest for file in find_agent_files(root)}


@pytest.mark.parametrize(
    "path",
    [
        SETTINGS,
        ".claude/settings.local.json",
        ".claude/hooks/a.sh",
        ".claude/skills/a/run.sh",
        ".mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".pi/extensions/a.ts",
        ".opencode/plugin/a.js",
        "opencode.json",
        ".aider.conf.yml",
        ".aider.model.settings.yml",
        ".agents/skills/a/SKILL.md",
        "packages/a/.claude/settings.json",
        ".Claude/settings.json",
        ".opencode/tool/a.ts",
        ".codex/rules/a.rules",
        ".opencode/skill/a/SKILL.md",
        ".gemini/skills/a/SKILL.md",
        ".codex/skills/a/SKILL.md",
        ".github/hooks.json",
        ".cursor/hooks.json",
        ".gemini/extensions/a/gemini-extension.json",
        ".claude/workflows/a.js",
        ".opencode/package.json",
    ],
)
def test_what_agents_execute_has_a_digest(tmp_path: Path, path: str) -> None:
    write(tmp_path, path, "{}")
    (found,) = digest_files(tmp_path).items()
    assert found[0] == path
    assert found[1].startswith("sha256-")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("AGENTS.md", "# A"),
        (".claude/rules/a.md", "# A"),
        (".agents/tasks/a.md", "!`make`"),
        (".cub/config.yaml", "run: {checks: [make]}"),
        (".githooks/pre-commit", "make"),
        (".claude/worktrees/a/.mcp.json", "{}"),
        ("node_modules/a/.mcp.json", "{}"),
        (".opencode/package.json", '{"dependencies": {"@opencode-ai/plugin": "1.0.150"}}\n'),
        (".opencode/bun.lock", "{}"),
        (".claude/rules/a-bootstrap", "make"),
        (".agents/tasks/deep/a.md", "!`make`"),
        (".gemini/settings.json", '{"context": {"fileName": ["AGENTS.md"]}}'),
        (".claude/settings.json", '{"claudeMdExcludes": ["a/CLAUDE.md", "/b/**"]}'),
        (".aider.conf.yml", "read:\n  - AGENTS.md\n"),
        ("opencode.json", '{"$schema": "https://opencode.ai/config.json", "instructions": []}'),
    ],
)
def test_nothing_else_needs_approval(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert find_agent_files(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".gemini/settings.json", '{"context": {"fileName": []}, "mcpServers": {}}'),
        (".gemini/settings.json", '{"context": {"fileName": [], "x": 1}}'),
        (".aider.conf.yml", "read: [a.md]\nlint-cmd: make\n"),
        ("opencode.json", '{"instructions": [1]}'),
        ("opencode.json", "no JSON"),
        ("opencode.json", "[]"),
        ("opencode.json", '{"instructions": ["https://example.org/a.md"]}'),
        (".aider.conf.yml", "read: ~/.ssh/id_rsa\n"),
        (".gemini/settings.json", '{"context": {"fileName": ["docs/../../a.md"]}}'),
        (".opencode/package.json", '{"dependencies": {"@opencode-ai/plugin": "file:./x"}}'),
        (
            ".opencode/package.json",
            '{"dependencies": {"@opencode-ai/plugin": "1.0"}, "scripts": {"postinstall": "x"}}',
        ),
    ],
)
def test_a_list_of_files_excuses_no_other_setting(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert list(digest_files(tmp_path)) == [path]


def test_changed_and_new_files_are_not_approved_but_removed_ones_do_not_matter(
    tmp_path: Path,
) -> None:
    write(tmp_path, SETTINGS, HOOKS)
    write(tmp_path, ".mcp.json", "{}")
    trusted = TrustedCommands(files=digest_files(tmp_path))
    assert list_untrusted(tmp_path, trusted) == {}
    (tmp_path / ".mcp.json").unlink()
    write(tmp_path, SETTINGS, HOOKS + " ")
    write(tmp_path, ".codex/config.toml", "")
    assert list_untrusted(tmp_path, trusted) == {
        SETTINGS: "changed since you trusted it",
        ".codex/config.toml": "not trusted",
    }


def test_a_link_has_the_digest_of_what_it_leads_to(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, "one.json", HOOKS)
    write(tmp_path, "same.json", HOOKS)
    write(tmp_path, "other.json", "{}")
    root.mkdir()
    digests = []
    for name in ("one.json", "same.json", "other.json"):
        (root / ".mcp.json").unlink(missing_ok=True)
        (root / ".mcp.json").symlink_to(f"../{name}")
        digests.append(digest_files(root)[".mcp.json"])
    assert digests[0] == digests[1] != digests[2]


def test_a_linked_folder_counts_with_all_its_files(tmp_path: Path) -> None:
    write(tmp_path, "shared/a/SKILL.md", "one")
    root = tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    (root / ".claude/skills").symlink_to("../../shared")
    before = digest_files(root)
    assert list(before) == [".claude/skills"]
    write(tmp_path, "shared/a/run.sh", "new")
    added = digest_files(root)
    write(tmp_path, "shared/a/run.sh", "other")
    changed = digest_files(root)
    assert len({*before.values(), *added.values(), *changed.values()}) == 3


def test_what_cannot_be_read_is_never_approved(tmp_path: Path) -> None:
    with (tmp_path / "opencode.json").open("wb") as file:
        file.truncate(65 << 20)
    found = find_agent_files(tmp_path)
    assert [(file.path, file.digest) for file in found] == [("opencode.json", "")]
    assert list_untrusted(tmp_path, TrustedCommands()) == {"opencode.json": "cannot be read"}


def test_a_link_to_nothing_can_be_approved_until_it_leads_somewhere(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").symlink_to("later.json")
    trusted = TrustedCommands(files=digest_files(tmp_path))
    assert list_untrusted(tmp_path, trusted) == {}
    write(tmp_path, "later.json", HOOKS)
    assert list(list_untrusted(tmp_path, trusted)) == [".mcp.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs a FIFO")
def test_a_fifo_blocks_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    assert digest_files(tmp_path) == {".mcp.json": ""}


@pytest.mark.parametrize("link", ["shared/a/run.sh", "shared/all"])
def test_a_link_in_a_linked_folder_counts_with_what_it_leads_to(tmp_path: Path, link: str) -> None:
    write(tmp_path, "other/run.sh", "one")
    (tmp_path / "shared/a").mkdir(parents=True)
    target = "other/run.sh" if link.endswith(".sh") else "other"
    (tmp_path / link).symlink_to(tmp_path / target)
    root = tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    (root / ".claude/skills").symlink_to("../../shared")
    before = digest_files(root)
    write(tmp_path, "other/run.sh", "two")
    assert before != digest_files(root)


def test_a_folder_that_leads_to_itself_is_never_approved(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/self").symlink_to(".")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/skills").symlink_to("../shared")
    assert digest_files(tmp_path) == {".claude/skills": ""}


def test_a_large_project_is_looked_at_from_its_root_on(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"a/{number}", "")
    write(tmp_path, "z.txt", "")
    write(tmp_path, "b/z", "")
    assert list(iter_project_files(tmp_path, 3))[:2] == ["z.txt", "a/0"]
    assert "b/z" not in list(iter_project_files(tmp_path, 3))


def test_files_above_the_project_count_up_to_the_top_of_its_repository(tmp_path: Path) -> None:
    """In a repository with several projects, agents also look in the folders above theirs."""
    for path in (
        ".mcp.json", "repo/.mcp.json", "repo/a/.claude/skills/x/SKILL.md",
        "repo/other/.mcp.json", "repo/a/src/.claude/settings.json",
    ):  # fmt: skip
        write(tmp_path, path, "{}")
    root = tmp_path / "repo/a/project"
    root.mkdir()
    assert digest_files(root) == {}
    write(tmp_path, "repo/.git/HEAD", "ref: refs/heads/main")
    assert list(digest_files(root)) == ["../.claude/skills/x/SKILL.md", "../../.mcp.json"]
