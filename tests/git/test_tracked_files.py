"""What git tracks below a folder, asked from anywhere, a hook too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cub.git.tracked_files import list_tracked_files
from tests.actions.reviews import commit
from tests.conftest import environment, git
from tests.written_files import write_files, write_program


def put(root: Path, *paths: str) -> None:
    write_files(root, dict.fromkeys(paths, ""))


def test_outside_git_nobody_can_tell(tmp_path: Path) -> None:
    assert list_tracked_files(tmp_path) is None


def test_while_nothing_is_tracked_all_that_is_not_ignored_counts(project: Path) -> None:
    put(project, "a.py", "b.log", "c/d.py")
    (project / ".gitignore").write_text("*.log\n")
    assert sorted(list_tracked_files(project) or ()) == [".gitignore", "a.py", "c/d.py"]
    git(project, "add", "c")
    assert list_tracked_files(project) == ("c/d.py",)


def test_paths_are_those_below_the_folder(project: Path) -> None:
    put(project, "a.py", "c/d.py", "c/e/f.py")
    git(project, "add", "-A")
    assert list_tracked_files(project / "c") == ("d.py", "e/f.py")
    assert list_tracked_files(project / "c" / "e") == ("f.py",)


@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows has not")
def test_names_come_as_they_are(project: Path) -> None:
    names = {"ü", "a b", '"', "a\nb", "\\", "x\udcffy"}
    put(project, *names)
    git(project, "add", "-A")
    assert set(list_tracked_files(project) or ()) == names


def test_an_unmerged_path_is_told_once(project: Path) -> None:
    (project / "a").write_text("0\n")
    commit(project)
    git(project, "branch", "other")
    for branch in ("other", "-"):
        git(project, "checkout", "-q", branch)
        (project / "a").write_text(branch)
        commit(project)
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "other")
    assert list_tracked_files(project) == ("a",)


def test_a_repository_that_git_cannot_read_is_nobodys(project: Path) -> None:
    put(project, "a.py")
    (project / ".git" / "index").write_bytes(b"no index")
    assert list_tracked_files(project) is None


@pytest.mark.parametrize("linked", [False, True])
def test_a_hook_is_told_the_same(project: Path, tmp_path: Path, home: Path, linked: bool) -> None:
    """In a linked work tree, git gives its hooks a GIT_DIR, and none of the other variables."""
    put(project, "a.py", "c/d.py")
    commit(project)
    tree, told = project, tmp_path / "told.json"
    if linked:
        tree = tmp_path / "linked"
        git(project, "worktree", "add", "-q", str(tree))
    script = tmp_path / "ask.py"
    script.write_text(
        "import json, pathlib\nfrom cub.git.tracked_files import list_tracked_files as tracked\n"
        f"found = [tracked(pathlib.Path(p)) for p in ({str(tree)!r}, {str(tree / 'c')!r})]\n"
        f"pathlib.Path({str(told)!r}).write_text(json.dumps(found))\n"
    )
    hook = project / ".git" / "hooks" / "pre-commit"
    write_program(hook, f'#!/bin/sh\nexec "{sys.executable}" "{script}"\n')
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(
        ["git", *who, "commit", "-q", "--allow-empty", "-m", "x"],
        cwd=tree,
        env=environment(home),
        check=True,
    )
    assert json.loads(told.read_text()) == [["a.py", "c/d.py"], ["d.py"]]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script as a program")
def test_whoever_waits_for_a_slow_git_is_told(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, "a.py")
    git(project, "add", "a.py")
    flag, slow = tmp_path / "flag", tmp_path / "bin" / "git"
    real = shutil.which("git")
    wait = f"while ! test -e {flag}; do sleep 0.01; done"
    write_program(slow, f'#!/bin/sh\n{wait}\nexec {real} "$@"\n')
    monkeypatch.setenv("PATH", str(slow.parent), prepend=os.pathsep)
    assert list_tracked_files(project, flag.touch) == ("a.py",)
