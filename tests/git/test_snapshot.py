from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.restore_snapshot import release_snapshot, restore_snapshot
from cub.git.snapshot import FileChange, Snapshot, count_changed_lines, list_changes, write_patch
from cub.git.take_snapshot import UnmergedError, take_snapshot
from cub.git.tool_artifacts import is_tool_artifact
from cub.git.worktree import Worktree
from cub.git.worktree_status import list_dirty_paths
from tests.conftest import git
from tests.git.checkouts import checkout, failing, lines, save, state, write


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


def test_changes_are_told_by_path_and_kind(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "one\n2\n3\n", "new\n.txt": "x\n", "mine.txt": "y\n", "data.bin": b"\0"})
    (top / "run.sh").chmod(0o644)
    (top / "link").unlink()
    (top / "own/mine.txt").unlink()
    after = take_snapshot(ours, before)
    assert list_changes(ours, before, after) == [
        FileChange("a.txt", "M"),
        FileChange("data.bin", "M"),
        FileChange("link", "D"),
        FileChange("mine.txt", "M", is_untracked=True),
        FileChange("new\n.txt", "A"),
        FileChange("own/mine.txt", "D", is_untracked=True),
        FileChange("run.sh", "M"),
    ]
    assert count_changed_lines(ours, before, after) == (4, 4)
    assert count_changed_lines(ours, before, before) == (0, 0)


def test_a_file_that_came_to_be_ignored_is_modified_not_deleted(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {".gitignore": "*\n", "mine.txt": "y\n"})
    git(top, "add", ".gitignore")
    after = take_snapshot(ours, before)
    assert [(c.path, c.kind) for c in list_changes(ours, before, after)] == [
        (".gitignore", "M"),
        ("mine.txt", "M"),
    ]
    assert "mine.txt" in after.untracked_paths


def test_no_patch_for_no_change(top: Path, tmp_path: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {".cub/x": "x", "y.log": "ignored"})
    assert not write_patch(ours, before, take_snapshot(ours, before), tmp_path / "patch")
    assert not (tmp_path / "patch").exists()


def test_a_patch_makes_the_same_of_another_checkout(top: Path, tmp_path: Path) -> None:
    git(top, "config", "diff.noprefix", "true")
    git(top, "config", "diff.external", "false")
    git(top, "config", "color.ui", "always")
    ours = checkout(top)
    before = take_snapshot(ours)
    copy = tmp_path / "copy"
    shutil.copytree(top, copy, symlinks=True)
    write(top, {"a.txt": "z", "-new \udcff": b"\0\xff", "mine.txt": "y", "win.crlf": "x\r\n"})
    (top / "link").unlink()
    (top / "link").symlink_to("run.sh")
    (top / "run.sh").chmod(0o644)
    shutil.rmtree(top / "sub")
    assert write_patch(ours, before, take_snapshot(ours, before), tmp_path / "patch")
    git(copy, "apply", "--whitespace=nowarn", str(tmp_path / "patch"))
    assert state(copy) == state(top)


def test_no_half_of_a_patch_is_left(top: Path, tmp_path: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "z"})
    after = take_snapshot(ours, before)
    (top / ".git").rename(top / "gone")
    with pytest.raises(CubError, match="git diff-tree failed"):
        write_patch(ours, before, after, tmp_path / "patch")
    assert not (tmp_path / "patch").exists()


def names(ours: Worktree, snapshot: Snapshot) -> set[str]:
    return set(git(ours.toplevel, "ls-tree", "-r", "--name-only", snapshot.tree).splitlines())


def content(ours: Worktree, snapshot: Snapshot, path: str) -> str:
    return git(ours.toplevel, "cat-file", "blob", f"{snapshot.tree}:{path}")


def test_it_holds_the_files_as_they_are_and_leaves_the_index_alone(top: Path) -> None:
    index = (top / ".git/index").read_bytes()
    ours = checkout(top)
    found = take_snapshot(ours)
    assert found.head == git(top, "rev-parse", "HEAD").strip()
    assert found.branch == "refs/heads/main"
    assert found.untracked_paths == ("mine.txt", "own/mine.txt")
    assert content(ours, found, "dirty.txt") == "the person's\n"
    assert names(ours, found) >= {"a.txt", "mine.txt", "own/mine.txt", "link"}
    assert not names(ours, found) & {".env", "build/out.log"}
    assert (top / ".git/index").read_bytes() == index


