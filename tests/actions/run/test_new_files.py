"""New files of an attempt: secrets are left out of its commit, and leftovers are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.run.new_files import describe_leftovers, looks_like_secret
from cub.place.changes import FileChange
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git
from tests.examples import keep_few
from tests.masking.samples import chance, pem

_CHECK = "grep -q 2 a.py"
_RIGHT = "echo 'A = 2' > a.py"
_JUNK = (
    "echo x > tmp.log; echo x > debug.txt; mkdir scratch; echo x > scratch/try.py;"
    "head -c 3000000 /dev/zero > out.bin; echo API_KEY=1 > .env"
)


def _prepare(bakery: Shop) -> None:
    bakery.write("a.py", "A = 1\n")
    bakery.commit("stock")
    bakery.task()


@pytest.fixture
def checked(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


def _history(shop: Shop) -> set[str]:
    """Every path that a commit of the branch has ever had."""
    return set(git(shop.root, "log", "-m", "--root", "--format=", "--name-only").split())


@pytest.mark.parametrize(
    "commit",
    keep_few(
        [
            "git add -- . ':!.cub'; git commit -qm all",
            "",
            "git add -A",
        ],
        1,
    ),
)
def test_a_right_change_plus_junk_closes_without_the_secret(checked: Shop, commit: str) -> None:
    done = checked.run_agent(f"{_RIGHT}; {_JUNK}; {commit}", once=True, checks=_CHECK)
    assert done.outcomes == ["ok"]
    assert {"a.py", "tmp.log", "debug.txt", "scratch/try.py", "out.bin"} <= _history(checked)
    assert ".env" not in _history(checked)
    left_out = checked.attempt(done.end["run"]) / "left-out/.env"
    assert left_out.read_text() == "API_KEY=1\n"
    assert f".env: kept in .cub/runs/{done.end['run']}/s-1/1/left-out/" in done.notices
    assert checked.dirt() == ""
    named = "new: out.bin, 3 MB; scratch/, 1 file; debug.txt; tmp.log"
    assert ".env looks like a secret and is left out of the commit" in done.notices
    assert named in done.notices
    assert {".env looks like a secret and is left out of the commit", named} <= {
        *done.of("attempt_end")[0]["obs"]
    }
    message = git(checked.root, "log", "-1", "--format=%B", "--grep", "task(s-1)")
    assert f"\n\nReview these changes:\n\n- {named}\n" in message


def test_a_secret_that_only_a_commit_had_is_not_in_history(checked: Shop) -> None:
    done = checked.run_agent(
        f"{_RIGHT}; echo API_KEY=1 > .env; git add a.py .env; git commit -qm one;"
        "git rm -q .env; git commit -qm two",
        checks=_CHECK,
    )
    assert done.outcomes == ["ok"]
    assert ".env" not in _history(checked)
    told = ".env looks like a secret and is left out of the commit: the run commits the work in"
    assert told in done.notices


def test_checks_judge_the_files_without_the_secret(checked: Shop) -> None:
    check = "test -f .env || test ! -s b.py"
    done = checked.run_agent(f"{_RIGHT}; echo API_KEY=1 > .env", checks=check)
    assert done.outcomes == ["ok"]
    checked.task("s-2")
    done = checked.run_agent(
        "echo B > b.py; mkdir c; echo API_KEY=12 > c/.env",
        once=True,
        checks="test -f c/.env || { test ! -e b.py; }",
    )
    assert done.outcomes == ["checks_failed"]
    (end,) = done.of("attempt_end")
    assert end["fail"]["reason"].startswith("c/.env looks like a secret and is left out")
    folder = checked.attempt(done.end["run"], task="s-2")
    assert (folder / "left-out/c/.env").read_text() == "API_KEY=12\n"
    assert f"c/.env: kept in .cub/runs/{done.end['run']}/s-2/1/left-out/" in end["obs"]
    assert "API_KEY" not in (folder / "changes.patch").read_text()
    assert not (checked.root / "c/.env").exists()


def test_nothing_but_a_secret_is_no_change(checked: Shop) -> None:
    done = checked.run_agent("echo API_KEY=1 > .env", once=True, checks=_CHECK)
    assert done.outcomes == ["no_changes"]
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert reason == ".env looks like a secret and is left out of the commit"


def test_each_attempt_keeps_its_own_secret(checked: Shop) -> None:
    checked.task("s-2")
    checked.client("cat > /dev/null; echo $CUB_TASK > b.py; echo KEY_OF=1 > c.py;"
                   "echo API_KEY=$CUB_TASK > .env; git add -A; git commit -qm all")  # fmt: skip
    done = checked.run(no_checks=True)
    assert done.outcomes == ["ok", "ok"]
    for task in ("s-1", "s-2"):
        left_out = checked.attempt(done.end["run"], task=task) / "left-out/.env"
        assert left_out.read_text() == f"API_KEY={task}\n"
    assert ".env" not in _history(checked)


def test_a_private_key_is_left_out_except_among_tests(checked: Shop) -> None:
    for path in ("key.pem", "tests/key.pem"):
        checked.write(f"../{path}", "\n".join(pem()))
    shell = f"{_RIGHT}; mkdir tests; cp ../key.pem .; cp ../tests/key.pem tests"
    done = checked.run_agent(shell, checks=_CHECK)
    assert done.outcomes == ["ok"]
    assert "tests/key.pem" in _history(checked)
    assert "key.pem" not in _history(checked)


def test_a_token_in_a_new_module_is_left_out(checked: Shop) -> None:
    checked.write("../settings.py", f'TOKEN = "ghp_{chance(36)}"\n')
    check = "! grep -q import a.py || test -f settings.py"
    shell = "echo import settings > a.py; cp ../settings.py ."
    done = checked.run_agent(shell, once=True, checks=check)
    assert done.outcomes == ["checks_failed"]
    assert "settings.py looks like a secret" in done.of("attempt_end")[0]["fail"]["reason"]


def test_old_files_and_text_are_no_leftovers(checked: Shop) -> None:
    changes = [
        FileChange("a.py", "A"),
        FileChange("gone.log", "D"),
        FileChange("old.log", "M"),
        FileChange("large.txt", "A"),
    ]
    for name in ("old.log", "mine.log"):
        checked.write(name, "x\n")
    checked.write("large.txt", "x" * (2 << 20))
    assert [*describe_leftovers(checked.root, changes)] == []


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (".env", True),
        ("website/.env", True),
        ("tests/fixtures/.env", False),
        ("third_party/lib/tests/.env", False),
        ("shop/settings.py", True),
        (".aws/config.txt", True),
        ("tests/test_shop.py", False),
        ("tests/data/shop.txt", False),
        ("docs/shop.py", False),
        ("README.md", False),
        ("vendor/shop.py", False),
    ],
)
def test_where_a_file_is_decides_whether_it_may_show_a_key(path: str, *, is_one: bool) -> None:
    data = f'API_KEY="ghp_{chance(36)}"\n'.encode()
    assert looks_like_secret(path, data) is is_one
    assert not looks_like_secret(path, data + b"\0")


@pytest.mark.thorough
def test_no_file_of_this_repository_is_taken_for_a_secret() -> None:
    root = Path(__file__).parents[3]
    names = git(root, "ls-files", "-z").split("\0")
    files = [(name, root / name) for name in names]
    found = [n for n, file in files if file.is_file() and looks_like_secret(n, file.read_bytes())]
    assert len(names) > 500
    assert found == []
