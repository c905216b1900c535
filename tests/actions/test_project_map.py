"""The map as a file of the project: installed, left alone, refreshed, and taken away again.

A person's line in it is kept in a backup; a merge of two maps of cub's has none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.init_update import plan_init, plan_update
from cub.actions.project_map import MapOptions, render_map_file
from cub.edit.file_header import add_file_header
from cub.edit.plan import Plan
from cub.errors import NewerVersionError
from cub.project.project import Project
from cub.tokens import estimate_tokens
from tests.actions.helpers import body, init, remove, settled, update, write
from tests.actions.reviews import commit
from tests.conftest import git, tree

MAP, REFERENCE = ".cub/map.md", "@.cub/map.md"
OURS, BASE, MIDDLE, THEIRS = b"<<<<<<< HEAD\n", b"||||||| 1a2b3c4\n", b"=======\n", b">>>>>>> b\n"
MINE = b"Ask Ada before you touch the oven.\n"
CACHES = {".cub/cache/facts.jsonl", ".cub/cache/map.json"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")


def write_source(root: Path) -> Path:
    """Write something to map."""
    files = {
        "src/oven.py": "def heat(degrees: int) -> int:\n    return degrees\n",
        "src/shop.py": "from oven import heat\n\nheat(200)\n",
    }
    for path, text in files.items():
        os.utime(write(root, path, text), (10**9, 10**9))  # the facts of a new file aren't kept
    return root


@pytest.fixture
def source(project: Path) -> Path:
    """A project that has something to map, without cub."""
    return write_source(project)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project with its map; to be copied."""
    root = tmp_path_factory.mktemp("code").resolve() / "project"
    shutil.copytree(empty_repository, root)
    init(write_source(root))
    return root


@pytest.fixture
def code(project: Path, template: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copytree(template, project, dirs_exist_ok=True))


def backups(root: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / ".cub" / "backups").glob("*"))]


def paths(plan: Plan) -> list[str]:
    return [edit.path for edit in plan.edits]


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
    assert [edit.path for edit in plan.shared_edits] == [MAP]
    assert len(said(plan)) == 1


def test_conflicts_count_as_a_persons_lines_if_git_is_not_merging(code: Path) -> None:
    whole, small = (
        render_map_file(Project.load(code), MapOptions(symbols=said)).data for said in (True, False)
    )
    data = OURS + whole + MIDDLE + small + THEIRS
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
    assert [e.path for e in plan_update(Project.load(merging), check=True).shared_edits] == [MAP]
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


def test_it_comes_with_init_in_one_plan_and_the_sections_name_it(source: Path) -> None:
    plan = plan_init(Project.load(source))
    (edit,) = (edit for edit in plan.edits if edit.path == MAP)
    assert (edit.kind, edit.reason, edit.is_local) == ("create", "install: the project map", False)
    assert not (source / ".cub").exists()
    init(source)
    assert (source / MAP).read_bytes() == edit.after
    assert REFERENCE in body(source, "AGENTS.md")
    assert "def heat(degrees: int) -> int" in (source / MAP).read_text(encoding="utf-8")


def test_its_header_tells_its_own_length(code: Path) -> None:
    text = (code / MAP).read_text(encoding="utf-8")
    count = estimate_tokens(text)
    head = (
        f"<!-- cub file v1: project map, about {count} of 1500 tokens; `cub map` updates it -->\n"
    )
    assert text.startswith(head)


@pytest.mark.parametrize("files", [[], ["GEMINI.md", ".claude/skills/a/SKILL.md", ".cub/notes.md"]])
def test_a_project_without_files_gets_none_and_no_caches(project: Path, files: list[str]) -> None:
    for name in files:
        write(project, name, "Words.\n")
    init(project)
    assert not {path for path in tree(project) if path == MAP or path.startswith(".cub/cache")}
    assert REFERENCE not in body(project, "AGENTS.md")
    assert settled(project)


def test_its_header_tells_the_budget_that_is_asked_for(code: Path) -> None:
    write(code, ".cub/config.yaml", "map: {tokens: 3000}\n")
    (edit,) = plan_update(Project.load(code)).edits
    assert b"of 3000 tokens" in (edit.after or b"")
    assert (edit.before or b"").split(b"\n")[1:] == (edit.after or b"").split(b"\n")[1:]
    update(code)
    assert settled(code)