@pytest.mark.parametrize(
    "words", [["add", "-A"], ["add", "-N", "mine.txt"], ["rm", "-q", "--cached", "a.txt"]], ids=str
)
def test_what_is_staged_makes_no_difference_to_the_files(top: Path, words: list[str]) -> None:
    ours = checkout(top)
    found = take_snapshot(ours)
    git(top, *words)
    again = take_snapshot(ours)
    assert again.tree == found.tree
    assert "a.txt" not in again.untracked_paths
    assert ("mine.txt" in again.untracked_paths) is (words[0] == "rm")


def test_ignored_files_that_were_forced_in_belong_to_it(top: Path) -> None:
    git(top, "add", "-f", ".env")
    ours = checkout(top)
    assert ".env" in names(ours, take_snapshot(ours))


def test_a_second_look_sees_edits_additions_and_deletions(top: Path) -> None:
    ours = checkout(top)
    first = take_snapshot(ours)
    write(top, {"mine.txt": "untrackeD\n", "own/more.txt": "x"})  # of the same size
    (top / "own/mine.txt").unlink()
    second = take_snapshot(ours)
    assert content(ours, second, "mine.txt") == "untrackeD\n"
    assert second.untracked_paths == ("mine.txt", "own/more.txt")
    write(top, {"mine.txt": "untracked\n", "own/mine.txt": "untracked too\n"})
    (top / "own/more.txt").unlink()
    assert take_snapshot(ours) == first


@pytest.mark.parametrize("harm", ["missing", "broken", "no note", "odd note", "locked"])
def test_an_own_index_that_is_harmed_is_made_anew(top: Path, harm: str) -> None:
    ours = checkout(top)
    first = take_snapshot(ours)
    note = ours.index_file.with_name("index.json")
    match harm:
        case "missing":
            ours.index_file.unlink()
        case "broken":
            ours.index_file.write_bytes(b"nonsense")
        case "no note":
            note.unlink()
        case "odd note":
            note.write_text('[[1], 2, "x", 4]')
        case _:
            write(top, {"a.txt": "z"})
            ours.index_file.with_name("index.lock").touch()
            assert content(ours, take_snapshot(ours), "a.txt") == "z"
            write(top, {"a.txt": "one\ntwo\n"})
    assert take_snapshot(ours) == first


def test_what_tools_leave_and_nested_repositories_are_left_out(top: Path) -> None:
    git(top, "init", "-q", "nested")
    write(top, {"x/__pycache__/m.pyc": "", "node_modules/p/i.js": "", ".aider.chat.md": ""})
    write(top, {"nested/f": "", "x/.DS_Store": "", "x/node_modules.txt": ""})
    ours = checkout(top)
    assert set(take_snapshot(ours).untracked_paths) == {
        "mine.txt",
        "own/mine.txt",
        "x/node_modules.txt",
    }
    git(top, "add", "-f", "node_modules")
    assert "node_modules/p/i.js" in names(ours, take_snapshot(ours))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("a/__pycache__/b", True),
        ("__pycache__", False),
        ("a.pyc", True),
        (".aider.tags.cache.v4/x", True),
        (".aider.input.history", True),
        ("node_modules.md", False),
        ("node_modules/a/b", True),
    ],
)
def test_litter_is_told_by_its_name(path: str, answer: bool) -> None:
    assert is_tool_artifact(path) is answer


def test_pipes_and_sockets_do_no_harm(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top)
    os.mkfifo("pipe")
    (top / "a.txt").unlink()
    os.mkfifo("a.txt")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        ours = checkout(top)
        assert not names(ours, take_snapshot(ours)) & {"pipe", "socket", "a.txt"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_can_not_be_read_is_known_by_name_alone(top: Path) -> None:
    (top / "mine.txt").chmod(0)
    ours = checkout(top)
    found = take_snapshot(ours)
    assert "mine.txt" in found.untracked_paths
    assert "mine.txt" not in names(ours, found)


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_files_that_git_is_told_not_to_look_at_are_not_deleted(top: Path, flag: str) -> None:
    git(top, "update-index", flag, "a.txt", "sub/b.txt")
    (top / "a.txt").unlink()
    ours = checkout(top)
    before = take_snapshot(ours)
    assert "a.txt" in names(ours, before)
    write(top, {"run.sh": "z"})
    after = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, after)] == ["run.sh"]
    assert restore_snapshot(ours, before, after).failed_paths == ()
    assert not (top / "a.txt").exists()


@pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
def test_a_sparse_checkout_stays_one(top: Path, sparse_index: str) -> None:
    git(top, "stash", "-q", "-u")
    git(top, "sparse-checkout", "init", "--cone", sparse_index)
    assert not (top / "sub").exists()
    ours = checkout(top)
    before = take_snapshot(ours)
    assert "sub/b.txt" in names(ours, before)
    write(top, {"a.txt": "z"})
    git(top, "commit", "-q", "-a", "-m", "agent")
    after = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, after)] == ["a.txt"]
    assert restore_snapshot(ours, before, after).failed_paths == ()
    assert not (top / "sub").exists()
    assert len(lines(top)) == 1
    assert list_dirty_paths(ours) == []


def test_conflicts_are_an_error_before_an_attempt_and_content_after_it(top: Path) -> None:
    git(top, "stash", "-q", "-u")
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "switch", "-q", "-c", "side")
    write(top, {"a.txt": "theirs\n"})
    save(top)
    git(top, "switch", "-q", "main")
    write(top, {"a.txt": "ours\n"})
    save(top)
    failing(top, "merge", "-q", "side")
    assert "<<<<<<<" in content(ours, take_snapshot(ours, before), "a.txt")
    for _ in range(2):
        with pytest.raises(UnmergedError, match=r"^a\.txt: .*conflicts in 1 files") as error:
            take_snapshot(ours)
    assert "git merge --abort" in error.value.hint


def test_what_leads_git_elsewhere_is_not_heard(top: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as here:
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
            here.setenv(name, str(tmp_path / "nowhere"))
        here.setenv("GIT_GLOB_PATHSPECS", "1")
        found = take_snapshot(checkout(top))
    assert found == take_snapshot(checkout(top))
    assert found.head


def test_a_broken_repository_is_not_taken_for_the_one_around_it(top: Path) -> None:
    write(top, {"inner/.git/HEAD": "nonsense"})
    with pytest.raises(CubError, match="git status failed: not a git repository"):
        take_snapshot(Worktree(top / "inner", top.parent / "i"))


def test_nothing_of_the_repositorys_settings_is_run(top: Path) -> None:
    write(top, {".git/hooks/reference-transaction": "#!/bin/sh\ntouch ran\n", "hook": "x"})
    write(top, {".git/hooks/post-index-change": "#!/bin/sh\ntouch ran\n"})
    write(top, {".git/monitor": "#!/bin/sh\ntouch ran\n"})
    for name in ("hooks/reference-transaction", "hooks/post-index-change", "monitor"):
        (top / ".git" / name).chmod(0o755)
    git(top, "config", "core.fsmonitor", str(top / ".git/monitor"))
    git(top, "config", "core.safecrlf", "true")
    git(top, "config", "core.autocrlf", "input")
    write(top, {"crlf.txt": "x\r\n"})
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "z\r\n"})
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert not (top / "ran").exists()


def test_it_outlives_the_process_in_json(top: Path) -> None:
    write(top, {"\udcff\n": "x"})
    found = take_snapshot(checkout(top))
    assert "\udcff\n" in found.untracked_paths
    inner = Snapshot("1", "", "2", submodules={"sub": found}, operations=("MERGE_HEAD",))
    for one in (found, inner):
        assert Snapshot.from_json(json.loads(json.dumps(one.to_json()))) == one


_VALUE = Snapshot("1", "", "2").to_json()


@pytest.mark.parametrize(
    "value", [None, [], {}, {"head": 1}, "x", _VALUE | {"head": 1}, _VALUE | {"untracked": [1]}]
)
def test_other_json_is_an_error(value: object) -> None:
    with pytest.raises(CubError, match="not a snapshot"):
        Snapshot.from_json(value)


def test_the_files_of_a_snapshot_can_be_given_up(top: Path) -> None:
    ours = checkout(top)
    found = take_snapshot(ours)
    assert found.tree in git(top, "for-each-ref", "refs/worktree")
    release_snapshot(ours)
    release_snapshot(ours)
    assert git(top, "for-each-ref", "refs/worktree") == ""
