from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cub.git.branches import classify_head_move
from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import Snapshot, list_changes
from cub.git.take_snapshot import take_snapshot
from tests.conftest import git
from tests.git.checkouts import (
    checkout,
    failing,
    lines,
    save,
    state,
    write,
)

Agent = Callable[[Path], object]


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


def edits(top: Path) -> None:
    write(top, {"a.txt": "changed\n", "new/deep/n.txt": "n", "dirty.txt": "x", "mine.txt": "y"})
    (top / "run.sh").chmod(0o644)
    (top / "win.crlf").write_bytes(b"x\r\n")
    (top / "data.bin").write_bytes(b"\0\1")


def deletes(top: Path) -> None:
    shutil.rmtree(top / "sub")
    shutil.rmtree(top / "own")
    for name in ("a.txt", "link", "mine.txt", "dirty.txt", "win.crlf"):
        (top / name).unlink()


def turns_files_into_folders(top: Path) -> None:
    for name in ("a.txt", "mine.txt", "link"):
        (top / name).unlink()
        write(top, {f"{name}/x/y": "z"})


def turns_folders_into_files(top: Path) -> None:
    for name in ("sub", "own"):
        shutil.rmtree(top / name)
        write(top, {name: "z"})


def turns_folders_into_links(top: Path) -> None:
    (top.parent / "elsewhere").mkdir()
    for name in ("sub", "own"):
        shutil.rmtree(top / name)
        (top / name).symlink_to(top.parent / "elsewhere")


def swaps_links_and_files(top: Path) -> None:
    (top / "link").unlink()
    write(top, {"link": "a.txt"})
    (top / "a.txt").unlink()
    (top / "a.txt").symlink_to("run.sh")


def leaves_pipes(top: Path) -> None:
    (top / "a.txt").unlink()
    os.mkfifo(top / "a.txt")


def renames(top: Path) -> None:
    git(top, "mv", "a.txt", "z.txt")
    (top / "mine.txt").rename(top / "yours.txt")


def names_oddly(top: Path) -> None:
    for name in ("new\nline", "-dash", ":colon", ":(top)x", "sp ace", "tab\t", 'q"', "\udcff", "*"):
        write(top, {name: "odd", f"dir{name}/f": "odd"})


def stages(top: Path) -> None:
    edits(top)
    git(top, "add", "-A")
    write(top, {"a.txt": "once more\n"})


def forces_ignored_files_in(top: Path) -> None:
    git(top, "add", "-f", ".env", "build/out.log")


def stops_ignoring(top: Path) -> None:
    write(top, {".gitignore": "", "sub/.gitignore": "x"})
    git(top, "add", "-A")


def ignores_the_persons_files(top: Path) -> None:
    write(top, {".gitignore": "*\n", "mine.txt": "y", "dirty.txt": "y"})
    (top / "own/mine.txt").unlink()


def changes_how_files_are_written(top: Path) -> None:
    write(top, {".gitattributes": "*.txt eol=crlf\n", "sub/.gitattributes": "* eol=crlf\n"})
    write(top, {"sub/b.txt": "z\n", "a.txt": "z\n", "win.crlf": "z"})


def commits(top: Path) -> None:
    edits(top)
    save(top, "agent")


def commits_elsewhere(top: Path) -> None:
    git(top, "switch", "-q", "-c", "agent")
    commits(top)


