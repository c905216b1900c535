"""A person's line in the map is kept in a backup; a merge of two maps of cub's has none."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.project_map import Wanted, make_map
from cub.actions.sync import plan_update
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import init, settled, update, write
from tests.actions.reviews import commit
from tests.conftest import git

MAP = ".cub/map.md"
OURS, BASE, MIDDLE, THEIRS = b"<<<<<<< HEAD\n", b"||||||| 1a2b3c4\n", b"=======\n", b">>>>>>> b\n"
MINE = b"Ask Ada before you touch the oven.\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project that has something to map, and its map; to be copied."""
    root = tmp_path_factory.mktemp("code") / "project"
    shutil.copytree(empty_repository, root)
    write(root.resolve(), "src/oven.py", "def heat(degrees: int) -> int:\n    return degrees\n")
    init(root.resolve())
    return root


@pytest.fixture
def code(project: Path, template: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copytree(template, project, dirs_exist_ok=True))


def backups(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / ".cub" / "backups").glob("*"))]


def said(plan: Plan) -> list[str]:
    return [warning.message for warning in plan.warnings if warning.path == MAP]


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "a line below": lambda text: text + MINE,
    "a line above": lambda text: MINE + text,
    "a line in front of its front": lambda text: b"---\na: b\n---\n" + text,
    "a changed line": lambda text: text.replace(b"languages", b"tongues"),
    "a line less": lambda text: text.replace(b"# Project map\n", b""),
    "no header": lambda text: text.split(b"\n\n", 1)[1],
    "nothing left": lambda _: b"",
    "another file": lambda _: b"\xff\xfe\x00",
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_map_is_replaced_with_a_warning_and_a_backup(code: Path, edit: str) -> None:
    file = code / MAP
    fresh = file.read_bytes()
    file.write_bytes(EDITS[edit](fresh))
    edited = file.read_bytes()
    assert edited != fresh
    plan = update(code)
    assert file.read_bytes() == fresh
    assert backups(code) == [edited]
    (path,) = (edit.path for edit in plan.edits if edit.path != MAP)
    assert said(plan) == [f"it was edited; the old text is kept in {path}"]
    assert settled(code)
    file.write_bytes(edited)  # the same again: its backup is there already
    plan = update(code)
    assert [edit.path for edit in plan.edits] == [MAP]
    assert len(said(plan)) == 1
    assert backups(code) == [edited]


def test_to_check_an_edited_map_is_a_change(code: Path) -> None:
    with (code / MAP).open("ab") as file:
        file.write(MINE)
    plan = plan_update(Project.load(code), check=True)
    assert [edit.path for edit in plan.shared] == [MAP]
    assert len(said(plan)) == 1


def maps(code: Path) -> tuple[bytes, bytes]:
    """Two intact maps of one project."""
    whole, small = (
        make_map(Project.load(code), Wanted(symbols=said)).data for said in (True, False)
    )
    assert whole != small
    return whole, small


def test_a_file_that_is_two_maps_of_cubs_needs_no_backup(code: Path) -> None:
    ours, theirs = maps(code)
    for between in (b"", BASE + theirs):
        (code / MAP).write_bytes(OURS + ours + between + MIDDLE + theirs + THEIRS)
        plan = update(code)
        assert ((code / MAP).read_bytes(), backups(code), said(plan)) == (ours, [], [])


@pytest.mark.parametrize(
    "torn",
    [
        lambda ours, theirs: OURS + ours + MIDDLE + theirs + MINE + THEIRS,
        lambda ours, theirs: OURS + MINE + ours + MIDDLE + theirs + THEIRS,
        lambda ours, theirs: MINE + OURS + ours + MIDDLE + theirs + THEIRS,
        lambda ours, theirs: OURS + ours + MIDDLE + theirs + THEIRS + MINE,
        lambda ours, theirs: OURS + ours + MIDDLE + MINE + MIDDLE + theirs + THEIRS,
        lambda ours, theirs: OURS + ours + BASE + MINE + ours + MIDDLE + theirs + THEIRS,
        lambda ours, theirs: OURS + ours + theirs + THEIRS,
        lambda ours, theirs: OURS + ours + MIDDLE + theirs,
        lambda ours, theirs: ours + MIDDLE + theirs + THEIRS,
    ],
)
def test_a_line_that_nobody_can_prove_is_kept(
    code: Path, torn: Callable[[bytes, bytes], bytes]
) -> None:
    data = torn(*maps(code))
    (code / MAP).write_bytes(data)
    assert len(said(update(code))) == 1
    assert backups(code) == [data]


@pytest.fixture
def merging(code: Path) -> Path:
    """A merge in which git has mixed the lines of both maps, and left conflicts."""
    commit(code)
    git(code, "branch", "other")
    for branch, path, text in (
        ("other", "lib/till.rb", "class Till\nend\n"),
        ("-", "go/scale.go", "package scale\n\nfunc Weigh() {}\n"),
    ):
        git(code, "checkout", "-q", branch)
        write(code, path, text)
        git(code, "add", "-A")
        update(code)
        commit(code)
    with pytest.raises(subprocess.CalledProcessError):  # what is left is for a person
        git(code, "merge", "-q", "other")
    assert OURS in (code / MAP).read_bytes()
    return code


def test_a_merge_of_two_maps_is_settled_by_drawing_anew(merging: Path) -> None:
    assert [e.path for e in plan_update(Project.load(merging), check=True).shared] == [MAP]
    plan = update(merging)
    assert (said(plan), backups(merging)) == ([], [])
    assert {"Go", "Ruby"} <= set(
        (merging / MAP).read_text(encoding="utf-8").replace(",", " ").split()
    )
    assert settled(merging)


def test_a_side_taken_by_hand_needs_no_backup_while_git_is_merging(merging: Path) -> None:
    lines = (merging / MAP).read_bytes().splitlines(keepends=True)
    taken = [line for line in lines if line not in (OURS, MIDDLE) and line[:7] != b">>>>>>>"]
    (merging / MAP).write_bytes(b"".join(taken))
    assert (said(update(merging)), backups(merging)) == ([], [])


def test_a_persons_line_in_a_merge_is_kept(merging: Path) -> None:
    data = (merging / MAP).read_bytes().replace(MIDDLE, MINE + MIDDLE, 1)
    (merging / MAP).write_bytes(data)
    assert len(said(update(merging))) == 1
    assert backups(merging) == [data]
