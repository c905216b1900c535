"""Runs in checkouts of all conditions: what is refused, what is left alone, what is committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.stores import install_git_files
from cub.errors import CubError
from cub.files import lock_project
from tests.actions.helpers import init
from tests.actions.run.shop import Shop, surroundings
from tests.actions.run.sound import commits, require_told, seen
from tests.conftest import git

_MAKE = "cat > /dev/null; echo made > made.txt"
_SPOIL = "cat > /dev/null; echo made > made.txt; echo theirs > kept.txt"


def _files_of(shop: Shop, commit: str = "HEAD") -> list[str]:
    """The files that a commit changed, without cub's own."""
    words = ("show", "--root", "--format=", "--name-only", commit)
    return [name for name in git(shop.root, *words).splitlines() if ".cub/" not in name]


def test_an_edit_of_a_tracked_file_is_refused_before_anything_begins(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.task()
    bakery.write("kept.txt", "edited\n")
    with pytest.raises(CubError, match="not committed") as refused:
        bakery.run()
    assert "--worktree" in refused.value.hint
    assert list(refused.value.details) == ["kept.txt"]
    assert (bakery.root / "kept.txt").read_text() == "edited\n"
    assert (bakery.status(), bakery.ledger()) == ("open", [])


def test_the_section_that_init_wrote_needs_no_commit_before_a_run(bakery: Shop) -> None:
    bakery.write("AGENTS.md", "# Rules\n\nBake early.\n")
    bakery.commit()
    init(bakery.root)
    rules = (bakery.root / "AGENTS.md").read_bytes()
    bakery.task()
    bakery.client(f"{_MAKE}; echo spoiled >> AGENTS.md")
    assert bakery.run(check="false").outcomes[0] == "checks_failed"
    assert (bakery.root / "AGENTS.md").read_bytes() == rules
    bakery.client(_MAKE)
    bakery.task("s-2")
    assert bakery.run(task="s-2", once=True).outcomes == ["ok"]
    assert "made.txt" in git(bakery.root, "log", "--name-only", "--format=")
    assert (bakery.root / "AGENTS.md").read_bytes() == rules
    assert b"Bake early." in rules
    assert "cub task" not in git(bakery.root, "show", "HEAD:AGENTS.md")
    assert bakery.dirt() == " M AGENTS.md\n"


@pytest.mark.parametrize(("old", "new"), [("early", "late"), ("Claim", "Take")])
def test_an_edit_beside_the_section_or_in_it_is_refused(bakery: Shop, old: str, new: str) -> None:
    file = bakery.write("AGENTS.md", "# Rules\n\nBake early.\n")
    bakery.commit()
    init(bakery.root)
    bakery.task()
    bakery.client(_MAKE)
    before = file.read_text()
    file.write_text(before.replace(old, new))
    assert file.read_text() != before
    with pytest.raises(CubError, match="not committed") as refused:
        bakery.run()
    assert list(refused.value.details) == ["AGENTS.md"]


def test_a_staged_file_is_refused_and_stays_staged(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.task()
    bakery.write("new.txt", "new\n")
    git(bakery.root, "add", "new.txt")
    with pytest.raises(CubError, match="not committed"):
        bakery.run()
    assert bakery.dirt() == "A  new.txt\n"


def test_a_deleted_file_and_many_edits_are_told_in_few_lines(bakery: Shop) -> None:
    for number in range(7):
        bakery.write(f"f{number}", "x")
    bakery.commit()
    bakery.task()
    bakery.client(_MAKE)
    for number in range(7):
        (bakery.root / f"f{number}").unlink()
    with pytest.raises(CubError) as refused:
        bakery.run()
    assert list(refused.value.details) == [*(f"f{number}" for number in range(5)), "and 2 more"]


def test_a_merge_with_conflicts_is_refused(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.task()
    git(bakery.root, "switch", "-qc", "other")
    bakery.write("kept.txt", "other\n")
    git(bakery.root, "commit", "-qam", "other")
    git(bakery.root, "switch", "-q", "-")
    bakery.write("kept.txt", "mine\n")
    git(bakery.root, "commit", "-qam", "mine")
    with pytest.raises(Exception, match="merge"):
        git(bakery.root, "merge", "other")
    with pytest.raises(CubError, match="not committed"):
        bakery.run()
    assert bakery.dirt() == "UU kept.txt\n"
    assert (bakery.root / ".git/MERGE_HEAD").exists()


def test_files_that_git_does_not_know_are_left_alone(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.task()
    bakery.write("mine.txt", "mine\n")
    bakery.write("notes/deep/mine.txt", "mine\n")
    assert bakery.run().outcomes == ["ok"]
    assert _files_of(bakery) == ["made.txt"]
    assert bakery.dirt() == "?? mine.txt\n?? notes/\n"


def test_a_success_that_changes_such_a_file_neither_commits_nor_keeps_that(bakery: Shop) -> None:
    bakery.client("cat > /dev/null; echo theirs >> mine.txt; rm -r notes; echo made > made.txt")
    bakery.task()
    bakery.write("mine.txt", "mine\n")
    bakery.write("notes/mine.txt", "mine\n")
    assert bakery.run().outcomes == ["ok"]
    assert _files_of(bakery) == ["made.txt"]
    assert (bakery.root / "mine.txt").read_text() == "mine\n"
    assert (bakery.root / "notes/mine.txt").read_text() == "mine\n"
    assert bakery.dirt() == "?? mine.txt\n?? notes/\n"


def test_a_failure_brings_such_files_back_as_they_were(bakery: Shop) -> None:
    bakery.client(
        "cat > /dev/null; echo theirs > mine.txt; rm -r notes; rm link; chmod -x run.sh; exit 1"
    )
    bakery.task()
    bakery.write("mine.txt", "mine\n")
    bakery.write("notes/deep/mine.txt", b"\xff\x00mine\r\n")
    bakery.write("run.sh", "true\n").chmod(0o755)
    (bakery.root / "link").symlink_to("mine.txt")
    before = seen(bakery)
    done = bakery.run(once=True)
    assert done.outcomes == ["harness_exit"]
    assert seen(bakery) == before


def test_what_git_ignores_is_neither_committed_nor_taken_back(bakery: Shop) -> None:
    bakery.write(".gitignore", "*.log\n")
    bakery.commit()
    bakery.client("cat > /dev/null; echo log > out.log; echo made > made.txt; exit $(cat mine.log)")
    bakery.task()
    bakery.write("mine.log", "1\n")
    assert bakery.run(once=True).outcomes == ["harness_exit"]
    bakery.write("mine.log", "0\n")
    assert bakery.run(once=True).outcomes == ["ok"]
    assert _files_of(bakery) == ["made.txt"]
    assert (bakery.root / "out.log").exists()


def test_in_a_work_tree_the_edits_of_a_person_are_not_touched(bakery: Shop) -> None:
    bakery.client("cat > /dev/null; test $(cat kept.txt) = kept && echo made > made.txt")
    bakery.task()
    bakery.write("kept.txt", "edited\n")
    bakery.write("staged.txt", "staged\n")
    git(bakery.root, "add", "staged.txt")
    before = seen(bakery)
    done = bakery.run(worktree=True)
    (end,) = require_told(bakery, done)
    assert end["ok"]
    assert seen(bakery) == before
    branch = f"cub/{done.end['run']}"
    assert git(bakery.root, "log", "--format=%s", branch).splitlines() == [
        "task(s-1): Do s-1", "start",
    ]  # fmt: skip
    assert git(bakery.root, "show", "--format=", "--name-only", branch) == "made.txt\n"
    assert bakery.status() == "closed"
    assert list((bakery.cub / "worktrees").iterdir()) == []
    assert len(git(bakery.root, "worktree", "list").splitlines()) == 1


def test_a_failure_in_a_work_tree_is_taken_back_there(bakery: Shop) -> None:
    bakery.client(f"{_SPOIL}; exit 1")
    bakery.configure(run={"max_attempts": 2})
    bakery.task()
    bakery.write("kept.txt", "edited\n")
    before = seen(bakery)
    done = bakery.run(worktree=True)
    ends = require_told(bakery, done)
    assert (done.outcomes, bakery.status()) == (["harness_exit"] * 2, "parked")
    assert all((bakery.root / end["git"]["patch"]).exists() for end in ends)
    assert seen(bakery) == before
    assert list((bakery.cub / "worktrees").iterdir()) == []


def test_a_work_tree_can_have_a_branch_by_name(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.task()
    assert bakery.run(worktree=True, branch="bake/{date}").outcomes == ["ok"]
    (branch,) = git(bakery.root, "branch", "--format=%(refname:short)", "--list", "bake/*").split()
    assert branch.removeprefix("bake/").isdigit()
    assert commits(bakery) == ["start"]


def test_a_task_is_closed_from_within_a_work_tree(bakery: Shop) -> None:
    bakery.client('cat > /dev/null; "$PYTHON" -m cub task close s-1 --reason no_change')
    bakery.task()
    bakery.commit()
    done = bakery.run(worktree=True)
    assert done.outcomes == ["ok"]
    assert bakery.record()["close_reason"] == "no_change"


def test_a_branch_is_made_and_stays_checked_out(bakery: Shop) -> None:
    first = bakery.head
    bakery.client(_MAKE)
    bakery.task()
    assert bakery.run(branch="bake/{run}").outcomes == ["ok"]
    now = git(bakery.root, "symbolic-ref", "--short", "HEAD").strip()
    assert now.startswith("bake/")
    assert commits(bakery)[0] == "task(s-1): Do s-1"
    others = git(bakery.root, "for-each-ref", "--format=%(objectname)", "refs/heads").split()
    assert first in others


def test_a_branch_that_is_there_is_taken(bakery: Shop) -> None:
    git(bakery.root, "branch", "bake")
    bakery.client(_MAKE)
    bakery.task()
    assert bakery.run(branch="bake").outcomes == ["ok"]
    assert git(bakery.root, "log", "--format=%s", "bake").splitlines()[0] == "task(s-1): Do s-1"


@pytest.mark.parametrize("name", ["-f", "a b", "{no}", "x..y", "{", "{run:>2000000000}", "x" * 251])
def test_a_name_that_can_be_no_branch_is_refused(bakery: Shop, name: str) -> None:
    bakery.client(_MAKE)
    bakery.task()
    with pytest.raises(CubError, match=r"name of a branch|--branch has an unknown placeholder"):
        bakery.run(branch=name)
    assert (bakery.status(), commits(bakery)) == ("open", ["start"])


def test_a_detached_head_is_refused_but_with_a_branch(bakery: Shop) -> None:
    git(bakery.root, "switch", "-q", "--detach")
    bakery.client(_MAKE)
    bakery.task()
    with pytest.raises(CubError, match="detached") as refused:
        bakery.run()
    assert "--branch" in refused.value.hint
    assert bakery.status() == "open"
    assert bakery.run(branch="bake").outcomes == ["ok"]
    assert git(bakery.root, "symbolic-ref", "--short", "HEAD") == "bake\n"


def test_a_detached_head_is_fine_where_nothing_is_committed(bakery: Shop) -> None:
    git(bakery.root, "switch", "-q", "--detach")
    bakery.client(_MAKE)
    bakery.configure(run={"commit": False})
    bakery.task()
    assert bakery.run().outcomes == ["ok"]
    assert commits(bakery) == ["start"]


@pytest.mark.parametrize("asked", [{}, {"worktree": True}, {"branch": "bake"}])
def test_without_git_a_run_is_refused(tmp_path: Path, home: Path, asked: dict[str, Any]) -> None:
    shop = Shop(tmp_path / "plain", surroundings(home))
    shop.write("kept.txt", "kept\n")
    shop.client(_MAKE)
    shop.task()
    with pytest.raises(CubError, match="this directory is not in a git repository") as refused:
        shop.run(**asked)
    assert refused.value.hint == "run `git init` first"
    assert (shop.status(), shop.ledger()) == ("open", [])
    assert not list((shop.cub / "runs").glob("20*"))
    git(shop.root, "init", "-q")
    _person(shop)
    shop.commit()
    assert shop.run().outcomes == ["ok"]


def _person(shop: Shop) -> None:
    git(shop.root, "config", "user.name", "t")
    git(shop.root, "config", "user.email", "t@t")


@pytest.mark.parametrize("worktree", [True, False])
def test_the_first_commit_is_left_to_a_person(project: Path, home: Path, worktree: bool) -> None:
    shop = Shop(project, surroundings(home))
    _person(shop)
    shop.write("mine.txt", "mine\n")
    shop.client(_MAKE)
    shop.task()
    with pytest.raises(CubError, match="the repository has no commit yet") as caught:
        shop.run(worktree=worktree)
    assert caught.value.hint == 'git add . && git commit -m "Start"'
    assert (commits(shop), shop.status()) == ([], "open")
    shop.commit()
    assert shop.run(worktree=worktree).outcomes == ["ok"]


def test_before_the_first_commit_a_failure_is_taken_back(project: Path, home: Path) -> None:
    shop = Shop(project, surroundings(home))
    _person(shop)
    shop.write("mine.txt", "mine\n")
    shop.client("cat > /dev/null; echo made > made.txt; rm mine.txt; git add -A; exit 1")
    shop.configure(run={"commit": False})
    shop.task()
    done = shop.run(once=True)
    assert done.outcomes == ["harness_exit"]
    assert shop.dirt() == "?? mine.txt\n"
    assert (shop.root / "mine.txt").read_text() == "mine\n"


def test_before_the_first_commit_an_agent_may_make_it(project: Path, home: Path) -> None:
    shop = Shop(project, surroundings(home))
    _person(shop)
    shop.client(f"{_MAKE}; git add made.txt; git commit -qm theirs; exit 1")
    shop.configure(run={"commit": False})
    shop.task()
    done = shop.run(once=True)
    assert done.outcomes == ["harness_exit"]
    assert commits(shop) == []
    assert not (shop.root / "made.txt").exists()
    kept = git(shop.root, "for-each-ref", "--format=%(subject)", "refs/cub").splitlines()
    assert kept == ["theirs"]


def _inner(bakery: Shop) -> Shop:
    """A project in a folder of the repository."""
    bakery.write("shop/kept.txt", "kept\n")
    bakery.commit("shop")
    shop = Shop(bakery.root / "shop", bakery.environ)
    shop.task()
    return shop


def test_a_project_in_a_folder_of_the_repository(bakery: Shop) -> None:
    shop = _inner(bakery)
    shop.client(f"{_MAKE}; echo made > ../beside.txt")
    done = shop.run()
    assert done.outcomes == ["ok"]
    assert _files_of(shop) == ["beside.txt", "shop/made.txt"]
    names = git(shop.root, "show", "--format=", "--name-only", "HEAD").splitlines()
    assert {"shop/.cub/tasks.jsonl", "shop/.cub/ledger.jsonl"} <= set(names)
    assert git(bakery.root, "status", "--porcelain", "--", ":!shop/.cub") == ""


def test_a_failure_in_a_folder_is_taken_back_in_all_of_the_repository(bakery: Shop) -> None:
    shop = _inner(bakery)
    shop.client(f"{_SPOIL}; echo theirs > ../kept.txt; echo made > ../beside.txt; exit 1")
    bakery.write("mine.txt", "mine\n")
    before = seen(bakery).files
    assert shop.run(once=True).outcomes == ["harness_exit"]
    after = seen(bakery).files
    assert {k: v for k, v in after.items() if "/.cub/" not in k} == {
        k: v for k, v in before.items() if "/.cub/" not in k
    }


def test_an_edit_elsewhere_in_the_repository_is_refused_too(bakery: Shop) -> None:
    shop = _inner(bakery)
    shop.client(_MAKE)
    bakery.write("kept.txt", "edited\n")
    with pytest.raises(CubError, match="not committed"):
        shop.run()


def test_a_work_tree_of_a_project_in_a_folder(bakery: Shop) -> None:
    shop = _inner(bakery)
    shop.client(_MAKE)
    shop.write("kept.txt", "edited\n")
    done = shop.run(worktree=True)
    assert done.outcomes == ["ok"]
    branch = f"cub/{done.end['run']}"
    assert _files_of(shop, branch) == ["shop/made.txt"]
    assert shop.status() == "closed"
    assert list((shop.cub / "worktrees").iterdir()) == []


def test_a_run_that_commits_nothing_leaves_the_files(bakery: Shop) -> None:
    bakery.client('cat > /dev/null; echo x > "$CUB_TASK"; echo $CUB_TASK >> kept.txt')
    bakery.configure(run={"commit": False})
    bakery.task()
    bakery.task("s-2")
    done = bakery.run()
    assert done.outcomes == ["ok", "ok"]
    assert [end["git"]["files"] for end in require_told(bakery, done)] == [
        ["kept.txt", "s-1"], ["kept.txt", "s-2"],
    ]  # fmt: skip
    assert commits(bakery) == ["start"]
    assert (bakery.root / "kept.txt").read_text() == "kept\ns-1\ns-2\n"


def test_a_failure_leaves_what_an_earlier_success_did_not_commit(bakery: Shop) -> None:
    bakery.client(
        "cat > /dev/null; echo $CUB_TASK >> kept.txt; echo $CUB_TASK >> new; test $CUB_TASK = s-1"
    )
    bakery.configure(run={"commit": False, "max_attempts": 1})
    bakery.task()
    bakery.task("s-2")
    assert bakery.run().outcomes == ["ok", "harness_exit"]
    assert (bakery.root / "kept.txt").read_text() == "kept\ns-1\n"
    assert (bakery.root / "new").read_text() == "s-1\n"


def test_a_ledger_that_is_not_shared_is_not_committed(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.configure(ledger={"commit": False})
    bakery.task()
    assert bakery.run().outcomes == ["ok"]
    tracked = git(bakery.root, "ls-files", ".cub").split()
    assert ".cub/tasks.jsonl" in tracked
    assert ".cub/ledger.jsonl" not in tracked
    assert bakery.ledger("attempt_end")
    assert bakery.dirt() == ""


def test_nothing_local_of_cubs_is_ever_committed(bakery: Shop) -> None:
    with lock_project(bakery.root) as held:
        install_git_files(held)
    bakery.client(_MAKE)
    bakery.task()
    bakery.commit()
    bakery.run()
    tracked = git(bakery.root, "ls-files", ".cub").split()
    assert [name for name in tracked if "runs" in name or "lock" in name or "cache" in name] == []


def test_the_message_is_the_projects_own(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.configure(run={"message": "{type} [{id}]: {title} {{else}} 100%\n\nTask-Id: {id}\n"})
    bakery.task(title="Bake  {id}\nthe `bread` -m '#1'", issue_type="bug")
    assert bakery.run(checks="true").outcomes == ["ok"]
    message = git(bakery.root, "log", "-1", "--format=%B", "HEAD").rstrip("\n")
    assert message == "bug [s-1]: Bake {id} the `bread` -m '#1' {else} 100%\n\nTask-Id: s-1"


def test_a_message_that_begins_like_a_comment_is_kept(bakery: Shop) -> None:
    bakery.client(_MAKE)
    bakery.configure(run={"message": "#{id} {title}"})
    bakery.task()
    assert bakery.run().outcomes == ["ok"]
    assert commits(bakery)[0] == "#s-1 Do s-1"


def test_odd_names_of_files_are_committed_and_taken_back(bakery: Shop) -> None:
    names = [
        " space ",
        "-dash",
        "quote'\"",
        "line\nend",
        "\u00e4\u00f6",
        ":(top)x",
        "*.glob",
        "a\\b",
    ]
    bakery.client(
        "cat > /dev/null; for n in ' space ' -dash \"quote'\\\"\" 'line\nend' \u00e4\u00f6 "
        "':(top)x' '*.glob' 'a\\b'; do echo x > \"./$n\"; done; test -e ../go"
    )
    bakery.task()
    before = seen(bakery)
    assert bakery.run(once=True).outcomes == ["harness_exit"]
    assert seen(bakery) == before
    (bakery.root.parent / "go").touch()
    assert bakery.run(once=True).outcomes == ["ok"]
    listed = git(bakery.root, "ls-tree", "-z", "--name-only", "HEAD").split("\0")
    assert set(names) <= set(listed)
    assert bakery.dirt() == ""
