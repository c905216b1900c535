from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standing import MINE, stand
from tests.conftest import Cub

LOOKING = [
    ("init", "--dry-run"),
    ("init", "--diff"),
    ("init", "--json"),
    ("init", "--diff", "--dry-run", "pkg"),
    ("update", "--check"),
    ("update", "--dry-run"),
    ("update", "--diff"),
    ("update", "--json"),
    ("update", "--check", "--diff", "--edited", "replace"),
    ("remove", "--dry-run"),
    ("remove", "--diff"),
    ("remove", "--json"),
    ("remove", "--dry-run", "--purge"),
    ("remove", "--dry-run", "--purge", "--yes"),
    ("status",),
    ("status", "--json"),
    ("--help",),
    ("--version",),
]


@pytest.fixture(params=["fresh", "current", "stale", "edited", "broken"])
def prepared(request: pytest.FixtureRequest, project: Path, cub: Cub) -> Path:
    """A project in one of the states that a command may meet."""
    (project / "pkg").mkdir()
    (project / "AGENTS.md").write_bytes(MINE)
    if request.param == "fresh":
        return project
    assert cub("init").code == 0
    agents = (project / "AGENTS.md").read_bytes()
    spoilt = {
        "stale": agents.replace(b"cub:digest", b"no digest"),
        "edited": agents.replace(b"- Find:", b"- Search:"),
        "broken": agents.replace(b"<!-- END", b"<!-- AND"),
    }
    (project / "AGENTS.md").write_bytes(spoilt.get(request.param, agents))
    return project


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_who_only_looks_leaves_everything_as_it_is(
    prepared: Path, cub: Cub, command: tuple[str, ...]
) -> None:
    before = stand(prepared)
    assert cub(*command).code in (0, 1)
    assert stand(prepared) == before


@pytest.mark.parametrize("command", ["init", "update"])
def test_a_second_run_leaves_everything_as_it_is(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    assert cub("init").code == 0
    before = stand(project)
    assert cub(command).code == 0
    # The folder of the lock alone sees a file come and go.
    assert {**stand(project), ".cub": before[".cub"]} == before
