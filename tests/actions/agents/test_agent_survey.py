from __future__ import annotations

from pathlib import Path

import pytest

from cub import __version__
from cub.actions.agents.agent_survey import (
    AgentOverview,
    InstalledAgent,
    choose_agents,
    list_agents,
    survey_agents,
)
from cub.errors import UsageError
from cub.project.project import Project
from tests.actions.agents.fake_agents import install_fake_claude
from tests.cli.stories import write

NATIVE = ["claude", "codex", "gemini", "opencode", "aider", "pi"]


def look(project: Path, folder: Path) -> list[InstalledAgent]:
    return list_agents(Project.load(project), {"PATH": str(folder)})


def find(agents: list[InstalledAgent], name: str) -> InstalledAgent:
    return next(agent for agent in agents if agent.name == name)


def test_agents_are_listed_with_their_versions_or_how_to_install_them(
    project: Path, tmp_path: Path
) -> None:
    agents = look(project, install_fake_claude(tmp_path / "bin"))
    assert [agent.name for agent in agents] == [*NATIVE, "builtin"]
    claude, codex, *_, builtin = agents
    assert (builtin.title, builtin.problem, builtin.version) == ("cub code", "", __version__)
    assert (claude.title, claude.problem, claude.version) == ("Claude Code", "", "2.1.330")
    assert (codex.problem, codex.version) == ("codex is not in PATH", "")
    assert codex.harness.facts.installation == "npm install -g @openai/codex"


def test_only_the_agents_that_are_asked_for_are_started(project: Path, tmp_path: Path) -> None:
    environ = {"PATH": str(install_fake_claude(tmp_path / "bin"))}
    claude, codex = list_agents(Project.load(project), environ, ["codex"])[:2]
    assert (claude.problem, claude.version) == ("", "")
    assert codex.problem == "codex is not in PATH"


@pytest.mark.parametrize(("version", "is_too_old"), [("2.1.9", True), ("2.1.330", False)])
def test_an_old_version_is_known(
    project: Path, tmp_path: Path, version: str, *, is_too_old: bool
) -> None:
    agents = look(project, install_fake_claude(tmp_path / "bin", version=version))
    claude = find(agents, "claude")
    assert claude.harness.facts.is_outdated(claude.version) is is_too_old


def test_a_configured_agent_follows_and_nothing_is_known_of_it(
    project: Path, tmp_path: Path
) -> None:
    write(project, ".cub/config.yaml", "harnesses: {mine: {argv: [mine]}}\n")
    mine = look(project, tmp_path)[-1]
    assert (mine.name, mine.title, mine.problem) == ("mine", "mine", "mine is not in PATH")
    assert (mine.harness.facts.installation, mine.harness.facts.oldest_version) == ("", "")


def test_a_survey_counts_what_each_agent_reads(project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", "Bake bread before six in the morning.\n")
    overviews: dict[str, AgentOverview] = {
        one.agent.name: one for one in survey_agents(Project.load(project), {"PATH": str(tmp_path)})
    }
    codex, aider, builtin = (overviews[name] for name in ("codex", "aider", "builtin"))
    assert [source.times for source in builtin.sources] == [1]
    assert (codex.tokens, codex.fix) == (codex.sources[0].tokens, "")
    assert (aider.tokens, aider.fix) == (0, "cub init --agent aider")


def test_the_users_settings_count(project: Path, home: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", "Bake bread before six in the morning.\n")
    write(home, ".aider.conf.yml", "read: AGENTS.md\n")
    environ = {"PATH": str(tmp_path), "HOME": str(home)}
    *_, aider, _, _ = survey_agents(Project.load(project), environ)
    assert (aider.agent.name, aider.fix) == ("aider", "")


def test_an_agent_is_chosen_by_name_or_if_it_is_installed(project: Path, tmp_path: Path) -> None:
    agents = look(project, install_fake_claude(tmp_path / "bin"))
    assert [agent.name for agent in choose_agents(agents, ())] == ["claude", "builtin"]
    assert [agent.name for agent in choose_agents(agents, ["aider", "codex"])] == ["aider", "codex"]


@pytest.mark.parametrize(
    ("names", "message", "hint"),
    [
        (["cluade"], "unknown agent 'cluade'", "did you mean claude?"),
        (
            ["zebra"],
            "unknown agent 'zebra'",
            "choose from claude, codex, gemini, opencode",
        ),
        (["mine"], "cannot record what the agent 'mine' reads", ""),
    ],
)
def test_others_are_refused(
    project: Path, tmp_path: Path, names: list[str], message: str, hint: str
) -> None:
    write(project, ".cub/config.yaml", "harnesses: {mine: {argv: [mine]}}\n")
    with pytest.raises(UsageError) as caught:
        choose_agents(look(project, tmp_path), names)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)


def test_without_any_agent_nothing_can_be_proven(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no agent is installed"):
        choose_agents(look(project, tmp_path)[:-1], ())
