"""Agents that use git themselves: commits, branches, resets, merges, submodules, stashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.tasks.stores import install_git_files
from cub.files import lock_project
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import CHECK, Done, Shop
from tests.actions.run.sound import require_told, seen
from tests.conftest import git
from tests.examples import keep_few

_FAIL = "; exit 1"
_COMMIT = "echo made > made.txt; git add made.txt; git commit -qm theirs"
# The messages before an attempt.
_BEFORE = ["client", "stock", "start"]
_ALLOW = ("-c", "protocol.file.allow=always")


def _prepare(bakery: Shop) -> None:
    bakery.write("kept.txt", "kept\nand more\n")
    bakery.task()
    bakery.client("true")
    with lock_project(bakery.root) as held:
        install_git_files(held)
    bakery.commit("stock")
    bakery.write("mine.txt", "mine\n")


@pytest.fixture
def stocked(copy_shop: CopyShop) -> Shop:
    """With two commits of a person's, the stores in the last one, and a file that git lacks."""
    return copy_shop(_prepare)


def _work(shop: Shop, shell: str) -> Done:
    """One attempt of an agent that does this; the client is committed before."""
    shop.client(f"cat > /dev/null; {{ {shell}; }} > /dev/null 2>&1")
    git(shop.root, "add", ".cub")
    git(shop.root, "commit", "-qm", "client")
    return shop.run(once=True)


def _kept(shop: Shop) -> list[str]:
    """The messages of commits that only cub's own refs hold."""
    words = ("log", "--format=%s", "--glob=refs/cub", "--not", "--branches")
    return git(shop.root, *words).splitlines()


def test_a_commit_of_the_agent_is_taken_over_and_not_doubled(stocked: Shop) -> None:
    done = _work(stocked, _COMMIT)
    (end,) = require_told(stocked, done)
    assert end["ok"]
    assert stocked.log() == ["theirs", *_BEFORE]
    assert end["git"]["files"] == ["made.txt"]
    assert "there are commits that the run did not make" in done.notices
    assert stocked.dirt() == "?? mine.txt\n"


def test_what_the_agent_did_not_commit_goes_on_top(stocked: Shop) -> None:
    done = _work(stocked, f"{_COMMIT}; echo more > more.txt")
    assert done.outcomes == ["ok"]
    assert stocked.log() == ["task(s-1): Do s-1", "theirs", *_BEFORE]
    assert stocked.dirt() == "?? mine.txt\n"


def test_commits_of_a_failed_attempt_are_taken_back_and_kept_apart(stocked: Shop) -> None:
    again = "; echo 2 >> made.txt; git commit -qam 'theirs again'; echo mess > kept.txt"
    done = _work(stocked, _COMMIT + again + _FAIL)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["harness_exit"]
    assert stocked.log() == _BEFORE
    assert stocked.dirt() == "?? mine.txt\n"
    assert _kept(stocked) == ["theirs again", "theirs"]
    assert "refs/cub/" in done.notices
    assert "+mess" in (stocked.root / end["git"]["patch"]).read_text()


def test_a_commit_that_fails_a_check_is_taken_back(stocked: Shop) -> None:
    stocked.client(
        "cat > /dev/null; echo 'a.py:1:1: F821 x' > wrong; git add wrong; git commit -qm t"
    )
    done = stocked.run(once=True, checks=CHECK)
    assert done.outcomes == ["checks_failed"]
    assert stocked.log() == ["stock", "start"]
    assert not (stocked.root / "wrong").exists()


def test_an_empty_commit_is_no_change(stocked: Shop) -> None:
    done = _work(stocked, "git commit -q --allow-empty -m theirs")
    assert done.outcomes == ["no_changes"]
    assert stocked.log() == _BEFORE


def test_a_commit_and_its_revert_are_no_change(stocked: Shop) -> None:
    done = _work(stocked, f"{_COMMIT}; git revert --no-edit HEAD")
    assert done.outcomes == ["no_changes"]
    assert stocked.log() == _BEFORE


def test_a_commit_of_all_takes_no_file_of_the_persons_if_it_fails(stocked: Shop) -> None:
    before = seen(stocked).files
    done = _work(stocked, f"echo made > made.txt; git add -A; git commit -qm theirs{_FAIL}")
    assert done.outcomes == ["harness_exit"]
    assert seen(stocked).files == before
    assert stocked.dirt() == "?? mine.txt\n"


