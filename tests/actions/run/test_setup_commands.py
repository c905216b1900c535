"""What `run.setup` makes in a place, for the agent and for checks."""

from __future__ import annotations

import json

import pytest

from cub.errors import CubError
from tests.actions.run.shop import Done, Shop
from tests.conftest import git

_CHECK = "cmp uv.lock made/lock && test ! -e changed"


def _setups(done: Done) -> int:
    return done.notices.count("run.setup: `")


@pytest.fixture
def furnished(bakery: Shop) -> Shop:
    """A shop whose checks need what a command makes of a lock file."""
    bakery.write("uv.lock", "1")
    bakery.write(".gitignore", "made/\n")
    run = {"setup": ["mkdir -p made; cp uv.lock made/lock; echo x >> kept.txt"]}
    bakery.configure(run={**run, "checks": [_CHECK]})
    bakery.commit()
    return bakery


def test_they_run_once_in_each_tree(furnished: Shop) -> None:
    furnished.add_tasks(2)
    done = furnished.run_agent('test "$(cat made/lock)" = 1 && echo x > "$CUB_TASK"')
    assert (done.outcomes, _setups(done)) == (["ok", "ok"], 2)
    assert git(furnished.root, "ls-files", "made", "s-*").split() == ["s-1", "s-2"]
    assert (furnished.root / "kept.txt").read_text() == "kept\n"
    assert not (furnished.root / "made").exists()


def test_they_run_again_for_another_lock_file(furnished: Shop) -> None:
    done = furnished.run_agent("echo 2 > uv.lock")
    assert (done.outcomes, _setups(done)) == (["ok"], 3)


def test_what_an_agent_makes_of_them_does_not_help_it(furnished: Shop) -> None:
    done = furnished.run_agent("echo x > changed; rm -r made; mkdir -p made/lock", once=True)
    assert done.outcomes == ["checks_failed"]


def test_a_run_whose_setup_fails_is_refused(furnished: Shop) -> None:
    config = json.loads((furnished.cub / "config.yaml").read_text())
    furnished.configure(run={**config["run"], "setup": ["echo no such package; exit 3"]})
    with pytest.raises(CubError, match=r"`echo no such .*` of run.setup failed: exit code 3"):
        furnished.run_agent("echo x > s-1")
    assert furnished.status() == "open"


def test_an_attempt_that_breaks_them_fails(furnished: Shop) -> None:
    assert furnished.run_agent("git rm -q uv.lock", once=True).outcomes == ["checks_failed"]


def test_an_extension_whose_sources_changed_has_to_be_built_by_a_check(bakery: Shop) -> None:
    bakery.write("fast.c", "1")
    bakery.write(".gitignore", "*.so\n")
    bakery.commit()
    bakery.write("fast.so", "1")
    bakery.set_checks("test -e fast.so")
    bakery.task("s-1")
    done = bakery.run_agent('test -e fast.so && echo 2 > "$CUB_TASK.c"', once=True)
    assert done.outcomes == ["checks_failed"]
    assert "fast.so: not shared, as the sources changed" in str(done.events)


def test_ignored_files_that_are_asked_for_are_there_and_in_no_commit(bakery: Shop) -> None:
    bakery.write(".gitignore", ".env\ndata/\nnode_modules\n")
    bakery.write(".worktreeinclude", ".env\n")
    bakery.commit()
    for path in (".env", "data/models/big.bin", "data/other", "node_modules/a/index.js"):
        bakery.write(path, "mine\n")
    there = "cat .env data/models/big.bin node_modules/a/index.js && test ! -e data/other"
    bakery.configure(run={"share": ["data/models"], "checks": [there]})
    bakery.task("s-1")
    done = bakery.run_agent(f'{there} && echo more >> .env && echo x > "$CUB_TASK"', once=True)
    assert done.outcomes == ["ok"]
    made = git(bakery.root, "show", "--format=", "--name-only", "HEAD", "--", ":!.cub").split()
    assert (made, (bakery.root / ".env").read_text()) == (["s-1"], "mine\n")
