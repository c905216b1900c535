"""Agents and hooks that would have HEAD be something else than what the checks have seen."""

from __future__ import annotations

import re
import stat

import pytest

from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.actions.run.sound import require_told
from tests.conftest import git
from tests.examples import keep_few

_CHECK = 'grep -q "A = 1" a.py'


def _prepare(bakery: Shop) -> None:
    bakery.write("a.py", "A = 1\n")
    bakery.write(".gitignore", "secret.env\n")
    bakery.commit("stock")
    bakery.write("notes.txt", "mine\n")
    bakery.write("secret.env", "KEY=1\n")
    bakery.task()


@pytest.fixture
def checked(copy_shop: CopyShop) -> Shop:
    """With a file that a check looks at, one that is the person's alone, and one ignored."""
    return copy_shop(_prepare)


def _work(shop: Shop, shell: str) -> Done:
    shop.client(f"cat > /dev/null; {shell}")
    return shop.run(once=True, checks=_CHECK)


def _tree(shop: Shop) -> dict[str, str]:
    """The files of HEAD but for cub's own."""
    names = git(shop.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    others = (name for name in names if not name.startswith(".cub/"))
    return {name: git(shop.root, "show", f"HEAD:{name}") for name in others}


def _history(shop: Shop) -> set[str]:
    """Every path that a commit of the branch has ever had."""
    return set(git(shop.root, "log", "-m", "--root", "--format=", "--name-only").split())


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "echo 'A = 666' > a.py; git commit -qam x; echo 'A = 1' > a.py; echo C > c.py",
            (
                "echo 'A = 666' > a.py; git commit -qam x; echo 'A = 1' > a.py; "
                "echo C > c.py; git add ."
            ),
            "git rm -q a.py; git commit -qm x; echo 'A = 1' > a.py; echo C > c.py",
            (
                "git switch -qc t; echo 'A = 666' > a.py; git commit -qam x; echo 'A = 1' > a.py;"
                "echo C > c.py"
            ),
            (
                "echo C > c.py; echo evil > evil.py; "
                "git add c.py evil.py; git commit -qm x; rm evil.py"
            ),
        ],
        3,
    ),
)
def test_head_is_what_the_checks_have_seen(checked: Shop, shell: str) -> None:
    done = _work(checked, shell)
    assert done.outcomes == ["ok"]
    assert _tree(checked) == {
        ".gitignore": "secret.env\n",
        "a.py": "A = 1\n",
        "c.py": "C\n",
        "kept.txt": "kept\n",
    }
    assert checked.dirt() == "?? notes.txt\n"


@pytest.mark.thorough
def test_head_is_what_the_checks_have_seen_where_nothing_had_to_change(checked: Shop) -> None:
    done = _work(
        checked,
        "echo 'A = 666' > a.py; git commit -qam x; echo 'A = 1' > a.py;"
        '"$PYTHON" -m cub task close s-1 --reason no_change',
    )
    assert done.outcomes == ["ok"]
    assert _tree(checked)["a.py"] == "A = 1\n"


def test_an_edit_of_the_persons_that_an_agent_commits_is_not_in_head(bakery: Shop) -> None:
    bakery.write(".cub/own.txt", "1\n")
    bakery.task()
    bakery.client("cat > /dev/null; echo C > c.py; git add -f .cub/own.txt c.py; git commit -qm x")
    bakery.commit("stock")
    bakery.write(".cub/own.txt", "2\n")
    assert bakery.run(once=True).outcomes == ["ok"]
    assert git(bakery.root, "show", "HEAD:.cub/own.txt") == "1\n"
    assert (bakery.cub / "own.txt").read_text() == "2\n"


@pytest.mark.parametrize(
    "shell",
    [
        "git add -A; git commit -qm wip; echo C > c.py",
        "echo C > c.py; git add -A; git commit -qm wip",
        (
            "echo C > c.py; git add -A; git commit -qm one; git rm -q --cached notes.txt;"
            "git commit -qm two"
        ),
        (
            "git switch -qc t; git add -A; git commit -qm wip; git switch -q -; git merge -q t;"
            "echo C > c.py"
        ),
    ],
)
def test_what_git_did_not_know_comes_into_no_commit(checked: Shop, shell: str) -> None:
    done = _work(checked, shell)
    (end,) = require_told(checked, done)
    assert end["ok"]
    assert end["git"]["files"] == ["c.py"]
    assert _tree(checked)["c.py"] == "C\n"
    assert "notes.txt" not in _history(checked)
    assert checked.dirt() == "?? notes.txt\n"
    assert (checked.root / "notes.txt").read_text() == "mine\n"
    assert re.search(r"commits held .*notes\.txt, which git did not know before", done.notices)
    assert ("are on another branch" if " t;" in shell else "refs/cub/kept/") in done.notices


def test_commits_without_a_file_of_the_persons_stay(checked: Shop) -> None:
    done = _work(checked, "echo C > c.py; git add c.py; git commit -qm theirs; echo D > d.py")
    assert done.outcomes == ["ok"]
    assert checked.log()[:2] == ["task(s-1): Do s-1", "theirs"]


