"""What a command makes of a config.yaml: one line for a hostile one, and nothing is written."""

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
    "command",
    [
        "update",
        "init",
        "status",
        pytest.param("config set placement top", marks=pytest.mark.thorough),
    ],
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


def test_an_unknown_key_is_kept_and_warned_about(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    config = project / ".cub" / "config.yaml"
    config.write_bytes(b"# mine\nplacment: top\r\n\nzebra: {a: 1}\n")
    result = cub("init")
    assert result.code == 0
    assert "warning: .cub/config.yaml:2: unknown key 'placment'" in result.err
    assert "hint: did you mean 'placement'?" in result.err
    assert "warning: .cub/config.yaml:4: unknown key 'zebra'" in result.err
    assert config.read_bytes() == b"# mine\nplacment: top\r\n\nzebra: {a: 1}\n"


def test_placement_top_puts_new_sections_first(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("placement: top\n")
    (project / "AGENTS.md").write_bytes(b"---\nname: x\n---\n# Theirs\n")
    assert cub("init").code == 0
    text = (project / "AGENTS.md").read_text()
    assert text.startswith("---\nname: x\n---\n<!-- BEGIN CUB MANAGED SECTION v")
    assert text.endswith("# Theirs\n")
    assert cub("remove").code == 0
    assert (project / "AGENTS.md").read_bytes() == b"---\nname: x\n---\n# Theirs\n"
