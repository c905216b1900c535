"""Commits of attempts: those that an agent makes in its tree, and the one with the person's hooks,
identity and signature.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.place.commits import (
    HookResult,
    bring_agent_commits,
    has_commit_hooks,
    list_conflicts,
    make_commit,
    run_commit_hooks,
)
from cub.place.folder import make_folders_usable
from cub.place.place import Place
from tests.conftest import git
from tests.place.places import LIMITS, begin_place, commit_files, surroundings
from tests.written_files import write_program


@pytest.fixture
def checkout(project: Path) -> Path:
    commit_files(project, {"a.py": "a = 1\n"})
    return project


@pytest.fixture
def place(checkout: Path) -> Place:
    return begin_place(checkout)


def _make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _bring(place: Place, project: Path) -> str:
    return bring_agent_commits(place, place.base, surroundings(project))


def test_commits_come_with_their_objects(place: Place, project: Path) -> None:
    assert _bring(place, project) == ""
    commit_files(place.folder.tree, {"b.py": "b\n"}, "one")
    head = commit_files(place.folder.tree, {"c.py": "c\n"}, "two")
    git(place.folder.tree, "pack-refs", "--all")
    assert _bring(place, project) == head
    shutil.rmtree(place.folder.tree / ".git")
    log = place.tree.run("log", "--format=%s", f"{place.base.commit}..{head}")
    assert log.decode().split() == ["two", "one"]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda top: git(top, "checkout", "-q", "--orphan", "other"),
        lambda top: (top / ".git/refs/heads/main").write_text("0" * 40),
        lambda top: (top / ".git/HEAD").write_text("ref: refs/heads/../../../secret\n"),
        lambda top: (top / ".git/HEAD").unlink(),
        lambda top: _make_fifo(top / ".git/HEAD"),
        lambda top: shutil.rmtree(top / ".git"),
        lambda top: shutil.rmtree(top / ".git/objects"),
    ],
    ids=["orphan", "no commit", "outside", "no HEAD", "FIFO", "no repository", "no objects"],
)
def test_of_what_leads_nowhere_only_the_files_count(
    place: Place, project: Path, break_it: Callable[[Path], object]
) -> None:
    commit_files(place.folder.tree, {"b.py": "b\n"})
    break_it(place.folder.tree)
    make_folders_usable(place.folder.tree)  # which removes what git would wait for
    state = place.read_state()
    assert _bring(place, project) == ""
    assert "b.py" in place.tree.run("ls-tree", "--name-only", state.tree).decode()


def test_conflicts_of_a_merge_are_named(place: Place, project: Path) -> None:
    top = place.folder.tree
    assert list_conflicts(place, surroundings(project)) == ()
    git(top, "checkout", "-q", "-b", "other")
    commit_files(top, {"a.py": "a = 2\n"})
    git(top, "checkout", "-q", "main")
    commit_files(top, {"a.py": "a = 3\n"})
    with pytest.raises(Exception, match="merge"):
        git(top, "merge", "other")
    assert list_conflicts(place, surroundings(project)) == ("a.py",)


def _write_hook(folder: Path, name: str, text: str) -> None:
    write_program(folder / name, f"#!/bin/sh\n{text}\n")


def _run(checkout: Path, text: str = "a = 2\n") -> tuple[Place, HookResult]:
    place = begin_place(checkout)
    (place.folder.tree / "a.py").write_text(text)
    tree = place.read_state().tree
    place.check_out(tree)
    return place, run_commit_hooks(place, tree, "subject\n\nbody", surroundings(checkout), LIMITS)


def test_without_hooks_there_is_nothing_to_run(checkout: Path) -> None:
    assert not has_commit_hooks(begin_place(checkout))
    _write_hook(checkout / ".git/hooks", "post-commit", "exit 1")
    assert not has_commit_hooks(begin_place(checkout))


def test_a_hook_sees_what_is_committed_and_may_change_it(checkout: Path) -> None:
    hooks = checkout / ".git/hooks"
    _write_hook(hooks, "pre-commit", "git diff --cached --name-only > seen; sed -i s/2/3/ a.py; "
                "echo n > new.py; git add a.py new.py")  # fmt: skip
    _write_hook(hooks, "commit-msg", 'echo "Signed-off-by: t" >> "$1"')
    place, result = _run(checkout)
    assert has_commit_hooks(place)
    assert (result.message, result.failure) == ("subject\n\nbody\nSigned-off-by: t", "")
    assert place.tree.run("cat-file", "blob", f"{result.tree}:a.py") == b"a = 3\n"
    names = place.tree.run("ls-tree", "--name-only", result.tree).decode().split()
    assert names == ["a.py", "new.py"]
    assert (place.folder.checks / "seen").read_text() == "a.py\n"
    assert git(checkout, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("hook", "reason"),
    [("echo not this; exit 1", "not this"), ("exit 1", "without a word")],
)
def test_a_hook_may_refuse(checkout: Path, hook: str, reason: str) -> None:
    _write_hook(checkout / ".git/hooks", "pre-commit", hook)
    assert reason in _run(checkout)[1].failure


@pytest.mark.parametrize("folder", [".githooks", "../outside"])
def test_hooks_are_those_of_the_checkout_and_not_the_attempts(checkout: Path, folder: str) -> None:
    git(checkout, "config", "core.hooksPath", folder)
    _write_hook(checkout / folder, "commit-msg", 'echo person >> "$1"')
    if folder == ".githooks":
        commit_files(checkout, {})
    place = begin_place(checkout)
    _write_hook(place.folder.tree / ".githooks", "commit-msg", 'echo attempt >> "$1"')
    tree = place.read_state().tree
    place.check_out(tree)
    result = run_commit_hooks(place, tree, "subject", surroundings(checkout), LIMITS)
    assert result.message == "subject\nperson"


def test_a_commit_has_the_persons_name_and_is_signed_if_theirs_are(
    checkout: Path, tmp_path: Path
) -> None:
    place = begin_place(checkout)
    git(checkout, "config", "user.name", "A Person")
    commit = make_commit(place, place.base.tree, place.base.commit, "subject\n\nbody é")
    shown = place.tree.run("log", "-1", "--format=%an%n%P%n%B", commit).decode()
    assert shown == f"A Person\n{place.base.commit}\nsubject\n\nbody é\n\n"
    status = 'printf "\\n[GNUPG:] SIG_CREATED " >&2'
    program = write_program(
        tmp_path / "sign", f"#!/bin/sh\ncat > /dev/null\n{status}\necho SIGNATURE\n"
    )
    git(checkout, "config", "commit.gpgSign", "true")
    git(checkout, "config", "gpg.program", str(program))
    place.set_base(place.base)
    signed = make_commit(place, place.base.tree, place.base.commit, "subject")
    assert b"gpgsig SIGNATURE" in place.tree.run("cat-file", "commit", signed)
