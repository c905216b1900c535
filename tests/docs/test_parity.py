"""What was seen with the real agents is what cub says of them, and what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.actions.agents.agent_survey import InstalledAgent
from cub.harness.harness_registry import NATIVE_HARNESSES
from tests.agents.parity_cells import AGENTS, CELLS, SHAPES, count_known, iter_steps, make_project
from tests.docs.pages import DOCS
from tests.docs.parity import render

PAGE = DOCS / "reference" / "parity.md"
SEEN: dict[str, Any] = json.loads(CELLS.read_text(encoding="utf-8"))


def describe(agent: str) -> InstalledAgent:
    """The agent in the version that was seen."""
    kind = next(kind for kind in NATIVE_HARNESSES if kind.facts.name == agent)
    return InstalledAgent(kind(), "", SEEN["versions"][agent])


def test_the_page_is_what_was_seen() -> None:
    remedy = "python -m tests.docs.parity > docs/reference/parity.md"
    assert PAGE.read_text(encoding="utf-8") == render(), f"rewrite it with: {remedy}"


def test_each_agent_was_seen_in_each_project() -> None:
    assert list(SEEN["versions"]) == list(AGENTS)
    shapes = {name: list(cells) for name, cells in SEEN["cells"].items()}
    assert shapes == {name: list(SHAPES) for name in AGENTS}


@pytest.mark.parametrize("agent", AGENTS)
def test_each_text_reaches_an_agent_of_a_run_once(agent: str) -> None:
    for cell in SEEN["cells"][agent].values():
        wanted = dict.fromkeys([*cell["interactive"], "rules of a run", "task"], "1")
        assert cell["run"] == wanted


@pytest.mark.parametrize("agent", AGENTS)
def test_a_text_that_is_missing_has_a_remedy_beside_it(agent: str) -> None:
    for cell in SEEN["cells"][agent].values():
        assert bool(cell["fix"]) == (set(cell["interactive"].values()) != {"1"})


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "init --agent"])
def test_cub_says_of_each_agent_what_was_seen(shape: str, tmp_path: Path, home: Path) -> None:
    made = make_project(shape, "", tmp_path / "bakery", home)
    for agent in AGENTS:
        cell = SEEN["cells"][agent][shape]
        assert count_known(describe(agent), made) == cell["interactive"], agent


@pytest.mark.thorough
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_cub_names_the_steps_that_helped(
    agent: str, shape: str, tmp_path: Path, home: Path
) -> None:
    made = make_project(shape, agent, tmp_path / "bakery", home)
    cell = SEEN["cells"][agent][shape]
    assert count_known(describe(agent), made) == cell["interactive"]
    assert list(iter_steps(describe(agent), made)) == cell["fix"]