def test_another_branch_without_a_commit_is_left_again(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, "git switch -qc theirs; echo made > made.txt")
    assert done.outcomes == ["ok"]
    after = seen(stocked)
    assert after.branch == before.branch
    assert stocked.log() == ["task(s-1): Do s-1", *_BEFORE]


def test_another_branch_alone_is_no_change(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, "git switch -qc theirs")
    assert done.outcomes == ["no_changes"]
    assert seen(stocked).branch == before.branch
    assert done.notices == ""


def test_commits_on_another_branch_come_to_the_branch_of_the_run(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, f"git switch -qc theirs; {_COMMIT}")
    assert done.outcomes == ["ok"]
    assert seen(stocked).branch == before.branch
    assert stocked.log() == ["theirs", *_BEFORE]
    assert stocked.dirt() == "?? mine.txt\n"


def test_a_failure_on_another_branch_leads_back(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, f"git switch -qc theirs; {_COMMIT}{_FAIL}")
    assert done.outcomes == ["harness_exit"]
    after = seen(stocked)
    assert (after.branch, after.files, after.dirt) == (before.branch, before.files, before.dirt)
    assert git(stocked.root, "log", "-1", "--format=%s", "theirs") == "theirs\n"


def test_a_detached_head_is_led_back(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, f"git switch -q --detach; {_COMMIT}")
    assert done.outcomes == ["ok"]
    assert seen(stocked).branch == before.branch
    assert stocked.log() == ["theirs", *_BEFORE]


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "git reset -q --hard HEAD~1",
            "git reset -q --hard HEAD~2; echo made > made.txt",
            (
                "git reset -q --hard HEAD~2; echo made > made.txt; "
                "git add made.txt; git commit -qm theirs"
            ),
            "git commit -q --amend --allow-empty -m theirs",
            (
                "git switch -qf --orphan theirs; echo made > made.txt; "
                "git add made.txt; git commit -qm x"
            ),
            "git switch -qf --detach HEAD~2",
        ],
        3,
    ),
)
def test_leaving_the_history_is_a_failure_that_is_undone(stocked: Shop, shell: str) -> None:
    before = seen(stocked)
    done = _work(stocked, shell)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["unknown"]
    assert "left the branch" in end["fail"]["reason"]
    after = seen(stocked)
    assert (after.files, after.branch, after.dirt) == (before.files, before.branch, before.dirt)
    assert stocked.log() == _BEFORE
    assert stocked.status() == "retry"


_CONFLICT = (
    "git switch -qc theirs; echo theirs > kept.txt; git commit -qam theirs; git switch -q -; "
    "echo ours > kept.txt; git commit -qam ours; git merge theirs; true"
)


def test_a_conflict_that_is_left_behind_fails_and_is_undone(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, _CONFLICT)
    assert done.outcomes != ["ok"]
    after = seen(stocked)
    assert (after.files, after.branch, after.dirt) == (before.files, before.branch, before.dirt)
    assert not (stocked.root / ".git/MERGE_HEAD").exists()
    assert stocked.log() == _BEFORE


def test_a_merge_that_the_agent_finished_is_taken_over(stocked: Shop) -> None:
    merge = _CONFLICT.replace("; true", "; echo both > kept.txt; git commit -qam merged")
    done = _work(stocked, merge)
    assert done.outcomes == ["ok"]
    assert stocked.log()[0] == "merged"
    assert (stocked.root / "kept.txt").read_text() == "both\n"


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "git rebase -q --onto HEAD~2 HEAD~1; true",
            "git bisect start",
            "git revert --no-commit HEAD",
            "git stash -u",
            "git rm -q --cached kept.txt",
            "git add -A",
        ],
        3,
    ),
)
def test_after_a_failure_git_is_amid_nothing(stocked: Shop, shell: str) -> None:
    before = seen(stocked)
    done = _work(stocked, f"{shell}; echo made > made.txt{_FAIL}")
    assert done.outcomes == ["harness_exit"]
    after = seen(stocked)
    assert (after.files, after.branch, after.dirt) == (before.files, before.branch, before.dirt)
    status = git(stocked.root, "status")
    assert "bisect" not in status
    assert "rebase" not in status
    assert "revert" not in status


