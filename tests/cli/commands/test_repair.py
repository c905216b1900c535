from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.standing import MINE, NEWER, NO_END, stand
from tests.command_line import Result
from tests.conftest import Cub, git, tree
from tests.docs.test_json_reference import example, shape
from tests.edit.broken import END, broken

MARKER = END.encode()


@pytest.fixture
def whole(project: Path, cub: Cub) -> dict[str, bytes]:
    """A project with cub in it, and what is in its files."""
    (project / "AGENTS.md").write_bytes(MINE)
    (project / "CLAUDE.md").write_bytes(MINE)
    assert cub("init").code == 0
    return tree(project)


@pytest.fixture
def torn(project: Path, whole: dict[str, bytes]) -> Path:
    """The same project, both of its sections without END."""
    for name in ("AGENTS.md", "CLAUDE.md"):
        data = whole[name].replace(MARKER.rstrip() + b"\r\n", b"")
        assert data != whole[name]
        (project / name).write_bytes(data)
    return project


def _end(data: bytes) -> int:
    """The line in front of END, counted from 1."""
    return data[: data.index(MARKER.rstrip())].count(b"\n")


@pytest.mark.usefixtures("whole")
def test_where_nothing_is_broken_it_says_so(cub: Cub) -> None:
    result = cub("repair")
    assert (result.code, result.out, result.err) == (0, "", "No broken sections.\n")


def test_the_choices_of_all_files_are_shown_and_nothing_is_written(
    torn: Path, whole: dict[str, bytes], cub: Cub
) -> None:
    before = stand(torn)
    result = cub("repair")
    assert result.code == 1
    lines = result.out.splitlines()
    assert lines[0] == "AGENTS.md:5: BEGIN marker without an END marker"
    assert [line for line in lines if line[:2] in ("1.", "2.", "3.", "4.")] == [
        f"1. restore END below line {_end(whole['AGENTS.md'])}",
        "2. remove the marker in line 5, keep all text",
        f"3. restore END below line {_end(whole['CLAUDE.md'])}",
        "4. remove the marker in line 5, keep all text",
    ]
    assert result.err == "Nothing was changed. Run `cub repair --apply N` to apply choice N.\n"
    assert stand(torn) == before


def test_git_can_carry_out_a_diff_as_well(torn: Path, whole: dict[str, bytes], cub: Cub) -> None:
    first = json.loads(cub("repair", "--json").out)["choices"][0]
    patch = torn.parent / "first.patch"
    patch.write_text("\n".join([*first["diff"], ""]), newline="")
    git(torn, "apply", str(patch))
    assert (torn / "AGENTS.md").read_bytes() == whole["AGENTS.md"]


def test_one_choice_at_a_time_until_all_is_whole(
    torn: Path, whole: dict[str, bytes], cub: Cub
) -> None:
    first = cub("repair", "--apply", "1")
    assert first.code == 1
    assert (
        first.out == f"update  AGENTS.md  +1    restore END below line {_end(whole['AGENTS.md'])}\n"
    )
    assert "Still broken: CLAUDE.md:5: BEGIN marker without an END" in first.err
    second = cub("repair", "--apply", "1")
    assert (second.code, second.err) == (0, "No broken sections remain.\n")
    assert tree(torn) == whole


def test_what_was_edited_is_named_once_all_is_whole(torn: Path, cub: Cub) -> None:
    agents = torn / "AGENTS.md"
    edited = agents.read_bytes().replace(b"- Claim:", b"- Mine.\r\n- Claim:")
    agents.write_bytes(edited + MARKER + MARKER)
    assert "edited" not in cub("repair", "--apply", "3").err
    result = cub("repair", "--apply", "1")
    assert result.code == 0
    assert result.err.startswith("warning: AGENTS.md:5: the managed section was edited manually\n")


