"""Agents and hooks that would have HEAD be something else than what the checks have seen."""

from __future__ import annotations

import stat

import pytest

from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.actions.run.sound import require_told, seen
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


def test_a_hook_that_an_attempt_changes_does_not_run_at_its_commit(checked: Shop) -> None:
    _tracked_hooks(checked)
    done = _work(
        checked, "echo C > c.py; echo 'echo evil > a.py; git add a.py' >> hooks/pre-commit"
    )
    (end,) = require_told(checked, done)
    assert (done.outcomes, end["git"]["files"]) == (["ok"], ["c.py", "hooks/pre-commit"])
    assert _tree(checked)["a.py"] == "A = 1\n"
    assert checked.dirt() == "?? notes.txt\n"


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_whatever_an_attempt_does_to_its_tree_the_checkout_stays(checked: Shop, end: str) -> None:
    """What no commit can hold: permissions, times, what git ignores, git's own files."""
    (checked.root / "kept.txt").chmod(0o640)
    before = seen(checked).files
    done = _work(
        checked,
        "git clean -fdxq; echo C > c.py; chmod 600 kept.txt; chmod 777 .; git config a.b c; "
        f"echo '*' > .git/info/exclude; git update-ref refs/heads/x HEAD; git gc -q{end}",
    )
    assert done.outcomes == (["harness_exit"] if end else ["ok"])
    assert seen(checked).files == (before if end else before | {"c.py": ("file", b"C\n")})
    assert stat.S_IMODE((checked.root / "kept.txt").stat().st_mode) == 0o640
    assert "a.b" not in git(checked.root, "config", "--list", "--local")
    assert git(checked.root, "for-each-ref", "refs/heads/x") == ""


def test_a_file_that_git_ignores_comes_into_no_commit_of_cubs(checked: Shop) -> None:
    done = _work(checked, "echo theirs > secret.env; echo C > c.py; git add -f secret.env")
    assert done.outcomes == ["ok"]
    assert not {"secret.env", "notes.txt"} & _history(checked)
    assert (checked.root / "secret.env").read_text() == "KEY=1\n"
