from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cub.agent_profiles.profiles import NAMED_PROFILES, find_profile, find_program_profile
from cub.agent_profiles.user_folders import TOOL_CACHES, UserFolder, prepare_user_folders
from tests.written_files import write_files


def prepare(
    home: Path,
    wanted: Iterable[UserFolder],
    environ: Mapping[str, str] | None = None,
    outside: Iterable[Path] = (),
) -> list[str]:
    found = prepare_user_folders(
        wanted, {"HOME": str(home), "PATH": "", **(environ or {})}, outside
    )
    return [path.relative_to(home).as_posix() for path in (*found.folders, *found.read_only)]


@pytest.mark.parametrize(
    ("agent", "environ", "folders"),
    [
        ("claude", {}, [".claude"]),
        ("claude", {"CLAUDE_CONFIG_DIR": "{home}/other"}, ["other"]),
        ("codex", {"CODEX_HOME": "{home}/c"}, ["c"]),
        ("gemini", {}, [".gemini"]),
        ("gemini", {"GEMINI_CLI_HOME": "{home}/g"}, ["g/.gemini"]),
        ("opencode", {"XDG_DATA_HOME": "{home}/data", "XDG_STATE_HOME": "relative"},
         [".config/opencode", "data/opencode", ".cache/opencode"]),
        ("pi", {}, [".pi/agent"]),
        ("pi", {"PI_CODING_AGENT_DIR": "~/p"}, ["p"]),
        ("aider", {}, [".aider"]),
    ],
)  # fmt: skip
def test_the_folders_of_an_agent_are_created(
    home: Path, agent: str, environ: dict[str, str], folders: list[str]
) -> None:
    environ = {name: value.replace("{home}", str(home)) for name, value in environ.items()}
    assert prepare(home, find_profile(agent).own_folders, environ) == folders
    assert all((home / folder).is_dir() for folder in folders)


def test_settings_that_are_there_stay_as_they_are(home: Path) -> None:
    names = ("settings.json", "hooks/a.sh", "projects/a.jsonl", ".credentials.json")
    write_files(home / ".claude", dict.fromkeys(names, ""))
    found = prepare(home, find_program_profile("/usr/bin/claude").own_folders)
    assert found == [".claude", ".claude/settings.json", ".claude/hooks"]


def test_links_are_followed_and_what_they_lead_out_to_is_read_only_anyway(home: Path) -> None:
    (home / "dotfiles/claude").mkdir(parents=True)
    (home / "dotfiles/settings.json").touch()
    (home / ".claude").symlink_to("dotfiles/claude")
    (home / ".claude/settings.json").symlink_to("../settings.json")
    assert prepare(home, find_program_profile("claude").own_folders) == ["dotfiles/claude"]


def test_caches_of_tools_that_are_installed_are_created(home: Path) -> None:
    (home / "bin").mkdir()
    for name in ("cargo", "npm"):
        (home / "bin" / name).touch(0o700)
    (home / "go/pkg").mkdir(parents=True)
    (home / ".bundle").mkdir()
    found = prepare(home, TOOL_CACHES, {"PATH": str(home / "bin")})
    assert found == [".cache", ".npm", ".cargo/registry", ".cargo/git", "go/pkg"]


def test_variables_name_other_caches(home: Path) -> None:
    places = {
        "XDG_CACHE_HOME": "x",
        "CARGO_HOME": "c",
        "npm_config_cache": "n",
        "UV_CACHE_DIR": "u",
    }
    for name in ("x/pre-commit", "x/pypoetry/virtualenvs", "x/pip", "c/registry", "n/_npx"):
        (home / name).mkdir(parents=True)
    environ = {name: str(home / value) for name, value in places.items()}
    environ["GOPATH"] = f"{home}/g:/usr/share/gocode"
    found = prepare(home, TOOL_CACHES, environ)
    folders = ["x", "u", "n", "c/registry"]
    assert found == [*folders, "x/pypoetry/virtualenvs", "x/pre-commit", "n/_npx"]


@pytest.mark.parametrize("value", ["", "/cache", "/project/cache", "/project"])
def test_a_cache_is_left_out_that_would_open_more(home: Path, value: str) -> None:
    (home / "cache/other").mkdir(parents=True)
    outside = (home / "project", home / "cache/other")
    assert prepare(home, TOOL_CACHES, {"XDG_CACHE_HOME": f"{home}{value}"}, outside) == []


def test_programs_and_settings_are_in_no_writable_folder(home: Path) -> None:
    names = (
        ".npmrc", ".cargo/bin/x", ".cargo/config.toml", ".gradle/init.d/x", ".m2/settings.xml",
        ".gradle/gradle.properties", "go/bin/x", ".local/share/pnpm/x", ".local/bin/x", ".bashrc",
        ".bundle/config", ".gitconfig", ".ssh/config", ".claude.json", ".claude/settings.json",
        ".codex/config.toml", ".gemini/settings.json", ".config/opencode/opencode.json",
        ".pi/agent/settings.json", ".pi/agent/extensions/x", ".aider.conf.yml",
        ".cache/pre-commit/x", ".cache/pypoetry/virtualenvs/x",
    )  # fmt: skip
    write_files(home, dict.fromkeys(names, ""))
    (home / "bin").mkdir()
    for name in {program for one in TOOL_CACHES for program in one.programs}:
        (home / "bin" / name).touch(0o700)
    wanted = [*TOOL_CACHES, *(one for agent in NAMED_PROFILES for one in agent.own_folders)]
    found = prepare_user_folders(wanted, {"HOME": str(home), "PATH": str(home / "bin")})
    assert len(found.folders) > 30
    for name in names:
        path = home / name
        is_open = any(map(path.is_relative_to, found.folders))
        assert not is_open or any(map(path.is_relative_to, found.read_only)), name
