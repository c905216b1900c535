"""Agents that would have HEAD be something else than what the checks have seen."""

from __future__ import annotations

import stat

import pytest

from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import seen
from tests.conftest import git
from tests.examples import keep_few

_CHECK = 'grep -q "A = 1" a.py'
_BAD, _GOOD = "echo 'A = 666' > a.py", "echo 'A = 1' > a.py; echo C > c.py"


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


def _tree(shop: Shop) -> dict[str, str]:
    """The files of HEAD but for cub's own."""
    names = git(shop.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    others = (name for name in names if not name.startswith(".cub/"))
    return {name: git(shop.root, "show", f"HEAD:{name}") for name in others}


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            f"{_BAD}; git commit -qam x; {_GOOD}",
            f"{_BAD}; git commit -qam x; {_GOOD}; git add .",
            f"git rm -q a.py; git commit -qm x; {_GOOD}",
            f"git switch -qc t; {_BAD}; git commit -qam x; {_GOOD}",
            f"{_GOOD}; echo evil > evil.py; git add c.py evil.py; git commit -qm x; rm evil.py",
        ],
        3,
    ),
)
def test_head_is_what_the_checks_have_seen(checked: Shop, shell: str) -> None:
    done = checked.run_agent(shell, once=True, checks=_CHECK)
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
    closes = '"$PYTHON" -m cub task close s-1 --reason no_change'
    done = checked.run_agent(
        f"{_BAD}; git commit -qam x; echo 'A = 1' > a.py; {closes}", once=True, checks=_CHECK
    )
    assert done.outcomes == ["ok"]
    assert _tree(checked)["a.py"] == "A = 1\n"


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_whatever_an_attempt_does_to_its_tree_the_checkout_stays(checked: Shop, end: str) -> None:
    """What no commit can hold: permissions, times, what git ignores, git's own files."""
    (checked.root / "kept.txt").chmod(0o640)
    before = seen(checked).files
    done = checked.run_agent(
        "git clean -fdxq; echo C > c.py; chmod 600 kept.txt; chmod 777 .; git config a.b c; "
        f"echo '*' > .git/info/exclude; git update-ref refs/heads/x HEAD; git gc -q{end}",
        once=True,
        checks=_CHECK,
    )
    assert done.outcomes == (["harness_exit"] if end else ["ok"])
    assert seen(checked).files == (before if end else before | {"c.py": ("file", b"C\n")})
    assert stat.S_IMODE((checked.root / "kept.txt").stat().st_mode) == 0o640
    assert "a.b" not in git(checked.root, "config", "--list", "--local")
    assert git(checked.root, "for-each-ref", "refs/heads/x") == ""
