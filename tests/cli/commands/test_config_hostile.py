"""A hostile config.yaml, met by a real process: one line, exit 1, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standing import stand
from tests.conftest import Cub
from tests.project.hostile import HOSTILE

DEADLY = [
    "a bomb of aliases",
    "open brackets",
    "10 MB",
    "a tab for an indent",
    "a key twice",
    "no number",
    "a merge",
    "8 bits",
    "NUL",
    "a tag",
    "two documents",
]


@pytest.mark.parametrize("name", DEADLY)
@pytest.mark.parametrize(
    "command", ["update", pytest.param("config set placement top", marks=pytest.mark.thorough)]
)
def test_it_is_one_line_and_nothing_is_written(
    project: Path, cub: Cub, name: str, command: str
) -> None:
    data, said = HOSTILE[name]
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_bytes(data)
    before = stand(project)
    result = cub(*command.split())
    assert (result.code, result.out) == (1, "")
    error, *more = result.err.splitlines()
    assert error.startswith(f"error: .cub/config.yaml{said}")
    assert [line.partition(" ")[0] for line in more] in ([], ["hint:"])
    assert {**stand(project), ".cub": before[".cub"]} == before


def test_unknown_keys_are_warnings_at_any_depth(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("mapp: 1\nrun:\n  model: y\n  modle: x\n")
    result = cub("config", "show")
    assert result.code == 0
    assert result.err.splitlines() == [
        "warning: .cub/config.yaml:1: unknown key 'mapp'",
        "hint: did you mean 'map'?",
        "warning: .cub/config.yaml:4: unknown key 'run.modle'",
        "hint: did you mean 'run.model'?",
    ]
