"""Runs in checkouts of all conditions: what is refused, what is left alone, what is committed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cub.errors import CubError
from tests.actions.helpers import init
from tests.actions.run.shop import Shop, surroundings
from tests.actions.run.sound import commits, require_told, seen
from tests.conftest import git

_MAKE = "echo made > made.txt"
_SPOIL = "echo made > made.txt; echo theirs > kept.txt"


def _files_of(shop: Shop, commit: str = "HEAD") -> list[str]:
    """The files that a commit changed, without cub's own."""
    words = ("show", "--root", "--format=", "--name-only", commit)
    return [name for name in git(shop.root, *words).splitlines() if ".cub/" not in name]


def _merge_with_conflicts(shop: Shop) -> None:
    git(shop.root, "switch", "-qc", "other")
    shop.write("kept.txt", "other\n")
    git(shop.root, "commit", "-qam", "other")
    git(shop.root, "switch", "-q", "-")
    shop.write("kept.txt", "mine\n")
    git(shop.root, "commit", "-qam", "mine")
    with pytest.raises(Exception, match="merge"):
        git(shop.root, "merge", "other")


def _leave_all_kinds_of_files(shop: Shop) -> None:
    shop.write(".gitignore", "*.log\n")
    shop.commit("rules")
    shop.write("kept.txt", "edited\n")
    shop.write("staged.txt", "staged\n")
    git(shop.root, "add", "staged.txt")
    shop.write("mine.txt", b"\xff\x00mine\r\n")
    shop.write("notes/deep/mine.txt", "mine\n").chmod(0o755)
    (shop.root / "link").symlink_to("mine.txt")
    shop.write("mine.log", "1\n")


_WRECK = "rm -rf mine.txt notes link mine.log staged.txt; git clean -fdxq"


@pytest.mark.parametrize("end", ["echo made > made.txt", "echo theirs > kept.txt; exit 1"])
def test_what_a_person_has_not_committed_stays_as_it_is(bakery: Shop, end: str) -> None:
    _leave_all_kinds_of_files(bakery)
    bakery.client(
        f"cat > /dev/null; test -e mine.txt && exit 7; {_WRECK}; chmod 644 kept.txt; {end}"
    )
    bakery.task()
    before = seen(bakery)
    done = bakery.run(once=True)
    after, is_ok = seen(bakery), "made" in end
    assert done.outcomes == ["ok" if is_ok else "harness_exit"]
    made = {"made.txt": ("file", b"made\n")} if is_ok else {}
    assert after.files == before.files | made
    assert (after.dirt, after.branch) == (before.dirt, before.branch)
    assert not is_ok or _files_of(bakery) == ["made.txt"]
    assert "uncommitted changes in kept.txt, staged.txt: attempts do not see" in done.notices


def test_a_person_can_have_attempts_begin_with_their_changes(bakery: Shop) -> None:
    bakery.write("kept.txt", "edited\n")
    assert bakery.run_agent("cp kept.txt made.txt", with_changes=True).outcomes == ["ok"]
    assert (_files_of(bakery), _files_of(bakery, "HEAD~1")) == (["made.txt"], ["kept.txt"])
    subject = "Commit uncommitted changes before an attempt"
    shown = git(bakery.root, "log", "--format=%an %ae %cn %s", "-1", "HEAD~1")
    name, email = (git(bakery.root, "config", f"user.{key}").strip() for key in ("name", "email"))
    assert shown == f"{name} {email} {name} {subject}\n"
    assert bakery.dirt() == ""
    assert git(bakery.root, "show", "HEAD:made.txt") == "edited\n"


def test_a_merge_with_conflicts_stays_as_it_is(bakery: Shop) -> None:
    _merge_with_conflicts(bakery)
    done = bakery.run_agent(_MAKE, once=True)
    assert (done.outcomes, bakery.dirt()) == (["not_merged"], "UU kept.txt\n")
    assert (bakery.root / ".git/MERGE_HEAD").exists()


