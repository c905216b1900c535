from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.agent_profile import AgentProfile
from cub.agent_profiles.gemini import get_gemini_file_names
from cub.agent_profiles.opencode import OPENCODE_LIST
from cub.agent_profiles.profiles import AGENT_TITLES, NAMED_PROFILES, choose_agents
from cub.config_edit.string_list import read_string_list
from cub.errors import UsageError
from cub.files.file_tree import DiskTree, PlannedTree
from tests.project.memory_tree import MemoryTree

ONLY = ("GEMINI.md",)


def settings(root: Path, data: bytes) -> None:
    (root / ".gemini").mkdir()
    (root / ".gemini" / "settings.json").write_bytes(data)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"context": {"fileName": "AGENTS.md"}}', ("AGENTS.md", "GEMINI.md")),
        ('{"context": {"fileName": ["AGENTS.md", "X.md"]}}', ("AGENTS.md", "X.md", "GEMINI.md")),
        ('{"context": {"fileName": ["GEMINI.md", "A.md"]}}', ("GEMINI.md", "A.md")),
        ('{"context": {"fileName": [" ./A.md ", "", "A.md"]}}', ("A.md", "GEMINI.md")),
        ('// x\n{"context": {/* y */ "fileName": "A.md"}}', ("A.md", "GEMINI.md")),
        ("{}", ONLY),
        ("", ONLY),
        ('{"context": {}}', ONLY),
        ('{"contextFileName": "AGENTS.md"}', ONLY),
    ],
)
def test_gemini_loads_what_its_setting_names_and_its_own_file(
    tmp_path: Path, text: str, names: tuple[str, ...]
) -> None:
    settings(tmp_path, text.encode())
    assert get_gemini_file_names(AgentFiles(DiskTree(tmp_path))) == names


@pytest.mark.parametrize(
    "data",
    [
        b'{"context": {"fileName": ["AGENTS.md",]}}',
        b'\xef\xbb\xbf{"context": {"fileName": "AGENTS.md"}}',
        b'{"context": {"fileName": 3}}',
        b'{"context": "AGENTS.md"}',
        b'{"context": {"fileName": "AGENTS.md"}',
        b"[]",
        b"\xff\xfe",
    ],
)
def test_settings_that_gemini_refuses_have_no_say(tmp_path: Path, data: bytes) -> None:
    settings(tmp_path, data)
    assert get_gemini_file_names(AgentFiles(DiskTree(tmp_path))) == ONLY


def test_without_settings_gemini_loads_its_own_file(tmp_path: Path) -> None:
    assert get_gemini_file_names(AgentFiles(DiskTree(tmp_path))) == ONLY
    (tmp_path / ".gemini" / "settings.json").mkdir(parents=True)
    assert get_gemini_file_names(AgentFiles(DiskTree(tmp_path))) == ONLY


def test_settings_that_are_planned_count(tmp_path: Path) -> None:
    planned = {".gemini/settings.json": b'{"context": {"fileName": "A.md"}}'}
    assert get_gemini_file_names(AgentFiles(PlannedTree(DiskTree(tmp_path), planned))) == (
        "A.md",
        "GEMINI.md",
    )


@pytest.mark.parametrize(
    ("there", "path"),
    [
        ([], "opencode.json"),
        (["opencode.json"], "opencode.json"),
        (["opencode.jsonc"], "opencode.jsonc"),
        (["opencode.json", "opencode.jsonc"], "opencode.jsonc"),
    ],
)
def test_opencode_has_its_settings_in_the_file_that_is_there(
    tmp_path: Path, there: list[str], path: str
) -> None:
    for name in there:
        (tmp_path / name).write_bytes(b"{}")
    assert OPENCODE_LIST.locate(DiskTree(tmp_path)).path == path


@pytest.mark.parametrize("agent", NAMED_PROFILES, ids=lambda agent: agent.name)
def test_a_new_file_of_settings_can_be_read(tmp_path: Path, agent: AgentProfile) -> None:
    if row := agent.reading_list:
        assert read_string_list(row.new_file, row.locate(DiskTree(tmp_path))) is None


def test_all_names_the_agents_that_are_installed_or_used() -> None:
    empty, used = MemoryTree({}), MemoryTree({".aider.conf.yml": b"", ".codex/config.toml": b""})
    assert choose_agents(["aider", "claude", "aider"], empty, ()) == (("claude", "aider"), ())
    every = choose_agents(["all"], empty, [*AGENT_TITLES])
    assert every == (tuple(AGENT_TITLES), ())
    named = choose_agents(["gemini", "all"], used, ["claude"])
    assert named == (("claude", "codex", "gemini", "aider"), ("opencode", "pi"))
    assert choose_agents(["all"], empty, ()) == ((), tuple(AGENT_TITLES))
    assert choose_agents([], empty, [*AGENT_TITLES]) == ((), ())


def test_for_an_unknown_agent_the_known_ones_are_named() -> None:
    known = "all, claude, codex, gemini, opencode, aider, pi"
    with pytest.raises(UsageError, match=f"unknown agent 'amp'; choose from {known}"):
        choose_agents(["all", "amp"], MemoryTree({}), ())
