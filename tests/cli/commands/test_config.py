from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.standing import stand
from tests.conftest import Cub

WRONG = {
    "targets: [AGENTS.md\nplacement: top\n": ":2:",
    "targets: [AGENTS.md]\n  placement: top\n": ":2:",
    "schema: 1\n\tplacement: top\n": ":2:1: ",
    "placement: top\nplacement: top\n": ":2:1: ",
    "- AGENTS.md\n": ":1:1: expected a mapping of keys to values",
    "just words\n": ":1:1: expected a mapping of keys to values",
    "a: &x 1\nb: *y\n": ":2:4: ",
    "schema: one\n": ":1:9: schema must be an integer",
    "schema: 99\n": ":1:9: schema: this project was written by a newer cub",
    "# x\nschema: true\n": ":2:9: schema must be an integer",
    "targets: AGENTS.md\n": ":1:10: targets must be a list of file names",
    "targets:\n  - AGENTS.md\n  - 3\n": ":2:3: targets must be a list of file names",
    "targets: [/etc/AGENTS.md]\n": ":1:11: targets[0] ('/etc/AGENTS.md') is not a path inside",
    "targets: [../AGENTS.md]\n": ":1:11: targets[0] ('../AGENTS.md') is not a path inside",
    "targets: ['a\\AGENTS.md']\n": ":1:11: targets[0] ('a\\\\AGENTS.md') is not a path inside",
    "targets: [README.md]\n": ":1:11: targets[0] ('README.md') is not a file that cub manages",
    "placement: middle\n": ":1:12: placement must be bottom or top, not 'middle'",
    "placement: [top]\n": ":1:12: placement must be",
    "run: fast\n": ":1:6: run must be a mapping",
    "inline: map\n": ":1:9: inline must be a list",
    "requires-cub: newest\n": ":1:15: requires-cub must be a version specifier, not 'newest'",
    "\n\nrequires-cub: '>=99'\n": ":3:15: requires-cub: this project needs cub >=99",
}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("command", ["init", "status"])
def test_an_error_names_line_and_column_and_nothing_is_written(
    project: Path, cub: Cub, text: str, command: str
) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text(text, encoding="utf-8")
    before = stand(project)
    result = cub(command)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: .cub/config.yaml{WRONG[text]}")
    assert {**stand(project), ".cub": before[".cub"]} == before


@pytest.mark.parametrize(
    "data",
    [b"a: \xff\n", b"a: \0\n", b"\xff\xfea\0", b"a: \x07\n"],
    ids=["8bit", "NUL", "16", "BEL"],
)
def test_what_is_no_text_is_a_known_error(project: Path, cub: Cub, data: bytes) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_bytes(data)
    result = cub("init")
    assert result.code == 1
    assert result.err.startswith("error: .cub/config.yaml:1:")


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


@pytest.mark.parametrize("text", ["", "\n", "# only words\n", "---\n", "{}\n", "schema: 1\n"])
def test_a_config_that_says_nothing_changes_nothing(project: Path, cub: Cub, text: str) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text(text)
    result = cub("init")
    assert (result.code, "warning" in result.err) == (0, False)
    assert (project / "AGENTS.md").exists()
    assert (project / "CLAUDE.md").exists()


def test_a_version_that_fits_is_no_news(project: Path, cub: Cub) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text('requires-cub: ">=0.0.1, <99"\n')
    result = cub("init")
    assert (result.code, "config" in result.err) == (0, False)


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