def _tracked_hooks(shop: Shop) -> None:
    hook = shop.write("hooks/pre-commit", "#!/bin/sh\ntrue\n")
    hook.chmod(0o755)
    git(shop.root, "config", "core.hooksPath", "hooks")
    git(shop.root, "add", "hooks")
    git(shop.root, "commit", "-qm", "hooks")


@pytest.mark.parametrize(
    "hook",
    keep_few(
        [
            "echo evil > evil.txt; git add evil.txt",
            "git add -f secret.env",
            "echo 'A = 666' > a.py; git add a.py",
            "git rm -q --cached kept.txt",
        ],
        2,
    ),
)
def test_a_hook_that_changes_what_was_checked_fails_the_commit(checked: Shop, hook: str) -> None:
    _tracked_hooks(checked)
    head, files = checked.head, _tree(checked)
    done = _work(
        checked,
        f'echo C > c.py; printf "#!/bin/sh\\n%s\\n" "{hook}" > hooks/pre-commit',
    )
    (end,) = require_told(checked, done)
    assert done.outcomes == ["commit_failed"]
    assert "a git hook changed the files to commit" in end["fail"]["reason"]
    assert checked.head == head
    assert _tree(checked) == files
    assert checked.dirt() == "?? notes.txt\n"


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            "rm notes.txt",
            "echo theirs > notes.txt",
            "git clean -fdxq -e .cub",
            "git add -A; git stash -q -u -- notes.txt",
            "rm notes.txt; mkdir notes.txt; echo x > notes.txt/x",
            "rm notes.txt; ln -s /etc/passwd notes.txt",
            "git add notes.txt; git commit -qm x; git rm -q notes.txt; git commit -qm y",
            (
                "printf 'rm notes.txt\\n' >> .git/later; "
                "printf '#!/bin/sh\\nrm notes.txt\\n' > hooks/x"
            ),
        ],
        3,
    ),
)
def test_a_file_of_the_persons_is_back_though_the_attempt_is_accepted(
    checked: Shop, shell: str
) -> None:
    checked.write("hooks/x", "#!/bin/sh\ntrue\n").chmod(0o755)
    git(checked.root, "add", "hooks")
    git(checked.root, "commit", "-qm", "hooks")
    mode = (checked.root / "notes.txt").stat().st_mode
    checked.client(f"cat > /dev/null; {shell}; echo C > c.py")
    done = checked.run(once=True, checks=(_CHECK, "sh hooks/x"))
    (end,) = require_told(checked, done)
    assert end["ok"]
    assert (checked.root / "notes.txt").read_text() == "mine\n"
    assert (checked.root / "notes.txt").stat().st_mode == mode
    assert "notes.txt" not in _history(checked)
    assert _tree(checked)["c.py"] == "C\n"
    assert "notes.txt" in done.notices
    assert checked.dirt() == "?? notes.txt\n"


def test_files_of_the_persons_alone_are_no_change(checked: Shop) -> None:
    done = _work(checked, "echo theirs > notes.txt")
    (end,) = require_told(checked, done)
    assert done.outcomes == ["no_changes"]
    assert "only untracked files were changed" in end["fail"]["reason"]
    folder = checked.attempt(done.end["run"])
    assert "+theirs" in (folder / "untracked.patch").read_text()


@pytest.mark.thorough
def test_what_earlier_attempts_made_is_not_the_persons(checked: Shop) -> None:
    checked.configure(run={"commit": False})
    checked.task("s-2")
    checked.client("cat > /dev/null; echo $CUB_TASK >> made.txt; echo theirs > notes.txt")
    done = checked.run(checks=_CHECK)
    assert done.outcomes == ["ok", "ok"]
    assert (checked.root / "made.txt").read_text() == "s-1\ns-2\n"
    assert (checked.root / "notes.txt").read_text() == "mine\n"


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_permissions_are_put_back(checked: Shop, end: str) -> None:
    checked.write("sub/b.py", "B\n")
    checked.commit("sub")
    (checked.root / "kept.txt").chmod(0o640)
    done = _work(
        checked, f"chmod 000 a.py notes.txt kept.txt; echo evil > sub/b.py; chmod 000 sub{end}"
    )
    assert done.outcomes == (["harness_exit"] if end else ["ok"])
    names = ("a.py", "sub", "kept.txt")
    modes = [stat.S_IMODE((checked.root / name).stat().st_mode) for name in names]
    assert modes == [0o644, 0o755, 0o640]
    assert "the permissions of sub, " in done.notices
    assert (checked.root / "sub/b.py").read_text() == ("B\n" if end else "evil\n")


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_ignored_files_that_are_deleted_are_back(checked: Shop, end: str) -> None:
    done = _work(checked, f"git clean -fdxq -e .cub; echo C > c.py{end}")
    assert done.outcomes == (["harness_exit"] if end else ["ok"])
    assert (checked.root / "secret.env").read_text() == "KEY=1\n"
    assert "deleted by the attempt, now restored: secret.env" in done.notices


def test_an_ignored_file_of_the_persons_comes_into_no_commit(checked: Shop) -> None:
    done = _work(checked, "git add -f secret.env; git commit -qm x; echo C > c.py; git add -f .")
    assert done.outcomes == ["ok"]
    assert not {"secret.env", "notes.txt"} & _history(checked)
    assert (checked.root / "secret.env").read_text() == "KEY=1\n"
