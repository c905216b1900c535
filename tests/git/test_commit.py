from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cub.git.commit import CheckedTree, CommitReport, commit_paths, explain_missing_identity
from cub.git.snapshot import list_changes
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree_status import list_dirty_paths
from cub.processes.command import TimeLimits
from tests.conftest import git
from tests.git.checkouts import checkout, lines, person, save, state, write

Commit = Callable[..., CommitReport]


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


@pytest.fixture
def commit(top: Path, home: Path) -> Commit:
    def run(
        paths: Sequence[str] = (),
        along: Sequence[str] = (),
        message: str = "done\n",
        wall: float = 30,
        **env: str,
    ) -> CommitReport:
        limits = TimeLimits(wall=wall, grace=(0.2, 0.2))
        return commit_paths(checkout(top), paths, along, message, person(home) | env, limits)

    return run


def hook(top: Path, name: str, text: str) -> None:
    write(top, {f".git/hooks/{name}": f"#!/bin/sh\n{text}\n"})
    (top / ".git/hooks" / name).chmod(0o755)


def committed(top: Path) -> list[str]:
    listed = git(top, "-c", "core.quotePath=false", "diff", "--name-status", "-z", "HEAD~1", "HEAD")
    parts = listed.split("\0")[:-1]
    return [f"{kind} {path}" for kind, path in zip(parts[::2], parts[1::2], strict=True)]


def test_exactly_what_changed_is_committed(top: Path, commit: Commit) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"a.txt": "z", ":(top)x*": "odd", "-n\n": "odd"})
    (top / "sub/b.txt").unlink()
    write(top, {"sub/b.txt/now": "a folder"})
    git(top, "add", "mine.txt", "dirty.txt")
    changed = list_changes(ours, before, take_snapshot(ours, before))
    done = commit([change.path for change in changed], message="subject\n\n# no comment\n")
    assert (done.is_ok, done.cause, done.output) == (True, "", "")
    assert done.head == git(top, "rev-parse", "HEAD").strip()
    assert sorted(committed(top)) == [
        "A -n\n",
        "A :(top)x*",
        "A sub/b.txt/now",
        "D sub/b.txt",
        "M a.txt",
    ]
    assert git(top, "log", "-1", "--format=%B|%an") == "subject\n\n# no comment\n|p\n"
    assert lines(top)[1:] == [" M dirty.txt", "?? mine.txt", "?? own/mine.txt"]


def test_what_is_ignored_goes_in_among_the_paths_but_not_along(top: Path, commit: Commit) -> None:
    along = ["mine.txt", "build/out.log", "nothing.txt", "run.sh", "link/x"]
    (top / "run.sh").unlink()
    assert commit([".env", "never.txt"], along).is_ok
    assert committed(top) == ["A .env", "A mine.txt", "D run.sh"]


def test_nothing_to_commit_is_fine(top: Path, commit: Commit) -> None:
    head = git(top, "rev-parse", "HEAD").strip()
    git(top, "add", "mine.txt")
    hook(top, "pre-commit", "exit 1")
    assert commit(["a.txt", "never.txt"]) == CommitReport(head, "", is_ok=True, cause="")
    assert "?? mine.txt" in lines(top)


def test_the_first_commit_is_made(project: Path, home: Path) -> None:
    ours = checkout(project)
    write(project, {"a.txt": "x", "b.txt": "x"})
    nothing = commit_paths(ours, [], [], "m", person(home), TimeLimits())
    assert (nothing.is_ok, nothing.head) == (True, "")
    done = commit_paths(ours, ["a.txt"], [], "m", person(home), TimeLimits())
    assert done.is_ok
    assert done.head == git(project, "rev-parse", "HEAD").strip()
    assert lines(project)[1:] == ["?? b.txt"]


