"""What reaches each agent's model is what parity.json says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agents.parity_cells import AGENTS, CELLS, SHAPES, record_cell

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_cell_is_as_it_was_seen(agent: str, shape: str, tmp_path: Path) -> None:
    seen = json.loads(CELLS.read_text(encoding="utf-8"))["cells"][agent][shape]
    assert record_cell(agent, shape, tmp_path.resolve()) == seen
