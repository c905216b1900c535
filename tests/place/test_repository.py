"""The repositories of a place's trees: what an agent and checks find there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.place.checkout import find_checkout
from cub.place.repository import read_repository_settings
from tests.conftest import git
from tests.place.places import begin_place, commit_files


@pytest.fixture
def checkout(project: Path) -> Path:
    commit_files(project, {"a.py": "a = 1\n", ".gitignore": "*.log\n"})
    return project


def test_a_tree_is_a_repository_with_the_persons_branches(checkout: Path) -> None:
    git(checkout, "tag", "v1")
    git(checkout, "branch", "other")
    git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(
        checkout, "stash", "store", "-m", "mine", git(checkout, "stash", "create").strip() or "HEAD"
    )
    git(checkout, "remote", "add", "origin", "https://example.org/x.git")
    top = begin_place(checkout).folder.tree
    assert git(top, "status", "--porcelain", "--branch") == "## main\n"
    names = git(top, "for-each-ref", "--format=%(refname)").split()
    assert names == [
        "refs/heads/main", "refs/heads/other", "refs/remotes/origin/main", "refs/tags/v1"
    ]  # fmt: skip
    assert git(top, "remote") == ""
    assert git(top, "log", "--format=%s", "other") == "x\n"


def test_only_settings_that_decide_on_objects_are_taken_over(checkout: Path) -> None:
    odd = 'x "y" \\ z\nnext; # no comment'
    values = {
        "user.name": odd, "core.autocrlf": "input", "filter.a.b.clean": "sh -c 'x'",
        "alias.x": "!evil", "core.pager": "evil", "remote.o.url": "evil", "credential.helper": "e",
    }  # fmt: skip
    for key, value in values.items():
        git(checkout, "config", key, value)
    (checkout / ".git/info").mkdir(exist_ok=True)
    (checkout / ".git/info/exclude").write_text("*.tmp")
    place = begin_place(checkout, laid={"x.tmp": b""})
    top = place.folder.tree
    git(place.folder.path, "config", "-f", "tree/.git/config", "user.email", "t@t")
    kept = git(top, "config", "--local", "--list", "--name-only").split()
    assert {*values} & {*kept} == {"user.name", "core.autocrlf", "filter.a.b.clean"}
    assert git(top, "config", "user.name") == f"{odd}\n" or git(top, "config", "user.name") == "t\n"
    assert git(top, "status", "--porcelain") == ""


def test_commands_do_not_find_the_last_attempts_repository(checkout: Path) -> None:
    place = begin_place(checkout)
    top = place.folder.tree
    git(top, "config", "core.hooksPath", "evil")
    git(top, "tag", "evil")
    (top / ".git/objects/info/alternates").write_text("/evil\n")
    place.begin({})
    assert git(top, "tag") == ""
    assert "evil" not in (top / ".git/config").read_text()
    assert git(top, "log", "--format=%s") == "x\n"


def test_a_detached_head_stays_one(checkout: Path) -> None:
    git(checkout, "checkout", "-q", "--detach")
    settings = read_repository_settings(find_checkout(checkout))
    assert settings.hooks_folder == checkout / ".git/hooks"
    assert not settings.signs_commits