def test_a_hook_that_refuses_is_heard_at_its_end(top: Path, commit: Commit) -> None:
    head, seen = git(top, "rev-parse", "HEAD").strip(), lines(top)
    hook(top, "pre-commit", "seq 1 100000; echo no, not this >&2; exit 1")
    done = commit(["dirty.txt", "mine.txt"])
    assert (done.is_ok, done.cause, done.head) == (False, "", head)
    assert len(done.output) <= 4000
    assert done.output.endswith("100000\nno, not this")
    assert lines(top) == seen


def test_a_hook_may_edit_the_message(top: Path, commit: Commit) -> None:
    hook(top, "commit-msg", 'echo "signed: hook" >> "$1"')
    write(top, {"a.txt": "z"})
    assert commit(["a.txt"]).is_ok
    assert "signed: hook" in git(top, "log", "-1", "--format=%B")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pre-commit", "echo formatted > a.txt; git add a.txt"),
        ("pre-commit", "git add mine.txt"),
        ("post-commit", "git add mine.txt; rm .git/hooks/*; git commit -q --amend --no-edit"),
    ],
)
def test_a_hook_that_changes_what_is_committed_fails_it(
    top: Path, commit: Commit, name: str, text: str
) -> None:
    head, files = git(top, "rev-parse", "HEAD").strip(), state(top)
    hook(top, name, text)
    write(top, {"a.txt": "z"})
    done = commit(["a.txt"])
    assert (done.is_ok, done.head) == (False, head)
    assert "a git hook changed the files to commit: " in done.output
    assert git(top, "rev-parse", "HEAD").strip() == head
    assert set(lines(top)[1:]) == {" M a.txt", " M dirty.txt", "?? mine.txt", "?? own/mine.txt"}
    assert state(top).keys() == files.keys()


def test_a_hook_that_changes_the_first_commit_leaves_none(project: Path, home: Path) -> None:
    hook(project, "pre-commit", "git add b.txt")
    write(project, {"a.txt": "x", "b.txt": "x"})
    done = commit_paths(checkout(project), ["a.txt"], [], "m", person(home), TimeLimits())
    assert (done.is_ok, done.head) == (False, "")
    assert set(lines(project)[1:]) == {"?? a.txt", "?? b.txt"}


def test_a_commit_is_announced_with_its_parent_and_tree(top: Path, home: Path) -> None:
    told = list[tuple[str, str]]()
    ours, head = checkout(top), git(top, "rev-parse", "HEAD").strip()

    def announce(parent: str, tree: str) -> None:
        assert git(top, "rev-parse", "HEAD").strip() == head
        told.append((parent, tree))

    for _ in range(2):  # there is nothing left of it for the second one
        done = commit_paths(
            ours, ["dirty.txt"], [], "m", person(home), TimeLimits(), before_commit=announce
        )
        assert done.is_ok
    assert told == [(head, git(top, "rev-parse", "HEAD^{tree}").strip())]


def test_signing_that_hangs_ends_at_the_limit(top: Path, commit: Commit) -> None:
    seen = lines(top)
    write(top, {".git/sign": "#!/bin/sh\nexec sleep 60\n"})
    (top / ".git/sign").chmod(0o755)
    git(top, "config", "commit.gpgSign", "true")
    git(top, "config", "gpg.program", str(top / ".git/sign"))
    done = commit(["dirty.txt"], wall=0.5)
    assert (done.is_ok, done.cause) == (False, "wall")
    assert lines(top) == seen
    assert not (top / ".git/index.lock").exists()


def test_a_merge_that_an_agent_began_is_not_committed(top: Path, commit: Commit) -> None:
    git(top, "stash", "-q", "-u")
    git(top, "switch", "-q", "-c", "side")
    write(top, {"side.txt": "x"})
    save(top)
    git(top, "switch", "-q", "main")
    git(top, "merge", "-q", "--no-commit", "--no-ff", "side")
    assert commit(["side.txt"]).is_ok
    assert git(top, "log", "-1", "--format=%P").split() == [git(top, "rev-parse", "HEAD~1").strip()]


