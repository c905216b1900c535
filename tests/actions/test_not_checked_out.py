"""Files that git has and this checkout has not: no command writes as if there were none."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.managed_files import CONSTITUTION, MAP, RUNLOOP
from cub.actions.repair import make_repair_report
from cub.actions.tasks.stores import open_stores
from cub.errors import CubError
from cub.project.config import CONFIG_FILE
from cub.project.project import Project
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.actions.helpers import change, init, remove, rows, update, write
from tests.actions.repairs import repair
from tests.actions.reviews import commit
from tests.actions.targets import AGENTS, CLAUDE, warned
from tests.conftest import git, tree
from tests.edit.broken import END

NESTED = "packages/api/AGENTS.md"


def sparse(root: Path, path: str) -> None:
    git(root, "sparse-checkout", "set", "--no-cone", "/*", f"!/{path}")


def skipped(root: Path, path: str) -> None:
    git(root, "update-index", "--skip-worktree", path)
    (root / path).unlink()


def assumed(root: Path, path: str) -> None:
    git(root, "update-index", "--assume-unchanged", path)
    (root / path).unlink()


def prefixed(root: Path, path: str) -> None:
    git(root, "update-index", "--index-version", "4")
    sparse(root, path)


def split_index(root: Path, path: str) -> None:
    git(root, "update-index", "--split-index")
    sparse(root, path)


WAYS = {
    "sparse checkout": sparse,
    "skip-worktree": skipped,
    "assume-unchanged": assumed,
    "an index with short names": prefixed,
    "an index in two files": split_index,
}


def committed(root: Path, **files: str) -> None:
    for path, text in files.items():
        write(root, path, text)
    commit(root)


def kept(root: Path) -> dict[str, bytes]:
    """All files but caches."""
    return {path: data for path, data in tree(root).items() if "/cache/" not in path}


def refusal(call: Callable[[], object]) -> CubError:
    with pytest.raises(CubError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", [AGENTS, CLAUDE])
def test_an_instruction_file_that_git_keeps_back_is_not_written_anew(
    project: Path, path: str, way: str
) -> None:
    committed(project, **{path: "Mine.\n", "other.txt": "x\n"})
    WAYS[way](project, path)
    before = tree(project)
    error = refusal(lambda: init(project))
    assert (error.where, "keeps it out of this checkout" in error.message) == (path, True)
    assert error.details[0].endswith(f" {path}")
    assert tree(project) == before
    # What the hint says is the way out, word by word.
    command = error.hint.split("`")[1]
    for words in command.split(" && "):
        git(project, *words.split()[1:])
    assert (project / path).read_text() == "Mine.\n"
    init(project)
    assert (project / path).read_text().startswith("Mine.\n")


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_a_change_that_git_is_told_not_to_show_is_said(project: Path, flag: str) -> None:
    committed(project, **{AGENTS: "Mine.\n", CLAUDE: "Mine.\n"})
    git(project, "update-index", f"--{flag}", AGENTS)
    words = f"git hides this change: the file is marked {flag}"
    plan = init(project)
    assert [path for path, message in warned(plan) if message == words] == [AGENTS]
    assert git(project, "status", "--short", AGENTS) == ""
    assert not warned(init(project))
    assert (AGENTS, words) in warned(remove(project))
    (warning,) = (one for one in init(project).warnings if one.message == words)
    git(project, *warning.hint.split("`")[1].split()[1:])
    assert git(project, "status", "--short", AGENTS) == f" M {AGENTS}\n"
    assert words not in dict(warned(remove(project))).values()


def test_a_repair_says_so_too(bakery: Path) -> None:
    committed(bakery)
    git(bakery, "update-index", "--skip-worktree", AGENTS)
    change(bakery / AGENTS, END.encode(), b"")
    assert [path for path, _ in warned(repair(bakery))] == [AGENTS]


@pytest.mark.parametrize("command", [init, update, remove])
def test_each_command_that_edits_sections_refuses(
    project: Path, command: Callable[[Path], object]
) -> None:
    write(project, AGENTS, "Mine.\n")
    init(project)
    committed(project)
    sparse(project, AGENTS)
    before = tree(project)
    assert refusal(lambda: command(project)).where == AGENTS
    assert tree(project) == before
    assert rows(project)[AGENTS].state.startswith("unusable: git has this file")
    warnings = make_repair_report(Project.load(project)).warnings
    assert [warning.path for warning in warnings] == [AGENTS]


@pytest.mark.parametrize("path", [CONFIG_FILE, CONSTITUTION, MAP, RUNLOOP.path, ".cub/.gitignore"])
def test_a_file_of_the_project_s_settings_is_not_taken_for_none(project: Path, path: str) -> None:
    write(project, CONFIG_FILE, "map:\n  tokens: 300\n")
    write(project, "code.py", "def f():\n    return 1\n")
    init(project)
    write(project, CONSTITUTION, "Our own principles.\n")
    committed(project)
    git(project, "sparse-checkout", "set", "--no-cone", "/*", f"!{path}")
    before = kept(project)
    for command in (init, update):
        assert refusal(lambda command=command: command(project)).where == path  # type: ignore[misc]
    assert kept(project) == before


def test_a_folder_that_a_sparse_index_has_as_one_entry(project: Path) -> None:
    write(project, AGENTS, "Mine.\n")
    init(project)
    committed(project, **{"src/a.py": "x = 1\n"})
    git(project, "sparse-checkout", "set", "--cone", "--sparse-index", "src")
    assert not (project / ".cub").exists()
    error = refusal(lambda: update(project))
    assert (error.where, error.hint.split("`")[1]) == (CONSTITUTION, "git sparse-checkout add .cub")


def test_stores_that_git_keeps_back_get_no_first_line(project: Path) -> None:
    init(project)
    write(project, TASKS_FILE, "")
    committed(project, **{LEDGER_FILE: '{"v":1}\n'})
    git(project, "sparse-checkout", "set", "--no-cone", "/*", f"!{TASKS_FILE}", f"!{LEDGER_FILE}")
    stores = open_stores(Project.load(project), "me")

    def change() -> None:
        with stores.backend.transaction():
            pass

    for call in (stores.backend.read_tasks, change):
        assert refusal(call).where == TASKS_FILE
    assert refusal(lambda: stores.ledger.append_events({"ev": "note"})).where == LEDGER_FILE
    assert refusal(stores.ledger.require_writable).where == LEDGER_FILE


def test_a_nested_file_is_passed_over_by_update_and_not_created_by_init(project: Path) -> None:
    write(project, NESTED, "Rules of the API.\n")
    write(project, "packages/api/code.py", "x = 1\n")
    init(project, "packages/api")
    committed(project)
    for pattern, here in ((f"!/{NESTED}", True), ("!/packages/", False)):
        git(project, "sparse-checkout", "set", "--no-cone", "/*", pattern)
        plan = update(project)
        assert [path for path, words in warned(plan) if "not updated" in words] == [NESTED]
        assert not (project / NESTED).exists()
        if here:
            assert rows(project)[NESTED].state == "not in this checkout"
            assert refusal(lambda: init(project)).where == NESTED
        else:
            init(project)
        assert not (project / NESTED).exists()


def test_what_a_person_deleted_is_written_anew_with_a_word_on_how_to_get_it_back(
    project: Path,
) -> None:
    init(project)
    write(project, AGENTS, "Mine.\n")
    init(project)
    committed(project)
    (project / AGENTS).unlink()
    (project / CONSTITUTION).unlink()
    (told,) = (w for w in update(project).warnings if w.path == AGENTS)
    assert told.message == "this file is missing"
    assert told.hint.startswith("`git checkout -- AGENTS.md` brings it back")
    words = "git has this file, deleted here: a new one replaces it"
    assert [w for w in warned(init(project)) if w[1] == words] == [
        (AGENTS, words),
        (CONSTITUTION, words),
    ]
    assert "Mine" not in (project / AGENTS).read_text()
    git(project, "checkout", "--", AGENTS)
    assert (project / AGENTS).read_text().startswith("Mine.\n")


LOCKED = {
    "git-crypt": b"\0GITCRYPT\0\x12\xff\x00 ciphertext",
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n",
    "git-annex": b"/annex/objects/SHA256E-s3--ab.md\n",
}


@pytest.mark.parametrize(
    ("path", "filtered"),
    [
        pytest.param(
            path,
            filtered,
            marks=() if path == AGENTS or filtered == "git-crypt" else pytest.mark.thorough,
        )
        for path in (AGENTS, CLAUDE, CONFIG_FILE, CONSTITUTION, MAP, RUNLOOP.path)
        for filtered in LOCKED
    ],
)
def test_a_file_that_a_filter_keeps_locked_is_left_alone(
    project: Path, path: str, filtered: str
) -> None:
    write(project, "code.py", "def f():\n    return 1\n")
    init(project)
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_bytes(LOCKED[filtered])
    before = kept(project)
    for command in (init, update):
        error = refusal(lambda command=command: command(project))  # type: ignore[misc]
        assert (error.where, filtered in error.message) == (path, True)
        assert "then run the command again" in error.hint
    assert kept(project) == before


@pytest.mark.parametrize("filtered", LOCKED)
def test_no_line_is_added_to_locked_stores(project: Path, filtered: str) -> None:
    for path in (TASKS_FILE, LEDGER_FILE):
        write(project, path, "")
        (project / path).write_bytes(LOCKED[filtered])
    stores = open_stores(Project.load(project), "me")
    assert filtered in refusal(stores.backend.read_tasks).message
    assert filtered in refusal(lambda: stores.ledger.append_events({"ev": "note"})).message
    assert (
        (project / TASKS_FILE).read_bytes()
        == (project / LEDGER_FILE).read_bytes()
        == LOCKED[filtered]
    )


def test_text_that_only_begins_like_a_pointer_is_text(project: Path) -> None:
    text = "version https://git-lfs.github.com/spec/v1\n" + "Mine.\n" * 200
    write(project, AGENTS, text)
    init(project)
    assert (project / AGENTS).read_text().startswith(text)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script as a program")
def test_where_git_gives_no_answer_nothing_is_missing(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(project, **{"other.txt": "x\n"})
    program, asked = tmp_path / "bin" / "git", tmp_path / "asked"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    here = Project.load(project).tree
    assert here.find_missing(AGENTS) is here.find_missing(CONFIG_FILE) is None
    assert here.find_missing("other.txt") is None
    assert asked.exists()
