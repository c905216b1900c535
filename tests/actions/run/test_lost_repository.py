"""Agents that destroy what git keeps: the repository, objects, refs, the stash."""

from __future__ import annotations

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_status import read_status
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.actions.run.sound import require_told, seen
from tests.conftest import git
from tests.examples import keep_few


def _prepare(bakery: Shop) -> None:
    bakery.write("kept.txt", "kept\nand more\n")
    bakery.commit("stock")
    git(bakery.root, "tag", "light")
    bakery.write("kept.txt", "stashed\n")
    git(bakery.root, "stash", "push", "-q", "-m", "one")
    bakery.write("mine.txt", "mine\n")
    bakery.task()


@pytest.fixture
def kept(copy_shop: CopyShop) -> Shop:
    """With a tag, an entry on the stash, and a file that git lacks."""
    return copy_shop(_prepare)


def _work(shop: Shop, shell: str) -> Done:
    shop.client(f"cat > /dev/null; {{ {shell}; }} > /dev/null 2>&1")
    return shop.run(once=True)


_WHO = "git config user.name t; git config user.email t@t"


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "rm -rf .git; git init -q; {who}; git add -A; git commit -qm theirs; echo C > c.py",
            "rm -rf .git; echo C > c.py",
            "mv .git ../moved; echo C > c.py; git init -q ../o; echo 'gitdir: ../o/.git' > .git",
            "rm .git/HEAD; echo C > c.py",
        ],
        2,
    ),
)
def test_a_repository_that_was_destroyed_is_back_at_once(kept: Shop, shell: str) -> None:
    before = seen(kept)
    stash = git(kept.root, "stash", "list", "--format=%H")
    done = _work(kept, shell.format(who=_WHO))
    (end,) = require_told(kept, done)
    assert done.outcomes == ["unknown"]
    assert "destroyed or replaced the repository" in end["fail"]["reason"]
    assert seen(kept) == before
    assert git(kept.root, "stash", "list", "--format=%H") == stash
    assert git(kept.root, "tag") == "light\n"
    kept.client("cat > /dev/null; echo C > c.py")
    assert kept.run(once=True).outcomes == ["ok"]


@pytest.mark.parametrize("worktree", [False, True])
def test_the_whole_directory_that_was_deleted_is_back(kept: Shop, worktree: bool) -> None:
    before = seen(kept)
    kept.client('cat > /dev/null; rm -rf "$PWD"')
    done = kept.run(once=True, no_checks=True, worktree=worktree)
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert (done.outcomes, done.end["end"]) == (["unknown"], "damaged")
    assert reason.startswith("the attempt deleted the directory /")
    assert seen(kept) == before
    (folder,) = RunFolder.list_all(kept.root)
    assert read_status(folder).status.end == {"v": 1, **done.end}
    kept.client("cat > /dev/null; echo C > c.py")
    assert kept.run(once=True).outcomes == ["ok"]


def test_a_snapshot_that_was_destroyed_is_restored(kept: Shop) -> None:
    before = seen(kept)
    done = _work(
        kept,
        "rm mine.txt; git stash clear; git tag -d light;"
        "git for-each-ref --format='%(refname)' refs/worktree | xargs -n 1 git update-ref -d;"
        "git reflog expire --expire=now --all; git gc -q --prune=now; echo evil > kept.txt; exit 1",
    )
    assert done.outcomes == ["harness_exit"]
    assert seen(kept) == before
    assert "took an entry off the stash" in done.notices
    assert "refs/tags/light" in done.notices
    assert git(kept.root, "stash", "show", "-p").count("+stashed") == 1


def test_a_check_that_destroys_the_repository_fails_the_attempt(kept: Shop) -> None:
    kept.write("check.sh", "true\n")
    kept.commit("check")
    before = seen(kept)
    kept.client("cat > /dev/null; echo C > c.py; echo 'rm -rf .git' > check.sh")
    done = kept.run(once=True, checks="sh check.sh")
    assert done.outcomes == ["unknown"]
    assert seen(kept) == before


def test_what_an_accepted_attempt_took_is_back_as_well(kept: Shop) -> None:
    done = _work(kept, "git stash drop -q; git tag -d light; git branch extra; echo C > c.py")
    assert done.outcomes == ["ok"]
    assert git(kept.root, "tag") == "light\n"
    assert len(git(kept.root, "stash", "list").splitlines()) == 1
    assert "extra" in git(kept.root, "branch")
    assert kept.log()[0] == "task(s-1): Do s-1"
