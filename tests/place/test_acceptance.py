"""Accepting a commit: what the person did meanwhile stays, or the commit waits under its ref."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.place.acceptance import (
    BranchTip,
    accept_commit,
    bring_objects,
    keep_commit,
    rebase_commit,
)
from cub.place.checkout import TreeGit
from tests.conftest import git
from tests.examples import keep_few
from tests.git.checkouts import copy_repository, save
from tests.git.commits import Files, link, program, submodule
from tests.place.acceptances import BASE, REF, Attempt, begin, everything
from tests.written_files import write_files, write_program

Edit = Callable[[Path], object]

WORK: Files = {
    "a.txt": b"two\n",
    "new.txt": b"new\n",
    "gone.txt": None,
    "dir/c.txt": b"cc\n",
    "made/deep/x.txt": b"x\n",
    "run.sh": program(b"#!/bin/sh\n"),
    "swap": None,
    "swap/inner": b"inner\n",
    "link": link("a.txt"),
}


def kept(top: Path) -> str:
    return git(top, "for-each-ref", "--format=%(objectname)", "refs/cub/").strip()


def is_merged(top: Path, commit: str) -> None:
    assert git(top, "rev-parse", "refs/heads/main").strip() == commit
    assert not kept(top)
    assert not (top / ".git" / "index.lock").exists()
    assert not list((top / ".git").glob("cub*"))


def test_a_clean_checkout_gets_the_commit(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    assert attempt.accept(commit).state == "merged"
    is_merged(top, commit)
    assert not git(top, "status", "--porcelain", "--ignored")
    assert (top / "swap/inner").read_bytes() == b"inner\n"
    assert "Fast-forward" in git(top, "reflog", "-1", "main")
    git(top, "fsck", "--strict", "--connectivity-only")


def test_a_second_call_changes_nothing(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.accept(commit)
    before = everything(top)
    assert attempt.accept(commit).state == "merged"
    assert everything(top) == before
    assert not kept(top)


def test_no_hook_of_the_person_runs(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    for name in ("post-merge", "reference-transaction", "post-checkout", "post-index-change"):
        write_program(top / ".git" / "hooks" / name, "#!/bin/sh\ntouch hook-ran\nexit 1\n")
    assert attempt.accept(commit).state == "merged"
    assert not (top / "hook-ran").exists()


def list_staged(top: Path) -> set[str]:
    return set(git(top, "diff", "--cached", "--name-only").splitlines()) - {*WORK}


def stage(path: str, data: bytes) -> Edit:
    def change(top: Path) -> None:
        write_files(top, {path: data})
        git(top, "add", "-f", path)

    return change


def edit(path: str, data: bytes) -> Edit:
    return lambda top: write_files(top, {path: data})


def swap_for_folder(top: Path) -> None:
    (top / "b.txt").unlink()
    write_files(top, {"b.txt/inner": b"mine\n"})


def touch_all(top: Path) -> None:
    for name in BASE:
        os.utime(top / name, (1_000_000_000, 1_000_000_000))


def add_submodule(top: Path) -> None:
    write_files(top, {"module/file": b"x\n"})
    git(top / "module", "init", "-q")
    save(top / "module")


HARMLESS: dict[str, Edit] = {
    "another file edited": edit("b.txt", b"mine\n"),
    "another file staged": stage("b.txt", b"mine\n"),
    "staged and edited": lambda top: (stage("b.txt", b"1\n")(top), edit("b.txt", b"2\n")(top)),
    "another file deleted": lambda top: (top / "b.txt").unlink(),
    "another file deleted in the index": lambda top: git(top, "rm", "-q", "b.txt"),
    "another file assumed unchanged": lambda top: (
        git(top, "update-index", "--assume-unchanged", "b.txt"),
        edit("b.txt", b"mine\n")(top),
    ),
    "another file replaced with a folder": swap_for_folder,
    "another mode": lambda top: (top / "b.txt").chmod(0o755),
    "a sibling in a folder that changes": edit("dir/d.txt", b"mine\n"),
    "an untracked file": edit("mine.txt", b"mine\n"),
    "an untracked file in a folder of the attempt's": edit("made/deep/mine.txt", b"mine\n"),
    "an ignored file": edit("build/out", b"mine\n"),
    "an intended addition": lambda top: (edit("mine", b"m\n")(top), git(top, "add", "-N", "mine")),
    "a file staged as the attempt's": stage("new.txt", b"new\n"),
    "a file deleted as in the attempt": lambda top: (top / "gone.txt").unlink(),
    "all files written again": touch_all,
    "an untracked repository": add_submodule,
    "a stash": lambda top: (edit("b.txt", b"mine\n")(top), git(top, "stash", "-q")),
    "a new branch": lambda top: git(top, "branch", "mine"),
    "a name with a newline": edit("odd \n:na\u00efve*?[x]", b"mine\n"),
}


@pytest.mark.parametrize("name", keep_few(HARMLESS, 8))
def test_edits_of_other_files_stay(top: Path, attempt: Attempt, name: str) -> None:
    commit = attempt.commit(WORK)
    HARMLESS[name](top)
    before, staged = everything(top), list_staged(top)
    assert attempt.accept(commit).state == "merged"
    is_merged(top, commit)
    assert list_staged(top) == staged
    after = everything(top)
    changed = {"made", "made/deep", "swap", "dir", *WORK}
    for path in {*before, *after} - changed - {"/index", "/flags", "/refs"}:
        assert after.get(path) == before.get(path), path


def test_staged_edits_stay_staged(top: Path, attempt: Attempt) -> None:
    stage("b.txt", b"1\n")(top)
    edit("b.txt", b"2\n")(top)
    assert attempt.accept(attempt.commit(WORK)).state == "merged"
    assert git(top, "status", "--porcelain").splitlines() == ["MM b.txt"]
    assert git(top, "show", ":b.txt") == "1\n"


def link_folder(top: Path) -> None:
    (top / "dir").rename(top / "moved")
    (top / "dir").symlink_to("moved")


def put_file_in_swap(top: Path) -> None:
    (top / "swap").unlink()
    write_files(top, {"swap/inner": b"mine\n"})


BLOCKING: dict[str, Edit] = {
    "edited": edit("a.txt", b"mine\n"),
    "edited to the same": edit("a.txt", b"two\n"),
    "staged": stage("a.txt", b"mine\n"),
    "assumed unchanged": lambda top: (
        git(top, "update-index", "--assume-unchanged", "a.txt"),
        edit("a.txt", b"mine\n")(top),
    ),
    "kept out of sight": lambda top: (
        git(top, "update-index", "--skip-worktree", "a.txt"),
        edit("a.txt", b"mine\n")(top),
    ),
    "deleted": lambda top: (top / "a.txt").unlink(),
    "deleted with its folder": lambda top: shutil.rmtree(top / "dir"),
    "deleted in the index": lambda top: git(top, "rm", "-q", "a.txt"),
    "untracked": edit("new.txt", b"mine\n"),
    "untracked with the same content": edit("new.txt", b"new\n"),
    "untracked as a folder": edit("new.txt/mine", b"mine\n"),
    "untracked link": lambda top: (top / "new.txt").symlink_to("b.txt"),
    "untracked dangling link": lambda top: (top / "new.txt").symlink_to("nowhere"),
    "untracked as a parent": edit("made", b"mine\n"),
    "link as a parent": lambda top: (top / "made").symlink_to("dir"),
    "ignored": lambda top: (
        edit(".git/info/exclude", b"new.txt\n")(top),
        edit("new.txt", b"m\n")(top),
    ),
    "ignored as a parent": lambda top: (
        edit(".git/info/exclude", b"made\n")(top),
        edit("made", b"m\n")(top),
    ),
    "ignored in a folder": edit("new.txt/mine.log", b"m\n"),
    "deleted by the attempt, edited": edit("gone.txt", b"mine\n"),
    "deleted by the attempt, staged": stage("gone.txt", b"mine\n"),
    "mode": lambda top: (top / "a.txt").chmod(0o755),
    "a folder behind a link": link_folder,
    "replaced with the attempt's folder": put_file_in_swap,
    "repository as a parent": lambda top: git(top, "init", "-q", "made"),
    "a merge under way": edit(".git/MERGE_HEAD", b"0" * 40 + b"\n"),
    "an am under way": edit(".git/rebase-apply/applying", b""),
    "a locked index": edit(".git/index.lock", b"theirs"),
    "a folder as the lock": lambda top: (top / ".git" / "index.lock").mkdir(),
    "no index": lambda top: (top / ".git" / "index").unlink(),
}


@pytest.mark.parametrize("name", keep_few(BLOCKING, 12))
def test_edits_in_the_way_block_and_nothing_changes(top: Path, attempt: Attempt, name: str) -> None:
    commit = attempt.commit(WORK)
    BLOCKING[name](top)
    before = everything(top)
    result = attempt.accept(commit)
    assert (result.state, result.ref, result.hint) == ("blocked", REF, f"git merge {REF}")
    assert result.reason
    assert everything(top) == before
    assert kept(top) == commit


def test_the_reason_names_the_file(top: Path, attempt: Attempt) -> None:
    edit("a.txt", b"mine\n")(top)
    result = attempt.accept(attempt.commit(WORK))
    assert result.reason == "your changes to a.txt are in the way (commit or stash them)"


def test_a_held_lock_stays_as_it_is(top: Path, attempt: Attempt) -> None:
    edit(".git/index.lock", b"theirs")(top)
    assert "index.lock" in attempt.accept(attempt.commit(WORK)).reason
    assert (top / ".git" / "index.lock").read_bytes() == b"theirs"


def test_a_branch_that_moved_is_told(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    write_files(top, {"b.txt": b"mine\n"})
    save(top)
    before = everything(top)
    assert attempt.accept(commit).state == "moved"
    assert everything(top) == before
    assert kept(top) == commit


@pytest.mark.parametrize("act", ["commit", "switch"])
def test_a_git_that_holds_the_lock_goes_first(top: Path, attempt: Attempt, act: str) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    mine, lock = _stage_commit(top), top / ".git/index.lock"
    lock.touch()
    with ThreadPoolExecutor(1) as pool:
        merge = (attempt.checkout, attempt.target, commit, REF)
        accepted = pool.submit(accept_commit, *merge, patience=60)
        while not (top / ".git/cub-merge.json").exists():  # from then on it waits for the lock
            assert not accepted.done()
        git(top, "update-ref", f"refs/heads/{'main' if act == 'commit' else 'new'}", mine)
        git(top, "symbolic-ref", "HEAD", f"refs/heads/{'main' if act == 'commit' else 'new'}")
        lock.unlink()
        assert accepted.result().state == "moved"
    assert git(top, "status", "--porcelain") == ""
    assert not (top / "new.txt").exists()
    if act == "switch":
        assert attempt.accept(commit).state == "merged"
        assert git(top, "rev-parse", "main", "HEAD").split() == [commit, mine]


def test_a_commit_while_files_are_written_goes_first(top: Path, attempt: Attempt) -> None:
    mine = _stage_commit(top)
    git(top, "config", "filter.commit.smudge", f"git update-ref refs/heads/main {mine}; cat")
    write_files(top, {".git/info/attributes": b"new.txt filter=commit\n"})
    assert attempt.accept(attempt.commit(WORK)).state == "moved"
    assert git(top, "rev-parse", "main").strip() == mine
    assert git(top, "status", "--porcelain") == ""


def _stage_commit(top: Path) -> str:
    """Make the commit of a `git commit` that has not moved the branch yet."""
    write_files(top, {"mine.txt": b"mine\n"})
    git(top, "add", "mine.txt")
    tree = git(top, "write-tree").strip()
    return git(top, "commit-tree", "-p", "HEAD", "-m", "mine", tree).strip()


@pytest.mark.parametrize("where", ["other", "--detach"])
def test_a_branch_that_is_not_checked_out_moves_alone(
    top: Path, attempt: Attempt, where: str
) -> None:
    commit = attempt.commit(WORK)
    git(top, "checkout", "-q", where)
    write_files(top, {"a.txt": b"mine\n"})
    before = everything(top)
    assert attempt.accept(commit).state == "merged"
    is_merged(top, commit)
    assert everything(top) | {"/refs": 0} == before | {"/refs": 0}


@pytest.mark.parametrize("where", ["main", "other"])
def test_a_branch_that_refers_to_another_still_does(
    top: Path, attempt: Attempt, where: str
) -> None:
    git(top, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(top, "checkout", "-q", where)
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    target = BranchTip("refs/heads/alias", attempt.target.base)
    assert accept_commit(attempt.checkout, target, commit, REF).state == "merged"
    assert git(top, "symbolic-ref", "refs/heads/alias").strip() == "refs/heads/main"
    assert not git(top, "status", "--porcelain")
    is_merged(top, commit)


def test_a_deleted_branch_is_not_made_again(top: Path, attempt: Attempt) -> None:
    git(top, "checkout", "-q", "other")
    git(top, "branch", "-q", "-D", "main")
    result = attempt.accept(attempt.commit(WORK))
    assert result.state == "blocked"
    assert result.reason == "the branch main has no commit any more"


def test_an_unborn_branch_is_left_alone(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    attempt.bring(commit)
    git(top, "symbolic-ref", "HEAD", "refs/heads/unborn")
    before = everything(top)
    target = BranchTip("refs/heads/unborn", "")
    assert accept_commit(attempt.checkout, target, commit, REF).state == "blocked"
    assert everything(top) == before


def test_a_detached_head_moves(top: Path, tmp_path: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    attempt = begin(top, tmp_path / "state")
    commit = attempt.commit(WORK)
    assert attempt.accept(commit).state == "merged"
    assert git(top, "rev-parse", "HEAD").strip() == commit
    assert git(top, "rev-parse", "main").strip() == attempt.target.base
    assert not git(top, "status", "--porcelain")


def test_a_head_that_is_on_a_branch_now_blocks(top: Path, tmp_path: Path) -> None:
    git(top, "checkout", "-q", "--detach")
    attempt = begin(top, tmp_path / "state")
    git(top, "checkout", "-q", "main")
    before = everything(top)
    assert attempt.accept(attempt.commit(WORK)).state == "blocked"
    assert everything(top) == before


def test_a_branch_in_another_work_tree_blocks(top: Path, attempt: Attempt) -> None:
    git(top, "checkout", "-q", "other")
    git(top, "worktree", "add", "-q", "../linked", "main")
    commit = attempt.commit(WORK)
    result = attempt.accept(commit)
    assert result.state == "blocked"
    assert result.reason.endswith("/linked")
    assert git(top, "rev-parse", "main").strip() == attempt.target.base


def test_a_branch_that_is_rebased_elsewhere_blocks(top: Path, attempt: Attempt) -> None:
    git(top, "checkout", "-q", "--detach")
    write_files(top, {".git/rebase-merge/head-name": b"refs/heads/main\n"})
    assert attempt.accept(attempt.commit(WORK)).state == "blocked"


def test_a_linked_work_tree_can_be_the_checkout(top: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked tree"
    git(top, "worktree", "add", "-q", str(linked), "other")
    attempt = begin(linked, tmp_path / "state")
    before = everything(top)
    commit = attempt.commit(WORK)
    assert attempt.accept(commit).state == "merged"
    assert git(linked, "rev-parse", "other").strip() == commit
    assert not git(linked, "status", "--porcelain")
    assert everything(top) | {"/refs": 0} == before | {"/refs": 0}


@pytest.mark.parametrize(
    "words", [("--no-cone", "/*", "!/dir/"), ("--cone", "swap-2"), ("--sparse-index", "swap-2")]
)
def test_a_sparse_checkout_stays_sparse(
    top: Path, attempt: Attempt, words: tuple[str, ...]
) -> None:
    git(top, "sparse-checkout", "set", *words)
    write_files(top, {"b.txt": b"mine\n"})
    commit = attempt.commit({**WORK, "dir/new": b"new\n"})
    assert attempt.accept(commit).state == "merged"
    is_merged(top, commit)
    assert not (top / "dir").exists()
    listed = git(top, "ls-files", "-t", "dir").splitlines()
    assert listed == ["S dir/c.txt", "S dir/d.txt", "S dir/new"]
    assert git(top, "status", "--porcelain") == " M b.txt\n"


def test_line_endings_and_filters_are_applied(top: Path, attempt: Attempt) -> None:
    git(top, "config", "core.autocrlf", "true")
    git(top, "config", "filter.up.clean", "tr A-Z a-z")
    git(top, "config", "filter.up.smudge", "tr a-z A-Z")
    files = {"a.txt": b"two\n", "loud.up": b"quiet\n", ".gitattributes": b"*.up filter=up\n"}
    assert attempt.accept(attempt.commit(files)).state == "merged"
    assert (top / "a.txt").read_bytes() == b"two\r\n"
    assert (top / "loud.up").read_bytes() == b"QUIET\r\n"
    assert not git(top, "status", "--porcelain")


def test_a_filter_that_fails_leaves_all_as_it_was(top: Path, attempt: Attempt) -> None:
    git(top, "config", "filter.no.smudge", "false")
    git(top, "config", "filter.no.required", "true")
    write_files(top, {".git/info/attributes": b"zz filter=no\n", "b.txt": b"mine\n"})
    commit = attempt.commit({**WORK, "zz": b"z\n"})
    before = everything(top)
    result = attempt.accept(commit)
    assert (result.state, result.reason) == ("blocked", "git could not write the files")
    assert everything(top) == before


def test_submodules_stay_as_they_are(top: Path, tmp_path: Path) -> None:
    add_submodule(top)
    git(top, "add", "module")
    save(top)
    attempt = begin(top, tmp_path / "state")
    write_files(top, {"module/file": b"mine\n"})
    commit = attempt.commit({**WORK, "module": submodule(), "module-2": submodule()})
    assert attempt.accept(commit).state == "merged"
    assert (top / "module" / "file").read_bytes() == b"mine\n"
    assert "1" * 40 in git(top, "ls-files", "-s", "module")


def test_files_do_not_replace_a_submodule(top: Path, tmp_path: Path) -> None:
    add_submodule(top)
    git(top, "add", "module")
    save(top)
    attempt = begin(top, tmp_path / "state")
    before = everything(top)
    commit = attempt.commit({"module": None, "module/other": b"x\n"})
    assert attempt.accept(commit).state == "blocked"
    assert everything(top) == before


ODD = {
    "with space": b"1\n",
    "na\u00efve": b"2\n",
    "a:b": b"3\n",
    "new\nline": b"4\n",
    "*": b"5\n",
    "-x": b"6\n",
    "A.TXT": b"7\n",
    "\udcff": b"8\n",
}


def test_odd_names_arrive_and_block(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(ODD)
    write_files(top, {"new\nline": b"mine\n"})
    before = everything(top)
    assert "new\nline" in attempt.accept(commit).reason
    assert everything(top) == before
    (top / "new\nline").unlink()
    assert attempt.accept(commit).state == "merged"
    assert {name: (top / name).read_bytes() for name in ODD} == ODD


def test_a_repository_in_a_folder_with_an_odd_name(
    tmp_path: Path, accepting_repository: Path
) -> None:
    folder = tmp_path / "a:b c"
    folder.mkdir()
    top = copy_repository(accepting_repository, folder)
    attempt = begin(top, folder / "state")
    commit = attempt.commit(WORK)
    assert attempt.accept(commit).state == "merged"
    is_merged(top, commit)


STORE = ".cub/tasks.jsonl"


@pytest.mark.parametrize("is_tracked", [True, False])
def test_own_files_do_not_block(top: Path, tmp_path: Path, is_tracked: bool) -> None:
    if is_tracked:
        write_files(top, {STORE: b"1\n"})
        save(top)
    attempt = begin(top, tmp_path / "state")
    write_files(top, {STORE: b"1\n2\n"})
    commit = attempt.commit({**WORK, STORE: b"1\n2\n"})
    assert attempt.accept(commit, own_paths=[STORE]).state == "merged"
    is_merged(top, commit)
    assert not git(top, "status", "--porcelain")


def test_own_files_that_went_on_stay(top: Path, attempt: Attempt) -> None:
    write_files(top, {STORE: b"1\n2\n3\n"})
    commit = attempt.commit({**WORK, STORE: b"1\n2\n"})
    assert attempt.accept(commit, own_paths=[STORE]).state == "merged"
    assert (top / STORE).read_bytes() == b"1\n2\n3\n"
    assert git(top, "status", "--porcelain") == f" M {STORE}\n"


def test_own_files_are_untouched_if_something_else_blocks(top: Path, attempt: Attempt) -> None:
    write_files(top, {STORE: b"1\n", "a.txt": b"mine\n"})
    commit = attempt.commit({**WORK, STORE: b"1\n"})
    before = everything(top)
    assert attempt.accept(commit, own_paths=[STORE]).state == "blocked"
    assert everything(top) == before


MINE = {"b.txt": b"mine\n", "a.txt": b"mine\n", "untracked": b"mine\n"}


def test_changes_that_cub_committed_do_not_block(top: Path, attempt: Attempt) -> None:
    write_files(top, MINE)
    (top / "dir/d.txt").unlink()
    git(top, "add", "a.txt")
    changes = attempt.commit({**MINE, "dir/d.txt": None})
    commit = attempt.commit({"a.txt": b"mine and theirs\n", "new": b"n\n"}, changes)
    assert attempt.accept(commit, changes=changes).state == "merged"
    is_merged(top, commit)
    assert not git(top, "status", "--porcelain")
    assert (top / "a.txt").read_bytes() == b"mine and theirs\n"


def test_changes_that_went_on_stay_or_block(top: Path, attempt: Attempt) -> None:
    write_files(top, MINE)
    changes = attempt.commit(MINE)
    commit = attempt.commit({"a.txt": b"mine and theirs\n"}, changes)
    write_files(top, {"b.txt": b"mine, later\n", "a.txt": b"mine, later\n"})
    before = everything(top)
    assert attempt.accept(commit, changes=changes).state == "blocked"
    assert everything(top) == before
    write_files(top, {"a.txt": b"mine\n"})
    assert attempt.accept(commit, changes=changes).state == "merged"
    assert git(top, "status", "--porcelain") == " M b.txt\n"
    assert (top / "b.txt").read_bytes() == b"mine, later\n"


def test_a_kept_ref_is_not_moved(top: Path, attempt: Attempt) -> None:
    first, second = attempt.commit(WORK), attempt.commit({"a.txt": b"3\n"})
    attempt.bring(first)
    attempt.bring(first)
    bring_objects(attempt.checkout, attempt.objects, second, attempt.target.base)
    with pytest.raises(CubError):
        keep_commit(attempt.checkout, REF, second)
    assert kept(top) == first
    keep_commit(attempt.checkout, REF, second, first)
    assert kept(top) == second


def test_objects_that_git_would_not_check_out_are_refused(top: Path, attempt: Attempt) -> None:
    blob = attempt.git("hash-object", "-w", "--stdin", data=b"#!/bin/sh\n")
    tree, words = b"", ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    for name in (b"100755 post-checkout", b"40000 hooks", b"40000 .git"):
        tree = name + b"\0" + bytes.fromhex(attempt.git(*words, data=tree) if tree else blob)
    commit = attempt.git("commit-tree", "-m", "x", "-p", attempt.target.base,
                         attempt.git(*words, data=tree))  # fmt: skip
    before = everything(top)
    with pytest.raises(CubError, match="index-pack"):
        attempt.bring(commit)
    assert everything(top) == before
    assert not kept(top)


def tree_git(attempt: Attempt) -> TreeGit:
    state = attempt.objects.parent
    (state / "tree").mkdir()
    return TreeGit(attempt.checkout, state / "tree", state / "tree.index", attempt.objects)


def test_a_commit_is_rebased_in_the_folder_of_cub(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    write_files(top, {"b.txt": b"mine\n"})
    tip = save(top)
    before = everything(top)
    result = rebase_commit(tree_git(attempt), commit, tip, attempt.target.base)
    assert attempt.git("show", f"{result.tree}:a.txt") == "two"
    assert attempt.git("show", f"{result.tree}:b.txt") == "mine"
    assert everything(top) == before


def test_only_the_commits_own_changes_are_rebased(attempt: Attempt) -> None:
    changes = attempt.commit({"b.txt": b"not wanted\n"})
    commit = attempt.commit({"a.txt": b"two\n"}, changes)
    result = rebase_commit(tree_git(attempt), commit, attempt.target.base, changes)
    assert attempt.git("show", f"{result.tree}:b.txt") == "b"


def test_conflicts_are_named(top: Path, attempt: Attempt) -> None:
    commit = attempt.commit(WORK)
    write_files(top, {"a.txt": b"mine\n", "new.txt": b"mine\n"})
    tip = save(top)
    result = rebase_commit(tree_git(attempt), commit, tip, attempt.target.base)
    assert (result.tree, result.conflicts) == ("", ("a.txt", "new.txt"))
