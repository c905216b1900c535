"""Instruction files under names that agents or other systems take for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cub, git


@pytest.mark.parametrize("text", ["AGENTS.md", "AGENTS.md\n", "./AGENTS.md"])
def test_a_link_that_was_checked_out_as_a_file_is_named_with_the_way_out(
    project: Path, cub: Cub, text: str
) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    (project / "CLAUDE.md").write_text(text)
    git(project, "add", "-A")
    for done in (cub("status"), cub("init"), cub("status"), cub("doctor")):
        said = done.out + done.err
        assert f"CLAUDE.md:1: this file contains only the text `{text.strip()}`" in said
        assert "core.symlinks" in said or "cub doctor" in said
    assert (project / "CLAUDE.md").read_text() == text


def test_two_names_that_are_one_on_other_systems_are_named(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    if (project / "agents.md").exists():
        pytest.skip("this disk ignores case")
    (project / "agents.md").write_text("# Other\n")
    for done in (cub("status"), cub("init"), cub("status"), cub("doctor")):
        assert "agents.md: macOS and Windows can't keep this file beside AGENTS.md" in (
            done.out + done.err
        )


def test_init_says_that_it_wrote_nothing(project: Path, cub: Cub) -> None:
    (project / "agents.md").write_text("# Other\n")
    done = cub("init")
    assert done.code == 1
    assert "error: agents.md: the section goes in AGENTS.md" in done.err
    assert "nothing was written" in done.err
    assert "Wrote" not in done.out
    assert sorted(path.name for path in project.iterdir()) == [".git", "agents.md"]


def test_a_file_that_was_renamed_away_is_not_there(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    assert cub("init").code == 0
    (project / "AGENTS.md").rename(project / "CLAUDE.md")
    shown = cub("status")
    assert "there is an AGENTS.md" not in shown.err
    assert "AGENTS.md             cub        missing" in shown.out
    assert "AGENTS.md: this file is missing" in cub("update").err