def commits_detached(top: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    commits(top)


def deletes_the_branch(top: Path) -> None:
    commits_elsewhere(top)
    git(top, "branch", "-q", "-D", "main")


def resets(top: Path) -> None:
    save(top, "second")
    git(top, "reset", "-q", "--hard", "HEAD~1")
    write(top, {"a.txt": "other"})


def amends(top: Path) -> None:
    write(top, {"a.txt": "other"})
    git(top, "commit", "-q", "-a", "--amend", "-m", "amended")


def stashes(top: Path) -> None:
    git(top, "stash", "-q", "-u")


def cleans(top: Path) -> None:
    git(top, "reset", "-q", "--hard")
    git(top, "clean", "-q", "-f", "-d")


def cleans_and_tidies(top: Path) -> None:
    cleans(top)
    git(top, "reflog", "expire", "--expire=now", "--all")
    git(top, "gc", "-q", "--prune=now")


def merges_with_conflicts(top: Path) -> None:
    git(top, "stash", "-q", "-u")
    git(top, "switch", "-q", "-c", "agent")
    write(top, {"a.txt": "theirs\n"})
    save(top)
    git(top, "switch", "-q", "main")
    write(top, {"a.txt": "ours\n"})
    save(top)
    failing(top, "merge", "-q", "agent")


def rebases_with_conflicts(top: Path) -> None:
    merges_with_conflicts(top)
    git(top, "merge", "--abort")
    failing(top, "rebase", "-q", "agent")


def loses_the_index(top: Path) -> None:
    edits(top)
    (top / ".git/index").unlink()


AGENTS: list[Agent] = [
    edits,
    deletes,
    turns_files_into_folders,
    turns_folders_into_files,
    turns_folders_into_links,
    swaps_links_and_files,
    leaves_pipes,
    renames,
    names_oddly,
    stages,
    forces_ignored_files_in,
    stops_ignoring,
    ignores_the_persons_files,
    changes_how_files_are_written,
    commits,
    commits_elsewhere,
    commits_detached,
    deletes_the_branch,
    resets,
    amends,
    stashes,
    cleans,
    cleans_and_tidies,
    merges_with_conflicts,
    rebases_with_conflicts,
    loses_the_index,
]


# What these do is done by others, too, in other words.
REPEATED = {
    stages,
    stops_ignoring,
    renames,
    commits_elsewhere,
    commits_detached,
    amends,
    cleans,
}


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(agent, marks=pytest.mark.thorough if agent in REPEATED else ())
        for agent in AGENTS
    ],
    ids=lambda agent: agent.__name__,
)
def test_all_is_put_back_whatever_an_agent_did(top: Path, agent: Agent) -> None:
    files, seen, head = state(top), lines(top), git(top, "rev-parse", "HEAD")
    ours = checkout(top)
    before = take_snapshot(ours)
    agent(top)
    changed = state(top) != files or lines(top) != seen
    assert changed
    now = take_snapshot(ours, before)
    assert restore_snapshot(ours, before, now).failed_paths == ()
    assert state(top) == files
    assert lines(top) == seen
    assert git(top, "rev-parse", "HEAD") == head
    assert not list((top / ".git").glob("*MERGE*"))
    assert not (top / ".git/rebase-merge").exists()
    again = restore_snapshot(ours, before, now)
    assert (again.rescued_refs, again.failed_paths) == ((), ())
    assert (state(top), lines(top)) == (files, seen)
    git(top, "fsck", "--strict")


@pytest.mark.parametrize(
    "agent",
    [commits, commits_detached, resets, amends, deletes_the_branch],
    ids=lambda a: a.__name__,
)
def test_no_commit_is_lost(top: Path, agent: Agent) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    agent(top)
    theirs = git(top, "rev-parse", "HEAD").strip()
    kept = restore_snapshot(ours, before, take_snapshot(ours, before)).rescued_refs
    assert theirs in git(top, "rev-list", "--all")
    if agent in (commits, commits_detached, amends):
        assert [git(top, "rev-parse", ref).strip() for ref in kept] == [theirs]


def test_what_stays_apart_stays_as_the_agent_left_it(top: Path) -> None:
    write(top, {".cub/tasks.jsonl": "1\n", ".cub/log": "x"})
    git(top, "add", ".cub/tasks.jsonl")
    git(top, "commit", "-q", "-m", "store")
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {".cub/tasks.jsonl": "2\n", ".cub/new": "y", "a.txt": "z"})
    (top / ".cub/log").unlink()
    git(top, "add", "-f", ".cub")
    git(top, "commit", "-q", "-m", "agent's")
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["a.txt"]
    restore_snapshot(ours, before, now)
    assert (top / ".cub/tasks.jsonl").read_text() == "2\n"
    assert (top / ".cub/new").exists()
    assert not (top / ".cub/log").exists()
    assert (top / "a.txt").read_text() == "one\ntwo\n"


def test_before_the_first_commit_there_is_none_again(project: Path) -> None:
    write(project, {"mine.txt": "x"})
    ours = checkout(project)
    before = take_snapshot(ours)
    assert (before.head, before.branch) == ("", git(project, "symbolic-ref", "HEAD").strip())
    write(project, {"mine.txt": "y", "new.txt": "z"})
    commit = save(project)
    done = restore_snapshot(ours, before, take_snapshot(ours, before))
    assert state(project) == {"mine.txt": ("file", b"x")}
    assert lines(project)[1:] == ["?? mine.txt"]
    assert take_snapshot(ours).head == ""
    assert git(project, "rev-parse", done.rescued_refs[0]).strip() == commit


