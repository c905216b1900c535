"""The rule of Cursor's: a file that is cub's as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.edit.file_header import parse_file_header
from cub.errors import CubError
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import init, remove, rows, settled, update, write
from tests.actions.targets import (
    AGENTS,
    CLAUDE,
    CURSOR,
    warned,
)
from tests.conftest import tree


@pytest.fixture
def rule(project: Path) -> Path:
    init(project, targets=(CLAUDE, CURSOR))
    return project / CURSOR


def test_a_rule_begins_with_its_front_matter(rule: Path) -> None:
    text = rule.read_text()
    assert text.startswith("---\ndescription: Shared instructions for agents\nalwaysApply: true\n")
    assert text.count("\n---\n") == 1
    assert "BEGIN CUB" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_a_rule_is_reported_as_cubs(project: Path, rule: Path) -> None:
    row = rows(project)[CURSOR]
    assert (row.owner, row.state, row.clients) == ("cub", "current (v1)", ("Cursor",))
    assert (row.tokens or 0) > 100
    write(project, ".cub/map.md", "# Map\n")
    assert rows(project)[CURSOR].state == "stale"
    assert [edit.path for edit in update(project).shared_edits] == [CLAUDE, CURSOR]
    assert "@.cub/map.md" in rule.read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n", b"\r\n"),
        (b"---\n<!--", b"---\n\n<!--"),
        (b" -->\n", b" -->  \n\n"),
        (b"---\ndesc", b"\xef\xbb\xbf---\ndesc"),
        (b"- ", b"* "),
    ],
)
def test_a_formatters_pass_or_a_checkout_leaves_a_rule_current(
    project: Path, rule: Path, old: bytes, new: bytes
) -> None:
    data = rule.read_bytes()
    assert old in data
    rule.write_bytes(data.replace(old, new))
    assert settled(project)
    assert rows(project)[CURSOR].state == "current (v1)"
    remove(project)
    assert not rule.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"alwaysApply: true", b"alwaysApply: false"),
        (b"---\n<!--", b"globs: '*.py'\n---\n<!--"),
        (b"- Claim:", b"- Mine.\n- Claim:"),
        (b"---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n", b""),
    ],
)
def test_an_edited_rule_is_kept(
    project: Path, rule: Path, old: bytes, new: bytes, next_version: TemplateSet
) -> None:
    data = rule.read_bytes()
    assert old in data
    mine = data.replace(old, new)
    rule.write_bytes(mine)
    assert settled(project)
    assert rows(project)[CURSOR].state == "edited, kept"
    plan = update(project, templates=next_version)
    assert (CURSOR, "kept as you wrote it") in warned(plan)
    assert CURSOR not in {edit.path for edit in plan.edits}
    assert update(project, templates=next_version).is_empty
    assert (CURSOR, "kept, because it was edited") in warned(
        init(project, targets=(CLAUDE,), templates=next_version)
    )
    assert rule.read_bytes() == mine


def test_a_rule_of_somebody_else_s_is_kept(project: Path) -> None:
    write(project, CURSOR, "---\nalwaysApply: false\n---\nMine.\n")
    plan = init(project, targets=(AGENTS, CURSOR))
    assert warned(plan) == [(CURSOR, "kept as you wrote it")]
    assert "`cub init`" in plan.warnings[0].hint
    assert settled(project)
    assert warned(update(project)) == []
    (project / CURSOR).unlink()
    assert CURSOR in {edit.path for edit in init(project).edits}


def test_a_version_step_refreshes_a_rule(
    project: Path, rule: Path, next_version: TemplateSet
) -> None:
    plan = update(project, templates=next_version)
    reason = {edit.path: edit.reason for edit in plan.edits}[CURSOR]
    assert reason.startswith("refresh v1 → v2")
    found = parse_file_header(rule.read_bytes())
    assert found is not None
    assert (found.version, found.is_intact) == (2, True)
    assert update(project, templates=next_version).is_empty


def test_a_rule_of_a_newer_cub_stops_the_command(project: Path, rule: Path) -> None:
    rule.write_bytes(rule.read_bytes().replace(b"cub file v1", b"cub file v99"))
    before = tree(project)
    for command in (init, update, remove):
        with pytest.raises(CubError, match="newer cub") as caught:
            command(project)
        assert caught.value.where == CURSOR
    assert tree(project) == before
    assert rows(project)[CURSOR].state == "newer than this cub (v99)"


@pytest.mark.parametrize("purge", [False, True])
def test_remove_takes_a_rule_along(project: Path, rule: Path, purge: bool) -> None:
    remove(project, purge=purge)
    assert not rule.exists()
    assert tree(project).keys() == (
        set() if purge else {".cub/constitution.md", ".cub/config.yaml"}
    )


def test_a_rule_that_is_left_out_goes(project: Path, rule: Path) -> None:
    plan = init(project, targets=(CLAUDE,))
    assert not rule.exists()
    assert [edit.path for edit in plan.edits] == [CURSOR, ".cub/config.yaml"]
    assert warned(update(project)) == []
