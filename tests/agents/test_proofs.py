"""In each shape of a project, a run gives each text once, and a proof sees that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.actions.agents.agent_proof import prove_agent
from cub.project.project import Project
from cub.project.trust_store import TrustedCommands
from tests.agents.parity_cells import AGENTS, find_installed
from tests.cli.stories import write
from tests.conftest import git

pytestmark = [pytest.mark.agents, pytest.mark.timeout(120)]
_BREAD = "# Bakery\n\nBake the bread before six in the morning.\n"
_LONG = "".join(f"- Bread of the kind {number} is baked in the night.\n" for number in range(900))
SHAPES = {
    "equal": {"AGENTS.md": _BREAD, "CLAUDE.md": _BREAD},
    "quote": {"AGENTS.md": _BREAD, "CLAUDE.md": f"{_BREAD}\nThe till is at the door.\n"},
    "import": {"AGENTS.md": f"{_BREAD}\n@docs/a.md\n", "docs/a.md": "Flour is from the mill.\n"},
    "short": {"AGENTS.md": "Use tabs.\n", "CLAUDE.md": "Be brief.\n", "a.py": "x = 1\n"},
    "nested": {"AGENTS.md": _BREAD, "src/AGENTS.md": "Sources are here.\n"},
    "local": {"AGENTS.md": _BREAD, "CLAUDE.local.md": "My till is the one at the door.\n"},
    "rules": {"AGENTS.md": _BREAD, ".claude/rules/a.md": "Flour is from the mill.\n"},
    "long": {"AGENTS.md": _LONG},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_each_text_arrives_once_in_a_run(agent: str, shape: str, tmp_path: Path) -> None:
    installed = find_installed(agent)
    root = tmp_path.resolve() / "bakery"
    root.mkdir()
    git(root, "init", "-q")
    for name, text in SHAPES[shape].items():
        write(root, name, text)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    folder = str(Path(os.environ["CUB_AGENTS"], agent))
    environ["PATH"] = f"{folder}/node_modules/.bin:{folder}/bin:{environ['PATH']}"
    proof = prove_agent(installed, Project.load(root), environ, trusted=TrustedCommands())
    assert proof.is_kept, proof