def test_what_the_agent_staged_does_not_stay_so(stocked: Shop) -> None:
    done = _work(stocked, "echo made > made.txt; git add -A; git rm -q --cached kept.txt")
    assert done.outcomes == ["ok"]
    assert stocked.dirt() == "?? mine.txt\n"
    assert "kept.txt" in git(stocked.root, "ls-files").split()


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "git checkout -q .",
            "git stash -q",
            "git stash -qu",
            "git reset -q --hard",
            "git clean -qfdx",
            "git reset -q --hard HEAD~1",
            "git restore .cub",
        ],
        3,
    ),
)
def test_what_the_stores_know_outlives_a_git_that_throws_it_away(stocked: Shop, shell: str) -> None:
    """Between two commits there is much in the stores that no commit has."""
    stocked.client(
        f"cat > /dev/null; test $CUB_TASK = s-1 || {{ {shell}; }}; echo $CUB_TASK > $CUB_TASK.txt"
    )
    stocked.task("s-2", depends_on=["s-1"])
    stocked.task("s-3", status="parked", notes="by hand")
    git(stocked.root, "add", ".cub")
    git(stocked.root, "commit", "-qm", "client")
    stocked.task("s-4", status="parked", notes="not committed")
    done = stocked.run(iterations=2)
    first, second = require_told(stocked, done)
    assert first["ok"]
    assert (first["task"], second["task"]) == ("s-1", "s-2")
    assert stocked.status("s-1") == "closed"
    assert stocked.record("s-3")["notes"] == "by hand"
    assert stocked.record("s-4")["notes"] == "not committed"
    assert stocked.status("s-2") == ("closed" if second["ok"] else "retry")


def _with_module(shop: Shop, tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.mkdir()
    git(module, "init", "-q")
    (module / "inner.txt").write_text("inner\n")
    git(module, "add", "-A")
    git(module, "commit", "-qm", "inner")
    git(shop.root, *_ALLOW, "submodule", "add", "-q", str(module), "mod")
    git(shop.root, "commit", "-qm", "module")
    for key in ("user.name", "user.email"):
        git(shop.root / "mod", "config", key, "t@t")


def test_edits_inside_of_a_submodule_can_not_be_kept(stocked: Shop, tmp_path: Path) -> None:
    _with_module(stocked, tmp_path)
    before = seen(stocked)
    done = _work(stocked, "echo x > mod/inner.txt; echo n > mod/new.txt; echo made > made.txt")
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["commit_failed"]
    assert "mod" in end["fail"]["reason"]
    assert "mod/inner.txt" in (stocked.root / end["git"]["patch"]).read_text()
    after = seen(stocked)
    assert (after.files, after.dirt) == (before.files, before.dirt)


def test_a_submodule_at_another_commit_is_a_change(stocked: Shop, tmp_path: Path) -> None:
    _with_module(stocked, tmp_path)
    done = _work(stocked, "cd mod; echo x > inner.txt; git commit -qam deeper")
    (end,) = require_told(stocked, done)
    assert (done.outcomes, end["git"]["files"]) == (["ok"], ["mod"])
    assert stocked.dirt() == "?? mine.txt\n"
    assert git(stocked.root / "mod", "log", "-1", "--format=%s") == "deeper\n"


def test_a_repository_that_the_agent_makes_inside_is_seen(stocked: Shop) -> None:
    before = seen(stocked)
    done = _work(stocked, "git init -q nested; echo x > nested/f; echo made > made.txt")
    assert done.outcomes == ["commit_failed"]
    assert "no commit would have nested/" in done.of("attempt_end")[0]["fail"]["reason"]
    assert stocked.dirt() == "?? mine.txt\n?? nested/\n"
    assert seen(stocked).branch == before.branch


def test_the_repository_itself_may_be_damaged(stocked: Shop) -> None:
    """The run ends, and what it knows is in the ledger."""
    done = _work(stocked, "rm .git/HEAD")
    assert done.outcomes == ["unknown"]
    require_told(stocked, done)