def test_the_section_that_init_wrote_needs_no_commit_before_a_run(bakery: Shop) -> None:
    bakery.write("AGENTS.md", "# Rules\n\nBake early.\n")
    bakery.commit()
    init(bakery.root)
    rules = (bakery.root / "AGENTS.md").read_bytes()
    assert (
        bakery.run_agent(f"{_MAKE}; echo spoiled >> AGENTS.md", check="false").outcomes[0]
        == "checks_failed"
    )
    assert (bakery.root / "AGENTS.md").read_bytes() == rules
    bakery.task("s-2")
    assert bakery.run_agent(_MAKE, task="s-2", once=True).outcomes == ["ok"]
    assert "made.txt" in git(bakery.root, "log", "--name-only", "--format=")
    assert (bakery.root / "AGENTS.md").read_bytes() == rules
    assert b"Bake early." in rules
    assert "cub task" not in git(bakery.root, "show", "HEAD:AGENTS.md")
    assert bakery.dirt() == " M AGENTS.md\n"


@pytest.mark.parametrize("size", [5, 3_000_000], ids=["a small file", "more than a pipe holds"])
def test_a_filter_that_is_missing_is_named_without_the_launcher(bakery: Shop, size: int) -> None:
    """Git's own words quote the whole command, which has the walls in it."""
    bakery.write(".gitattributes", "*.ipynb filter=strip\n")
    bakery.commit()
    git(bakery.root, "config", "filter.strip.clean", "no-such-strip %f")
    git(bakery.root, "config", "filter.strip.required", "true")
    done = bakery.run_agent(f"head -c {size} /dev/zero > new.ipynb")
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert reason.startswith("git update-index failed: new.ipynb: clean filter 'strip' failed; ")
    assert "no-such-strip" in reason
    assert "launcher" not in reason


@pytest.mark.parametrize("name", ["bake", "bake/{date}"])
def test_a_branch_gets_the_commits_and_is_not_checked_out(bakery: Shop, name: str) -> None:
    bakery.write("kept.txt", "edited\n")
    before = seen(bakery)
    done = bakery.run_agent(f'{_MAKE}; "$PYTHON" -m cub task close s-1', branch=name)
    branch = done.end["branch"]["name"]
    assert re.fullmatch(name.replace("{date}", r"\d{8}"), branch)
    assert (done.outcomes, bakery.status(), seen(bakery)) == (["ok"], "closed", before)
    assert (_files_of(bakery, branch), done.end["branch"]["n"]) == (["made.txt"], 1)


def test_a_branch_that_is_there_is_taken(bakery: Shop) -> None:
    git(bakery.root, "branch", "bake")
    assert bakery.run_agent(_MAKE, branch="bake").outcomes == ["ok"]
    assert git(bakery.root, "log", "--format=%s", "bake").splitlines()[0] == "task(s-1): Do s-1"


@pytest.mark.parametrize("name", ["-f", "a b", "{no}", "x..y", "{", "{run:>2000000000}", "x" * 251])
def test_a_name_that_can_be_no_branch_is_refused(bakery: Shop, name: str) -> None:
    with pytest.raises(CubError, match=r"name of a branch|--branch has an unknown placeholder"):
        bakery.run_agent(_MAKE, branch=name)
    assert (bakery.status(), commits(bakery)) == ("open", ["start"])


def test_a_detached_head_is_refused_but_with_a_branch(bakery: Shop) -> None:
    git(bakery.root, "switch", "-q", "--detach")
    with pytest.raises(CubError, match="detached") as refused:
        bakery.run_agent(_MAKE)
    assert "--branch" in refused.value.hint
    assert bakery.status() == "open"
    assert bakery.run(branch="bake").outcomes == ["ok"]
    assert git(bakery.root, "log", "-1", "--format=%s", "bake") == "task(s-1): Do s-1\n"


def test_a_detached_head_is_fine_where_nothing_is_committed(bakery: Shop) -> None:
    git(bakery.root, "switch", "-q", "--detach")
    bakery.configure(run={"commit": False})
    assert bakery.run_agent(_MAKE).outcomes == ["ok"]
    assert commits(bakery) == ["start"]


@pytest.mark.parametrize("asked", [{}, {"branch": "bake"}])
def test_without_git_a_run_is_refused(tmp_path: Path, home: Path, asked: dict[str, Any]) -> None:
    shop = Shop(tmp_path / "plain", surroundings(home))
    shop.write("kept.txt", "kept\n")
    with pytest.raises(CubError, match="this directory is not in a git repository") as refused:
        shop.run_agent(_MAKE, **asked)
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


