"""What real agents keep of their texts when a session goes on, is compacted, or has a subagent."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.agents.agent_proof import AgentProof, prove_agent
from cub.actions.agents.session_moments import Moment, find_obstacle
from cub.actions.agents.text_marks import Arrival
from cub.agent_profiles.profiles import find_profile
from cub.project.project import Project
from cub.project.trust_store import TrustedCommands
from tests.agents.parity_cells import AGENTS, find_installed, make_path
from tests.cli.stories import write
from tests.conftest import git

pytestmark = [pytest.mark.agents, pytest.mark.thorough, pytest.mark.timeout(300)]
MOMENTS: tuple[Moment, ...] = ("resume", "compaction", "subagent")
TEXT = "# Bakery\n\nBake the bread before six in the morning.\n"


def prove(agent: str, after: Moment, folder: Path) -> AgentProof:
    installed = find_installed(agent)
    root = folder.resolve() / "bakery"
    root.mkdir()
    git(root, "init", "-q")
    write(root, "AGENTS.md", TEXT)
    write(root, "GEMINI.md", "@AGENTS.md\n")
    environ = {"PATH": make_path(agent), "HOME": str(folder)}
    return prove_agent(
        installed, Project.load(root), environ, trusted=TrustedCommands(), after=after
    )


@pytest.mark.parametrize("after", MOMENTS)
@pytest.mark.parametrize("agent", AGENTS)
def test_the_text_that_an_agent_loads_is_there_after_the_moment(
    agent: str, after: Moment, tmp_path: Path
) -> None:
    proof = prove(agent, after, tmp_path)
    if find_obstacle(find_profile(agent), after):
        assert (proof.is_tested, proof.is_kept) == (False, True)
        assert proof.problem.startswith("cub can't drive ")
        return
    assert (proof.problem, proof.is_tested, proof.is_kept) == ("", True, True), proof.sources
    (text,) = (one for one in proof.sources if one.path == "AGENTS.md")
    assert (text.interactive, text.run) == (Arrival(1, False), Arrival(1, False))
