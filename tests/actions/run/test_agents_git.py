"""Agents that use git themselves: commits, branches, resets, merges, submodules, stashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.reviews import commit
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
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
    bakery.add_git_files()
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


def test_a_commit_of_the_agent_is_taken_over_and_not_doubled(stocked: Shop) -> None:
    done = _work(stocked, _COMMIT)
    (end,) = require_told(stocked, done)
    assert end["ok"]
    assert stocked.log() == ["task(s-1): Do s-1", "theirs", *_BEFORE]
    assert end["git"]["files"] == ["made.txt"]
    of_cub = git(stocked.root, "diff", "--name-only", "HEAD~1", "HEAD").split()
    assert of_cub == [".cub/ledger.jsonl", ".cub/tasks.jsonl"]
    assert "there are commits that the run did not make" in done.notices
    assert stocked.dirt() == "?? mine.txt\n"


def test_what_the_agent_did_not_commit_goes_on_top(stocked: Shop) -> None:
    done = _work(stocked, f"{_COMMIT}; echo more > more.txt")
    assert done.outcomes == ["ok"]
    assert stocked.log() == ["task(s-1): Do s-1", "theirs", *_BEFORE]
    assert "more.txt" in git(stocked.root, "show", "--format=", "--name-only", "HEAD").split()
    assert stocked.dirt() == "?? mine.txt\n"


def test_commits_of_a_failed_attempt_are_in_its_patch_alone(stocked: Shop) -> None:
    again = "; echo 2 >> made.txt; git commit -qam 'theirs again'; echo mess > kept.txt"
    done = _work(stocked, _COMMIT + again + _FAIL)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["harness_exit"]
    assert stocked.log() == _BEFORE
    assert stocked.dirt() == "?? mine.txt\n"
    patch = (stocked.root / end["git"]["patch"]).read_text()
    assert "+made\n+2\n" in patch
    assert "+mess" in patch


@pytest.mark.parametrize(
    "shell",
    [
        "git commit -q --allow-empty -m theirs",
        f"{_COMMIT}; git revert --no-edit HEAD",
        "git switch -qc theirs",
    ],
)
def test_a_history_without_another_file_is_no_change(stocked: Shop, shell: str) -> None:
    assert _work(stocked, shell).outcomes == ["no_changes"]
    assert stocked.log() == _BEFORE


@pytest.mark.parametrize(
    ("shell", "theirs"),
    [
        ("git switch -qc theirs; echo made > made.txt", []),
        (f"git switch -qc theirs; {_COMMIT}", ["theirs"]),
        (f"git switch -q --detach; {_COMMIT}", ["theirs"]),
        (f"git commit -q --amend --allow-empty -m theirs; {_COMMIT}", []),
    ],
)
def test_commits_come_to_the_branch_of_the_run_if_they_lead_back(
    stocked: Shop, shell: str, theirs: list[str]
) -> None:
    """Else what is in the files is one commit."""
    before = seen(stocked)
    assert _work(stocked, shell).outcomes == ["ok"]
    assert seen(stocked).branch == before.branch
    assert stocked.log() == ["task(s-1): Do s-1", *theirs, *_BEFORE]
    assert (stocked.root / "made.txt").read_text() == "made\n"
    assert stocked.dirt() == "?? mine.txt\n"


_CONFLICT = (
    "git switch -qc theirs; echo theirs > kept.txt; git commit -qm theirs kept.txt; "
    "git switch -q -; "
    "echo ours > kept.txt; git commit -qm ours kept.txt; git merge theirs; true"
)


def test_a_conflict_that_is_left_behind_fails(stocked: Shop) -> None:
    done = _work(stocked, _CONFLICT)
    assert not done.end["ok"]
    assert "kept.txt" in done.of("attempt_end")[0]["fail"]["reason"]
    assert stocked.log() == _BEFORE


def test_a_merge_that_the_agent_finished_is_taken_over(stocked: Shop) -> None:
    merge = _CONFLICT.replace(
        "; true", "; echo both > kept.txt; git add kept.txt; git commit -qm merged"
    )
    done = _work(stocked, merge)
    assert done.outcomes == ["ok"]
    assert stocked.log()[1] == "merged"
    assert (stocked.root / "kept.txt").read_text() == "both\n"


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
        2,
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
    commit(module)
    git(shop.root, *_ALLOW, "submodule", "add", "-q", str(module), "mod")
    git(shop.root, "commit", "-qm", "module")
    for key in ("user.name", "user.email"):
        git(shop.root / "mod", "config", key, "t@t")


@pytest.mark.parametrize(
    "shell",
    [
        "echo x > mod/inner.txt; echo n > mod/new.txt",
        "cd mod; echo x > i; git add i; git commit -qm i",
    ],
)
def test_what_is_changed_inside_of_a_submodule_can_not_be_kept(
    stocked: Shop, tmp_path: Path, shell: str
) -> None:
    _with_module(stocked, tmp_path)
    done = _work(stocked, f"echo made > made.txt; test -s mod/inner.txt || exit 3; {shell}")
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["commit_failed"]
    assert "changes inside of the submodule mod can't be kept" in end["fail"]["reason"]
    assert stocked.dirt() == "?? mine.txt\n"


def test_a_repository_that_the_agent_makes_inside_is_seen(stocked: Shop) -> None:
    done = _work(stocked, "git init -q nested; echo x > nested/f; echo made > made.txt")
    assert done.outcomes == ["commit_failed"]
    assert "no commit would have nested/" in done.of("attempt_end")[0]["fail"]["reason"]
    assert stocked.dirt() == "?? mine.txt\n"


def test_stores_that_git_ignores_are_in_no_commit(bakery: Shop) -> None:
    bakery.write(".gitignore", ".cub/\n")
    bakery.commit("rules")
    done = bakery.run_agent(_COMMIT, once=True)
    assert bakery.log() == ["theirs", "rules", "start"]
    assert git(bakery.root, "ls-files", ".cub") == ""
    assert ".cub" not in done.notices
