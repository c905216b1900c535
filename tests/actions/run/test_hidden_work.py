"""What git ignores, or ignored: the commit has neither a private file nor less than checks saw."""

from __future__ import annotations

import pytest

from tests.actions.run.attacked import CHECK, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git


def _prepare(made: Shop) -> None:
    prepare(made)
    made.write(".gitignore", "secret.env\nprivate/\nbuild/\n")
    git(made.root, "commit", "-qam", "rules")
    made.write("private/key", "KEY=2\n")


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


def _list_committed(shop: Shop) -> set[str]:
    return set(git(shop.root, "log", "--format=", "--name-only").split())


@pytest.mark.parametrize(
    "expose",
    [
        "rm .gitignore",
        "rm .gitignore; git add -A -f; git commit -qm wip",
        "echo theirs > secret.env; git add -f secret.env",
    ],
)
def test_what_was_ignored_before_is_not_committed(shop: Shop, expose: str) -> None:
    """R24: it was, without a word. It is no part of the place, and keeps its content."""
    done = shop.run_agent(
        f"test ! -e secret.env && echo C > c.py; {expose}", checks=CHECK, once=True
    )
    assert done.outcomes == ["ok"]
    assert "c.py" in git(shop.root, "ls-files")
    assert not _list_committed(shop) & {"secret.env", "private/key", "notes.txt"}
    assert (shop.root / "secret.env").read_text() == "KEY=1\n"
    assert (shop.root / "private/key").read_text() == "KEY=2\n"


@pytest.mark.parametrize(
    "hide",
    [
        "echo C > c.py; echo c.py >> .gitignore",
        "mkdir sub; echo C > sub/c.py; echo '*.py' > sub/.gitignore",
        "mkdir lib; echo C > lib/c.py; git init -q lib",
        (
            "git init -q lib; git -C lib -c user.name=t -c user.email=t@t commit -qm x "
            "--allow-empty; git add lib 2> /dev/null"
        ),
    ],
)
def test_work_that_the_attempt_hides_from_git_fails_it(shop: Shop, hide: str) -> None:
    """R08: the task was closed, and the commit lacked what the check had seen."""
    done = shop.run_agent(f"echo more >> a.py; {hide}", checks=CHECK, once=True)
    assert done.outcomes == ["commit_failed"]
    assert "no commit would have" in done.of("attempt_end")[0]["fail"]["reason"]


@pytest.mark.parametrize(
    "leave",
    [
        "mkdir build; echo x > build/out.js",
        "echo '*.log' >> .gitignore; echo x > run.log",
        "echo .env >> .gitignore; echo KEY=3 > .env",
        "echo .venv >> .gitignore; mkdir .venv; echo x > .venv/x",
    ],
)
def test_what_tools_and_settings_leave_does_not(shop: Shop, leave: str) -> None:
    assert shop.run_agent(f"echo C > c.py; {leave}", checks=CHECK, once=True).outcomes == ["ok"]


def test_the_persons_own_rules_hide_no_work(shop: Shop) -> None:
    shop.write(".git/info/exclude", "local/\n")
    done = shop.run_agent(
        "echo C > c.py; mkdir local; echo D > local/d.py", checks=CHECK, once=True
    )
    assert done.outcomes == ["ok"]


def test_new_files_in_a_place_that_the_person_ignores_are_told(shop: Shop) -> None:
    shop.write(".gitignore", "secret.env\nprivate/\nbuild/\nlocal/\n")
    git(shop.root, "commit", "-qam", "more rules")
    done = shop.run_agent(
        "echo C > c.py; mkdir local; echo D > local/d.py", checks=CHECK, once=True
    )
    assert done.outcomes == ["ok"]
    assert "local/: new, and ignored by git, so not part of the commit" in done.notices