def test_the_first_commit_is_left_to_a_person(project: Path, home: Path) -> None:
    shop = Shop(project, surroundings(home))
    _person(shop)
    shop.write("mine.txt", "mine\n")
    with pytest.raises(CubError, match="the repository has no commit yet") as caught:
        shop.run_agent(_MAKE)
    assert caught.value.hint == 'git add . && git commit -m "Start"'
    assert (commits(shop), shop.status()) == ([], "open")


def _inner(bakery: Shop) -> Shop:
    """A project in a folder of the repository."""
    bakery.write("shop/kept.txt", "kept\n")
    bakery.commit("shop")
    shop = Shop(bakery.root / "shop", bakery.environ)
    shop.task()
    return shop


def test_a_project_in_a_folder_of_the_repository(bakery: Shop) -> None:
    shop = _inner(bakery)
    done = shop.run_agent(f"{_MAKE}; echo made > ../beside.txt")
    assert done.outcomes == ["ok"]
    assert _files_of(shop) == ["beside.txt", "shop/made.txt"]
    names = git(shop.root, "show", "--format=", "--name-only", "HEAD").splitlines()
    assert {"shop/.cub/tasks.jsonl", "shop/.cub/ledger.jsonl"} <= set(names)
    assert git(bakery.root, "status", "--porcelain", "--", ":!shop/.cub") == ""


def test_a_failure_in_a_folder_is_taken_back_in_all_of_the_repository(bakery: Shop) -> None:
    shop = _inner(bakery)
    bakery.write("mine.txt", "mine\n")
    before = seen(bakery).files
    assert shop.run_agent(
        f"{_SPOIL}; echo theirs > ../kept.txt; echo made > ../beside.txt; exit 1", once=True
    ).outcomes == ["harness_exit"]
    after = seen(bakery).files
    assert {k: v for k, v in after.items() if "/.cub/" not in k} == {
        k: v for k, v in before.items() if "/.cub/" not in k
    }


def test_a_run_that_commits_nothing_leaves_the_files(bakery: Shop) -> None:
    bakery.configure(run={"commit": False})
    bakery.add_tasks(2)
    done = bakery.run_agent('echo x > "$CUB_TASK"; echo $CUB_TASK >> kept.txt')
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
    bakery.add_tasks(2)
    assert bakery.run().outcomes == ["ok", "harness_exit"]
    assert (bakery.root / "kept.txt").read_text() == "kept\ns-1\n"
    assert (bakery.root / "new").read_text() == "s-1\n"


def test_a_ledger_that_is_not_shared_is_not_committed(bakery: Shop) -> None:
    bakery.configure(ledger={"commit": False})
    assert bakery.run_agent(_MAKE).outcomes == ["ok"]
    tracked = git(bakery.root, "ls-files", ".cub").split()
    assert ".cub/tasks.jsonl" in tracked
    assert ".cub/ledger.jsonl" not in tracked
    assert bakery.ledger("attempt_end")
    assert bakery.dirt() == ""


def test_nothing_local_of_cubs_is_ever_committed(bakery: Shop) -> None:
    bakery.add_git_files()
    bakery.client(_MAKE)
    bakery.task()
    bakery.commit()
    bakery.run()
    tracked = git(bakery.root, "ls-files", ".cub").split()
    assert [name for name in tracked if "runs" in name or "lock" in name or "cache" in name] == []


def test_the_message_is_the_projects_own(bakery: Shop) -> None:
    bakery.configure(run={"message": "{type} [{id}]: {title} {{else}} 100%\n\nTask-Id: {id}\n"})
    bakery.task(title="Bake  {id}\nthe `bread` -m '#1'", issue_type="bug")
    assert bakery.run_agent(_MAKE, checks="true").outcomes == ["ok"]
    message = git(bakery.root, "log", "-1", "--format=%B", "HEAD").rstrip("\n")
    assert message == "bug [s-1]: Bake {id} the `bread` -m '#1' {else} 100%\n\nTask-Id: s-1"


def test_a_message_that_begins_like_a_comment_is_kept(bakery: Shop) -> None:
    bakery.configure(run={"message": "#{id} {title}"})
    assert bakery.run_agent(_MAKE).outcomes == ["ok"]
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