def test_a_file_may_be_named_and_its_numbers_stay(torn: Path, cub: Cub) -> None:
    result = cub("repair", "../CLAUDE.md", cwd=_folder(torn))
    assert result.code == 1
    assert result.out.startswith("CLAUDE.md:5: ")
    assert "\n3. restore END" in result.out
    assert cub("repair", "CLAUDE.md", "--apply", "3").out.startswith("update  CLAUDE.md")


def _folder(root: Path) -> Path:
    (root / "sub").mkdir()
    return root / "sub"


@pytest.mark.parametrize("number", ["0", "5", "x", "-1"])
def test_a_wrong_number_is_a_usage_error(torn: Path, cub: Cub, number: str) -> None:
    before = stand(torn)
    result = cub("repair", "--apply", number)
    assert (result.code, result.out) == (2, "")
    assert "hint: " in result.err
    assert {**stand(torn), ".cub": before[".cub"]} == before


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("name", ["nope.md", "..", "../AGENTS.md"])
def test_a_wrong_file_is_a_usage_error(cub: Cub, name: str) -> None:
    assert cub("repair", name).code == 2


def test_what_has_to_be_done_by_hand_is_said_with_its_place(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(broken("conflict that is torn", "intact"))
    result = cub("repair")
    assert result.code == 1
    assert result.err == ""
    assert result.out.splitlines() == [
        "AGENTS.md:3: this conflict must be resolved manually: cub cannot distinguish its sides",
        "  AGENTS.md:4: BEGIN v1",
        "  AGENTS.md:13: END",
        "  AGENTS.md:14: BEGIN v1",
        "  AGENTS.md:23: END",
        "  it ends in line 24: keep either side of the section whole",
    ]


def test_other_faults_are_named_with_their_way_on(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(NEWER)
    result = cub("repair")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("warning: AGENTS.md: this section was written by a newer cub")
    assert result.err.endswith("No broken sections.\n")


def test_the_shape_for_programs_is_that_of_the_reference(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_text("# A\n\n<!-- END CUB MANAGED SECTION -->\n")
    result = cub("repair", "--json")
    shown = example("Repair")
    assert (result.code, result.err) == (1, "")
    assert json.loads(result.out) == {**shown, "root": str(project)}
    assert shape(json.loads(result.out)) == shape(shown)


def test_for_programs_nothing_broken_is_two_empty_lists(project: Path, cub: Cub) -> None:
    result = cub("repair", "--json")
    assert result.code == 0
    empty: dict[str, object] = {"choices": [], "faults": [], "warnings": []}
    assert json.loads(result.out) == {"v": 1, "root": str(project), **empty}


def test_with_json_a_choice_is_planned_and_not_carried_out(
    torn: Path, whole: dict[str, bytes], cub: Cub
) -> None:
    before = stand(torn)
    result = cub("repair", "--apply", "1", "--json")
    (change,) = json.loads(result.out)["changes"]
    assert (result.code, change["path"], change["added"]) == (0, "AGENTS.md", 1)
    assert change["reason"] == f"restore END below line {_end(whole['AGENTS.md'])}"
    assert stand(torn) == before


def test_the_hint_of_other_commands_leads_here(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(NO_END)
    assert "hint: run `cub repair`, or delete line 3" in cub("init").err
    assert cub("repair", "--apply", "1").code == 0
    assert cub("init").code == 0


def test_after_a_merge_the_person_tells_git(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    _commit(project, lambda: cub("init"))
    git(project, "checkout", "-q", "-b", "topic")
    _commit(project, lambda: cub("remove"))
    git(project, "checkout", "-q", "-b", "main-line", "topic~1")
    (project / ".cub" / "map.md").write_text("# Map\n")
    _commit(project, lambda: cub("update"))
    merge = ["git", "merge", "-q", "topic"]
    assert subprocess.run(merge, cwd=project, capture_output=True, check=False).returncode == 1
    result = cub("repair", "--apply", "1")
    assert (result.code, result.err.splitlines()[-1]) == (
        0,
        "No broken sections remain. Run `git add AGENTS.md` to mark the conflict as resolved.",
    )


def _commit(root: Path, change: Callable[[], Result]) -> None:
    assert change().code == 0
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change")
