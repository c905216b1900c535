"""The map as a file of the project: installed, left alone, refreshed, and taken away again."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.project_map import Wanted, make_map
from cub.actions.sync import plan_init, plan_update
from cub.edit.owned import seal
from cub.edit.plan import Plan
from cub.errors import NewerError
from cub.project.project import Project
from cub.tokens import estimate_tokens
from tests.actions.helpers import body, init, remove, settled, update, write
from tests.conftest import git, tree

MAP, REFERENCE = ".cub/map.md", "@.cub/map.md"
CACHES = {".cub/cache/facts.jsonl", ".cub/cache/map.json"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")


@pytest.fixture
def code(project: Path) -> Path:
    """A project that has something to map."""
    files = {
        "src/oven.py": "def heat(degrees: int) -> int:\n    return degrees\n",
        "src/shop.py": "from oven import heat\n\nheat(200)\n",
    }
    for path, text in files.items():
        os.utime(write(project, path, text), (10**9, 10**9))  # the facts of a new file aren't kept
    return project


def paths(plan: Plan) -> list[str]:
    return [edit.path for edit in plan.edits]


def said(plan: Plan, path: str = MAP) -> list[str]:
    return [warning.message for warning in plan.warnings if warning.path == path]


def test_it_comes_with_init_in_one_plan_and_the_sections_name_it(code: Path) -> None:
    plan = plan_init(Project.load(code))
    (edit,) = (edit for edit in plan.edits if edit.path == MAP)
    assert (edit.kind, edit.reason, edit.local) == ("create", "install: the project map", False)
    assert not (code / ".cub").exists()
    init(code)
    assert (code / MAP).read_bytes() == edit.after
    assert REFERENCE in body(code, "AGENTS.md")
    assert "def heat(degrees: int) -> int" in (code / MAP).read_text(encoding="utf-8")


def test_its_header_tells_its_own_length(code: Path) -> None:
    init(code)
    text = (code / MAP).read_text(encoding="utf-8")
    count = estimate_tokens(text)
    head = f"<!-- cub file v1: project map, about {count} of 1500 tokens; `cub map` renews it -->\n"
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
    init(code)
    write(code, ".cub/config.yaml", "map: {tokens: 3000}\n")
    (edit,) = plan_update(Project.load(code)).edits
    assert b"of 3000 tokens" in (edit.after or b"")
    assert (edit.before or b"").split(b"\n")[1:] == (edit.after or b"").split(b"\n")[1:]
    update(code)
    assert settled(code)


def test_a_second_run_writes_nothing(code: Path) -> None:
    init(code)
    assert set(tree(code)) >= CACHES
    before = {path: (code / path).stat().st_mtime_ns for path in tree(code)}
    assert init(code).empty
    assert update(code).empty
    assert before == {path: (code / path).stat().st_mtime_ns for path in tree(code)}


def test_caches_are_ignored_and_a_lost_or_broken_one_changes_nothing(code: Path) -> None:
    init(code)
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
    code: Path, target: str, placement: str, text: str
) -> None:
    write(code, target, text)
    write(code, ".cub/config.yaml", f"placement: {placement}\n")
    (code / "AGENTS.md").symlink_to(target)
    init(code)
    assert settled(code)
    assert "outside this section" not in (code / MAP).read_text(encoding="utf-8")


@posix
def test_it_may_lie_behind_a_link(code: Path) -> None:
    (code / "tools").mkdir()
    (code / ".cub").symlink_to("tools")
    init(code)
    assert REFERENCE in body(code, "AGENTS.md")
    assert settled(code)


def test_new_files_refresh_it_alone(code: Path) -> None:
    init(code)
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
    init(code)
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
    init(code)
    write(code, ".cub/config.yaml", config)
    (code / MAP).write_bytes(seal("# Another form\n", 99, "<!-- {} -->"))
    with pytest.raises(NewerError, match="v99") as caught:
        run(Project.load(code))
    assert caught.value.where == MAP


def test_to_check_a_stale_one_is_a_warning_and_a_missing_one_a_change(code: Path) -> None:
    init(code)
    write(code, "ruby/till.rb", "class Till\nend\n")
    plan = plan_update(Project.load(code), check=True)
    assert (plan.edits, said(plan)) == ((), ["the map is older than the files"])
    (code / MAP).unlink()
    plan = plan_update(Project.load(code), check=True)
    assert ([edit.path for edit in plan.shared], said(plan)) == ([MAP], [])


def test_to_check_one_of_another_budget_is_told_as_that(code: Path) -> None:
    write(code, "ruby/till.rb", "class Till\nend\n")
    init(code)
    made = make_map(Project.load(code), Wanted(tokens=3000))
    (code / MAP).write_bytes(made.data)
    plan = plan_update(Project.load(code), check=True)
    (warning,) = plan.warnings
    assert plan.edits == ()
    assert warning.message == "the map was drawn for 3000 tokens, and the configuration says 1500"
    assert "`cub config set map.tokens 3000`" in warning.hint
    (edit,) = update(code).edits
    assert edit.reason == "refresh: the project map, for 1500 tokens in place of 3000"
    (code / MAP).write_bytes(made.data)
    write(code, ".cub/config.yaml", "map: {tokens: 3000}\n")
    assert plan_update(Project.load(code), check=True) == Plan()


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
    init(code)
    change(code)
    checked = plan_update(Project.load(code), check=True)
    assert (said(checked), checked.empty) == (warned, bool(warned))
    plan = update(code)
    assert [edit.reason for edit in plan.edits if edit.path == MAP] == [reason]
    assert REFERENCE not in body(code, "AGENTS.md")
    assert not (code / MAP).exists()
    assert settled(code)


@pytest.mark.parametrize("change", [_nothing_to_map, _none_wanted])
def test_an_edited_one_stays_where_none_takes_its_place(
    code: Path, change: Callable[[Path], None]
) -> None:
    init(code)
    change(code)
    with (code / MAP).open("ab") as file:
        file.write(b"Mine.\n")
    assert settled(code)


def test_remove_takes_it_and_the_caches(code: Path) -> None:
    before = tree(code)
    init(code)
    assert set(tree(code)) >= CACHES
    remove(code)
    assert tree(code).keys() - before.keys() == {".cub/constitution.md"}
    assert not (code / ".cub" / "cache").exists()


def test_remove_leaves_what_a_person_put_beside_the_caches(code: Path) -> None:
    init(code)
    write(code, ".cub/cache/notes.md", "Mine.\n")
    write(code, ".cub/cache/.facts.jsonl.x1y2.tmp", "[")
    remove(code)
    assert [path.name for path in (code / ".cub/cache").iterdir()] == ["notes.md"]


@posix
def test_caches_are_neither_written_nor_removed_behind_a_link(code: Path) -> None:
    (code / ".cub").mkdir()
    (code / ".cub/cache").symlink_to("../src")
    write(code, "src/map.json", "{}")
    before = tree(code / "src")
    init(code)
    assert settled(code)
    assert tree(code / "src") == before
    remove(code)
    assert tree(code / "src") == before
    assert (code / ".cub/cache").is_symlink()


def test_remove_leaves_one_that_was_edited(code: Path) -> None:
    init(code)
    with (code / MAP).open("ab") as file:
        file.write(b"Mine.\n")
    assert said(remove(code)) == ["kept, because it is not as cub wrote it"]
    assert (code / MAP).read_bytes().endswith(b"Mine.\n")


def test_a_part_is_drawn_alone_and_by_the_projects_patterns(code: Path) -> None:
    write(code, "src/gen/made.py", "def made() -> None: ...\n")
    write(code, "src/gen/used.py", "from made import made\n")
    write(code, ".cub/config.yaml", "map: {exclude: [/src/gen/]}\n")
    text = make_map(Project.load(code), Wanted(part="src")).data.decode()
    assert "heat" in text
    assert "src" not in text.partition("\n\n")[2]
    assert "gen" not in text.partition("\n\n")[2]