def test_a_detached_head_is_detached_again(top: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    seen = lines(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    assert before.branch == ""
    git(top, "switch", "-q", "-c", "agent")
    commits(top)
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert lines(top) == seen
    assert classify_head_move(ours.toplevel, before) == ""


def test_a_merge_of_the_persons_stays_under_way(top: Path) -> None:
    cleans(top)
    git(top, "switch", "-q", "-c", "side")
    save(top, "side")
    git(top, "switch", "-q", "main")
    git(top, "merge", "-q", "--no-commit", "--no-ff", "side")
    ours = checkout(top)
    before = take_snapshot(ours)
    assert "MERGE_HEAD" in before.operations
    write(top, {"a.txt": "z"})
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert (top / ".git/MERGE_HEAD").exists()


def test_a_linked_work_tree_is_put_back_alone(top: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(top, "worktree", "add", "-q", "-b", "side", str(linked))
    mains, files = (state(top), lines(top)), state(linked)
    ours = checkout(linked)
    before = take_snapshot(ours)
    commits(linked)
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert state(linked) == files
    assert (state(top), lines(top)) == mains


def test_files_that_nobody_read_before_are_not_deleted(top: Path) -> None:
    ours = checkout(top)
    write(top, {"closed.txt": "x"})
    found = take_snapshot(ours)
    # As a snapshot is that could not read the file: known by its name alone.
    git(top, "rm", "-q", "--cached", "-f", "--ignore-unmatch", "closed.txt")
    (top / "closed.txt").unlink()
    without = take_snapshot(ours)
    before = Snapshot(without.head, without.branch, without.tree, found.untracked_paths)
    write(top, {"closed.txt": "x"})
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert (top / "closed.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("name", "text"), [("mine.txt", "untracked\n"), ("a.txt", "one\ntwo\n")], ids=str
)
def test_what_others_may_read_does_not_grow(top: Path, name: str, text: str) -> None:
    (top / name).chmod(0o600)
    ours = checkout(top)
    before = replace(
        take_snapshot(ours), file_modes=None
    )  # nobody noted them: the file itself counts
    write(top, {name: "y"})
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert (top / name).stat().st_mode & 0o777 == 0o600
    assert (top / name).read_text() == text


def test_what_is_ignored_by_rules_that_come_back_stays(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {".gitignore": "", "build/new.log": "x"})
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert (top / "build/new.log").read_text() == "x"


def test_what_is_to_be_spared_stays(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "z", "run.sh": "z"})
    assert restore_snapshot(ours, before, take_snapshot(ours, before), {"a.txt"}).failed_paths == ()
    assert (top / "a.txt").read_text() == "z"
    assert (top / "run.sh").read_text() == "#!/bin/sh\n"


def test_a_repository_in_the_place_of_a_file_is_told_and_left(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    (top / "a.txt").unlink()
    (top / "a.txt").mkdir()
    git(top / "a.txt", "init", "-q")
    write(top, {"a.txt/work": "z", "run.sh": "z"})
    done = restore_snapshot(ours, before, take_snapshot(ours, before))
    assert done.failed_paths == ("a.txt",)
    assert (top / "a.txt/work").read_text() == "z"
    assert (top / "run.sh").read_text() == "#!/bin/sh\n"


def test_ignored_files_that_were_deleted_before_are_deleted_again(top: Path) -> None:
    git(top, "add", "-f", "build/out.log")
    git(top, "commit", "-q", "-m", "x")
    git(top, "add", "-f", ".env")
    for name in ("build/out.log", ".env"):
        (top / name).unlink()
    ours = checkout(top)
    before = take_snapshot(ours)
    assert take_snapshot(ours) == before
    assert before.missing_paths == (".env", "build/out.log")
    git(top, "reset", "-q", "--hard")
    write(top, {"build/out.log": "the agent's", ".env": "the agent's"})
    git(top, "add", "-f", ".env")
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert not (top / "build").exists()
    assert not (top / ".env").exists()


def test_a_restore_that_was_cut_short_is_finished_by_another_process(top: Path) -> None:
    files = state(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    edits(top)
    now = take_snapshot(ours, before)
    (top / "new/deep/n.txt").unlink()
    write(top, {"a.txt": "one\ntwo\n"})
    copy = Snapshot.from_json(before.to_json())
    assert restore_snapshot(checkout(top), copy, now).failed_paths == ()
    assert state(top) == files
