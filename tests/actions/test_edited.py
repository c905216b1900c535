"""A section that a person edited: nothing of theirs is lost, whichever way they choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.edit.plan import EditedPolicy
from cub.errors import CombinedError, CubError
from tests.actions.helpers import change, init, remove, section_of, settled, update, write
from tests.actions.targets import AGENTS, CLAUDE, COPILOT, GEMINI, warned
from tests.conftest import git, tree

NAMES = (AGENTS, CLAUDE, GEMINI, COPILOT)
MINE = "- Ask Ada before you touch the oven.\n"


@pytest.fixture
def edited(project: Path) -> Path:
    """A project whose sections have all been edited."""
    for name in NAMES:
        write(project, name, "A.\n")
    init(project, targets=NAMES)
    for name in NAMES:
        change(project / name, b"- Claim:", MINE.encode() + b"- Claim:")
    return project


@pytest.mark.parametrize("command", [init, update, remove])
def test_an_edit_stops_everything_and_is_shown(edited: Path, command: object) -> None:
    before = tree(edited)
    with pytest.raises(CombinedError) as caught:
        command(edited)  # type: ignore[operator]
    assert tree(edited) == before
    assert [error.where for error in caught.value.errors] == [f"{name}:3" for name in NAMES]
    for error in caught.value.errors:
        shown = [
            d for d in error.details if d.startswith(("+", "-")) and d[:3] not in ("+++", "---")
        ]
        assert shown == ["+" + MINE.rstrip()]
        assert "--edited move" in error.hint
        assert "--edited replace" in error.hint


@pytest.mark.parametrize("command", [init, update])
def test_move_puts_the_lines_below_the_section(edited: Path, command: object) -> None:
    command(edited, edited="move")  # type: ignore[operator]
    for name in NAMES:
        section = section_of(edited, name)
        assert section.author == "cub"
        assert (edited / name).read_bytes().endswith(b"SECTION -->\n\n" + MINE.encode())
    assert settled(edited)


def test_replace_keeps_the_old_section_in_backups(edited: Path) -> None:
    old = (edited / "AGENTS.md").read_bytes().partition(b"A.\n\n")[2]
    plan = update(edited, edited="replace")
    backups = [edit for edit in plan.edits if edit.path.startswith(".cub/backups/")]
    assert len(backups) == len(NAMES)
    assert (edited / backups[0].path).read_bytes() == old
    assert MINE.encode() not in (edited / "AGENTS.md").read_bytes()
    assert settled(edited)


@pytest.mark.parametrize("how", ["move", "replace"])
def test_remove_loses_nothing_either(edited: Path, how: EditedPolicy) -> None:
    remove(edited, edited=how)
    everything = b"".join(tree(edited).values())
    assert everything.count(MINE.encode()) == len(NAMES)
    assert (b"SECTION" in (edited / "AGENTS.md").read_bytes()) is False


def test_the_diff_is_the_users_edit_not_the_templates_drift(edited: Path) -> None:
    write(edited, ".cub/map.md", "# Map\n")
    with pytest.raises(CombinedError) as caught:
        update(edited)
    assert not any("Project map" in line for line in caught.value.errors[0].details)
    assert "as cub wrote it" in caught.value.errors[0].details[0]


def test_where_nobody_knows_the_original_the_diff_says_so(edited: Path) -> None:
    file = edited / "AGENTS.md"
    data = file.read_bytes()
    start = data.index(b"sha256-")
    file.write_bytes(data[:start] + b"sha256-0123456789abcdef" + data[start + 23 :])
    with pytest.raises(CubError) as caught:
        update(edited)
    assert "as cub would write it now" in caught.value.args[0] + str(caught.value.details)


def test_an_unknown_author_is_replaced_with_a_warning_and_a_backup(edited: Path) -> None:
    for name in NAMES:
        lines = (edited / name).read_bytes().splitlines(keepends=True)
        (edited / name).write_bytes(b"".join(line for line in lines if b"cub:digest" not in line))
    plan = update(edited)
    assert sum(edit.path.startswith(".cub/backups/") for edit in plan.edits) == len(NAMES)
    kept = [path for path, message in warned(plan) if "is kept in .cub/backups/" in message]
    assert kept == [*NAMES]
    assert settled(edited)


def test_lines_that_would_swallow_what_follows_are_not_moved(project: Path) -> None:
    write(project, "AGENTS.md", "A.\n")
    init(project)
    file = project / "AGENTS.md"
    data = file.read_bytes().replace(b"- Claim:", b"```\n- Claim:") + b"\nMore.\n"
    file.write_bytes(data)
    # The open fence hides END from Markdown: broken, and refused with its place.
    with pytest.raises(CubError, match="BEGIN marker without an END marker"):
        update(project, edited="move")
    assert file.read_bytes() == data


def test_backups_stay_hidden_from_git_after_remove(edited: Path) -> None:
    remove(edited, edited="replace")
    assert (edited / ".cub/.gitignore").exists()
    assert "backups" not in git(edited, "status", "--short", "-uall")


def test_move_settles_even_if_the_moved_line_changes_what_a_file_needs(edited: Path) -> None:
    for name in NAMES:
        change(edited / name, MINE.encode(), b"@AGENTS.md\n")
    update(edited, edited="move")
    assert settled(edited)
    assert b"Work in tasks" not in (edited / "CLAUDE.md").read_bytes()


def test_the_same_edit_with_other_line_ends_has_a_backup_of_its_own(edited: Path) -> None:
    before = (edited / "AGENTS.md").read_bytes()
    update(edited, edited="replace")
    (edited / "AGENTS.md").write_bytes(before.replace(b"oven.", b"oven.  "))
    update(edited, edited="replace")
    assert len(list((edited / ".cub/backups").iterdir())) == len(NAMES) + 1


def test_an_edit_that_is_no_text_is_shown_and_moved(edited: Path) -> None:
    file = edited / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"Ada", b"caf\xe9"))
    with pytest.raises(CombinedError):
        update(edited)
    update(edited, edited="move")
    assert b"caf\xe9" in file.read_bytes()


def test_purge_keeps_the_backup_that_this_removal_makes(edited: Path) -> None:
    before = (edited / "AGENTS.md").read_bytes()
    update(edited, edited="replace")
    (edited / "AGENTS.md").write_bytes(before)
    remove(edited, "replace", purge=True)
    assert MINE.encode() in b"".join(tree(edited / ".cub").values())


def test_offers_that_a_person_wrote_into_are_kept(project: Path) -> None:
    write(project, ".cub/runloop.md", "Mine.\n")
    init(project)
    offered = project / ".cub/runloop.md.new"
    offered.write_bytes(offered.read_bytes() + b"My notes.\n")
    remove(project)
    assert b"My notes." in offered.read_bytes()