def test_a_file_that_can_not_be_staged_is_told(top: Path, commit: Commit) -> None:
    seen = lines(top)
    git(top, "config", "filter.bad.clean", "false")
    git(top, "config", "filter.bad.required", "true")
    write(top, {".git/info/attributes": "*.bad filter=bad\n", "x.bad": "x"})
    done = commit(["dirty.txt", "x.bad"])
    assert not done.is_ok
    assert "clean filter 'bad' failed" in done.output
    assert lines(top) == [*seen, "?? x.bad"]


def test_the_caller_s_git_variables_do_not_lead_elsewhere(top: Path, commit: Commit) -> None:
    assert commit(["dirty.txt"], GIT_INDEX_FILE="/nowhere/index", GIT_DIR="/nowhere").is_ok
    assert committed(top) == ["M dirty.txt"]


def test_a_skipped_file_is_not_deleted_by_a_commit(top: Path, commit: Commit) -> None:
    git(top, "update-index", "--skip-worktree", "a.txt")
    (top / "a.txt").unlink()
    assert commit(["dirty.txt"]).is_ok
    assert committed(top) == ["M dirty.txt"]
    assert git(top, "ls-files", "-t", "a.txt") == "S a.txt\n"


def test_a_skipped_file_that_goes_along_stays_as_well(top: Path, commit: Commit) -> None:
    git(top, "update-index", "--skip-worktree", "a.txt")
    (top / "a.txt").unlink()
    assert commit(["dirty.txt"], ["a.txt"]).is_ok
    assert committed(top) == ["M dirty.txt"]


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_what_was_checked_is_committed_whatever_became_of_it(
    tmp_path: Path, home: Path, form: str
) -> None:
    top = tmp_path / form
    top.mkdir()
    git(top, "init", "-q", f"--object-format={form}")
    write(top, {"gone": "1", "turned": "1", "kept": "1"})
    base = save(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    for name in ("gone", "turned"):
        (top / name).unlink()
    write(top, {"turned/new": "2", "tab\tnew\nline": "2"})
    after = take_snapshot(ours, before)
    write(top, {"gone": "3", "turned/new": "3", "tab\tnew\nline": "3"})
    paths = [one.path for one in list_changes(ours, before, after)]
    checked = CheckedTree(base, after.tree)
    assert commit_paths(
        ours, paths, [], "m", person(home), TimeLimits(), checked_tree=checked
    ).is_ok
    assert sorted(committed(top)) == [
        "A tab\tnew\nline",
        "A turned/new",
        "D gone",
        "D turned",
    ]
    assert git(top, "show", "HEAD:turned/new") == "2"


def test_git_tells_whether_it_knows_who_commits(top: Path, home: Path) -> None:
    ours = checkout(top)
    assert explain_missing_identity(ours, person(home)) == ""
    git(top, "config", "user.useConfigOnly", "true")
    nobody = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    assert "user.email" in explain_missing_identity(ours, nobody)
    done = commit_paths(
        ours, ["dirty.txt"], [], "m", nobody | {"PATH": os.environ["PATH"]}, TimeLimits()
    )
    assert not done.is_ok
    assert "user.email" in done.output


def test_dirt_is_what_is_tracked_and_differs(top: Path) -> None:
    write(top, {".cub/tasks": "1", "x/staged.txt": "x"})
    git(top, "add", "-f", ".cub/tasks", "x/staged.txt")
    git(top, "rm", "-q", "--cached", "a.txt")
    (top / "sub/b.txt").unlink()
    index = (top / ".git/index").read_bytes()
    assert list_dirty_paths(checkout(top)) == ["a.txt", "dirty.txt", "sub/b.txt", "x/staged.txt"]
    assert (top / ".git/index").read_bytes() == index


def test_a_commit_leaves_the_other_files_alone(top: Path, commit: Commit) -> None:
    files = state(top)
    assert commit(["dirty.txt"]).is_ok
    assert state(top) == files