def test_a_second_run_writes_nothing(source: Path) -> None:
    init(source)
    assert set(tree(source)) >= CACHES
    before = {path: (source / path).stat().st_mtime_ns for path in tree(source)}
    assert init(source).is_empty
    assert update(source).is_empty
    assert before == {path: (source / path).stat().st_mtime_ns for path in tree(source)}


def test_caches_are_ignored_and_a_lost_or_broken_one_changes_nothing(code: Path) -> None:
    listed = git(code, "ls-files", "--others", "--exclude-standard").split()
    assert not [path for path in listed if "cache" in path]
    for data in (b"", b"{", b"\xff\x00", b"[[[[", b"null\n[]\n", b'["0"]\n{}\n'):
        for cache in (code / ".cub" / "cache").glob("*.json*"):
            cache.write_bytes(data)
        assert settled(code)


@posix
@pytest.mark.parametrize(
    ("target", "placement"),
    [
        ("README.md", "bottom"),
        ("docs/agents.md", "top"),
        pytest.param("README.md", "top", marks=pytest.mark.thorough),
        pytest.param("docs/agents.md", "bottom", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("text", ["", "# Bakery\n", "# Bakery\n\nBread for all who live in town."])
def test_a_file_behind_an_instruction_file_says_the_same_with_its_section(
    source: Path, target: str, placement: str, text: str
) -> None:
    write(source, target, text)
    write(source, ".cub/config.yaml", f"placement: {placement}\n")
    (source / "AGENTS.md").symlink_to(target)
    init(source)
    assert settled(source)
    assert "outside this section" not in (source / MAP).read_text(encoding="utf-8")


@posix
def test_it_may_lie_behind_a_link(source: Path) -> None:
    (source / "tools").mkdir()
    (source / ".cub").symlink_to("tools")
    init(source)
    assert REFERENCE in body(source, "AGENTS.md")
    assert settled(source)


def test_new_files_refresh_it_alone(code: Path) -> None:
    write(code, "ruby/till.rb", "class Till\nend\n")
    plan = update(code)
    assert [(edit.path, edit.reason) for edit in plan.edits] == [(MAP, "refresh: the project map")]
    assert plan.warnings == ()
    assert "Ruby" in (code / MAP).read_text(encoding="utf-8")


FORMATTED: list[Callable[[bytes], bytes]] = [
    lambda text: text.replace(b" -->\n<!--", b" -->\n\n<!--"),
    lambda text: text.replace(b"\n", b"\r\n"),
    lambda text: text.replace(b"\n", b"  \n"),
    lambda text: b"\xef\xbb\xbf" + text,
    lambda text: text.rstrip() + b"\n\n\n",
    bytes.rstrip,
]


@pytest.mark.parametrize("number", range(len(FORMATTED)))
def test_a_formatters_pass_is_no_edit(code: Path, number: int) -> None:
    file = code / MAP
    file.write_bytes(FORMATTED[number](file.read_bytes()))
    before = file.read_bytes()
    assert settled(code)
    write(code, "ruby/till.rb", "class Till\nend\n")
    plan = update(code)
    assert (paths(plan), said(plan)) == ([MAP], [])
    windows = b"\r\n" in before
    assert file.read_bytes().count(b"\r\n") == (file.read_bytes().count(b"\n") if windows else 0)


@pytest.mark.parametrize("run", [plan_init, plan_update])
@pytest.mark.parametrize("config", ["", "map: {tokens: 0}\n", "map: {exclude: ['*']}\n"])
def test_a_newer_cubs_is_refused(code: Path, run: Callable[[Project], Plan], config: str) -> None:
    write(code, ".cub/config.yaml", config)
    (code / MAP).write_bytes(add_file_header("# Another form\n", 99, "<!-- {} -->"))
    with pytest.raises(NewerVersionError, match="v99") as caught:
        run(Project.load(code))
    assert caught.value.where == MAP


def test_to_check_a_stale_one_is_a_warning_and_a_missing_one_a_change(code: Path) -> None:
    write(code, "ruby/till.rb", "class Till\nend\n")
    plan = plan_update(Project.load(code), check=True)
    assert (plan.edits, said(plan)) == ((), ["the map is older than the files"])
    (code / MAP).unlink()
    plan = plan_update(Project.load(code), check=True)
    assert (paths(plan), said(plan)) == ([MAP], [])


def test_to_check_one_of_another_budget_is_told_as_that(source: Path) -> None:
    write(source, "ruby/till.rb", "class Till\nend\n")
    init(source)
    made = render_map_file(Project.load(source), MapOptions(tokens=3000))
    (source / MAP).write_bytes(made.data)
    plan = plan_update(Project.load(source), check=True)
    (warning,) = plan.warnings
    assert plan.edits == ()
    assert warning.message == "the map was generated for 3000 tokens, but map.tokens is 1500"
    assert "`cub config set map.tokens 3000`" in warning.hint
    (edit,) = update(source).edits
    assert edit.reason == "refresh: the project map, for 1500 tokens instead of 3000"
    (source / MAP).write_bytes(made.data)
    write(source, ".cub/config.yaml", "map: {tokens: 3000}\n")
    assert plan_update(Project.load(source), check=True) == Plan()


def _nothing_to_map(root: Path) -> None:
    shutil.rmtree(root / "src")


def _none_wanted(root: Path) -> None:
    write(root, ".cub/config.yaml", "map: {tokens: 0}\n")


@pytest.mark.parametrize(
    ("change", "reason", "warned"),
    [
        (_nothing_to_map, "delete: there is nothing to map", ["the map is older than the files"]),
        (_none_wanted, "delete: map.tokens is 0", []),  # by a decision, and not by any commit
    ],
)
def test_an_older_one_goes_with_its_reason(
    code: Path, change: Callable[[Path], None], reason: str, warned: list[str]
) -> None:
    change(code)
    checked = plan_update(Project.load(code), check=True)
    assert (said(checked), checked.is_empty) == (warned, bool(warned))
    plan = update(code)
    assert [edit.reason for edit in plan.edits if edit.path == MAP] == [reason]
    assert REFERENCE not in body(code, "AGENTS.md")
    assert not (code / MAP).exists()
    assert settled(code)


@pytest.mark.parametrize("change", [_nothing_to_map, _none_wanted])
def test_an_edited_one_stays_where_none_takes_its_place(
    code: Path, change: Callable[[Path], None]
) -> None:
    change(code)
    with (code / MAP).open("ab") as file:
        file.write(b"Mine.\n")
    assert settled(code)


def test_remove_takes_it_and_the_caches(source: Path) -> None:
    before = tree(source)
    init(source)
    assert set(tree(source)) >= CACHES
    remove(source)
    assert tree(source).keys() - before.keys() == {".cub/constitution.md"}
    assert not (source / ".cub" / "cache").exists()


def test_remove_leaves_what_a_person_put_beside_the_caches(code: Path) -> None:
    write(code, ".cub/cache/notes.md", "Mine.\n")
    write(code, ".cub/cache/.facts.jsonl.x1y2.tmp", "[")
    remove(code)
    assert [path.name for path in (code / ".cub/cache").iterdir()] == ["notes.md"]


@posix
def test_caches_are_neither_written_nor_removed_behind_a_link(source: Path) -> None:
    (source / ".cub").mkdir()
    (source / ".cub/cache").symlink_to("../src")
    write(source, "src/map.json", "{}")
    before = tree(source / "src")
    init(source)
    assert settled(source)
    assert tree(source / "src") == before
    remove(source)
    assert tree(source / "src") == before
    assert (source / ".cub/cache").is_symlink()


def test_remove_leaves_one_that_was_edited(code: Path) -> None:
    with (code / MAP).open("ab") as file:
        file.write(b"Mine.\n")
    assert said(remove(code)) == ["kept, because it was edited"]
    assert (code / MAP).read_bytes().endswith(b"Mine.\n")


def test_a_part_is_drawn_alone_and_by_the_projects_patterns(code: Path) -> None:
    write(code, "src/gen/made.py", "def made() -> None: ...\n")
    write(code, "src/gen/used.py", "from made import made\n")
    write(code, ".cub/config.yaml", "map: {exclude: [/src/gen/]}\n")
    text = render_map_file(Project.load(code), MapOptions(folder="src")).data.decode()
    assert "heat" in text
    assert "src" not in text.partition("\n\n")[2]
    assert "gen" not in text.partition("\n\n")[2]
