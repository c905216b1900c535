"""Commits that a person's hooks, keys and identity have a say in."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from cub.errors import CubError
from tests.actions.run.shop import CHECK, Shop, surroundings
from tests.actions.run.sound import commits, require_told, seen
from tests.conftest import git

_MAKE = 'echo made > "made-$CUB_TASK.txt"; echo more >> kept.txt'


def _reason(shop: Shop) -> str:
    return str(shop.ledger("attempt_end")[-1]["fail"]["reason"])


def test_a_hook_that_refuses_is_heard(bakery: Shop) -> None:
    bakery.install_hook("pre-commit", "echo 'bread has no crust' >&2; exit 1")
    before = seen(bakery)
    done = bakery.run_agent(_MAKE, once=True)
    (end,) = require_told(bakery, done)
    assert (done.outcomes, bakery.status()) == (["commit_failed"], "retry")
    assert end["fail"]["charge"]
    assert "bread has no crust" in _reason(bakery)
    assert "made-s-1.txt" in (bakery.root / end["git"]["patch"]).read_text()
    assert seen(bakery) == before


def test_the_next_attempt_is_told_what_a_hook_said(bakery: Shop) -> None:
    bakery.install_hook("commit-msg", "test -e crust || { echo 'bread has no crust'; exit 1; }")
    bakery.client(
        'cat > prompt; grep -q "has no crust" prompt && touch crust; rm prompt; echo x > f'
    )
    bakery.task()
    done = bakery.run()
    assert done.outcomes == ["commit_failed", "ok"]
    assert commits(bakery) == ["task(s-1): Do s-1", "start"]


def test_three_commits_that_fail_in_a_row_stop_the_run(bakery: Shop) -> None:
    bakery.install_hook("pre-commit", "echo $(date +%N) no >&2; exit 1")
    bakery.configure(run={"max_attempts": 1})
    bakery.add_tasks(5)
    done = bakery.run_agent(_MAKE)
    assert done.outcomes == ["commit_failed"] * 3
    assert done.end["end"] == "machine"


def test_no_hook_is_skipped_and_none_is_asked_twice(bakery: Shop) -> None:
    heard = bakery.root.parent / "heard"
    heard.mkdir()
    kinds = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
    for kind in kinds:
        bakery.install_hook(kind, f"echo {kind} >> {heard}/names")
    bakery.configure(run={"writable": [heard.as_posix()]})
    assert bakery.run_agent(_MAKE).outcomes == ["ok"]
    assert (heard / "names").read_text().split() == [*kinds]
    assert commits(bakery) == ["task(s-1): Do s-1", "start"]


@pytest.mark.parametrize("add", ["; git add .", ""])
def test_what_a_hook_formats_is_checked_again_and_committed(bakery: Shop, add: str) -> None:
    """A new file that it does not add is a report of its own."""
    edit = "echo neat > kept.txt; echo hooked > hooked.txt"
    bakery.install_hook("pre-commit", f"test ! -e made-s-1.txt || {{ {edit}{add}; }}")
    done = bakery.run_agent(
        _MAKE, once=True, checks="grep -q kept kept.txt || grep -q neat kept.txt"
    )
    (end,) = require_told(bakery, done)
    assert done.outcomes == ["ok"]
    assert "a hook changed the files, and the checks ran again on that" in done.notices
    assert len(done.of("check_end")) == 3
    new = ["hooked.txt"] if add else []
    assert end["git"]["files"] == [*new, "kept.txt", "made-s-1.txt"]
    assert (bakery.root / "kept.txt").read_text() == "neat\n"
    assert bakery.dirt() == ""


def test_what_a_hook_breaks_fails_the_attempt(bakery: Shop) -> None:
    bakery.install_hook("pre-commit", "test ! -e made-s-1.txt || echo broken > wrong; git add .")
    before = seen(bakery)
    done = bakery.run_agent(_MAKE, once=True, checks=CHECK)
    assert done.outcomes == ["commit_failed"]
    assert _reason(bakery).startswith("after a hook changed the files: ")
    assert seen(bakery) == before


def test_a_hook_that_refuses_after_it_edited_is_taken_back_too(bakery: Shop) -> None:
    edit = "echo hooked > hooked.txt; echo hooked > kept.txt; echo no; exit 1"
    bakery.install_hook("pre-commit", f"test ! -e made-s-1.txt || {{ {edit}; }}")
    before = seen(bakery)
    done = bakery.run_agent(_MAKE, once=True)
    assert done.outcomes == ["commit_failed"]
    assert seen(bakery) == before


@pytest.mark.thorough
def test_a_hook_that_never_ends_is_ended(bakery: Shop) -> None:
    bakery.install_hook("pre-commit", "echo waiting; sleep 3600")
    before = seen(bakery)
    done = bakery.run_agent(_MAKE, once=True, timeout="1s")
    assert done.outcomes == ["commit_failed"]
    assert _reason(bakery)
    assert seen(bakery) == before
    assert not (bakery.root / ".git/index.lock").exists()


def _signed(shop: Shop, shell: str) -> None:
    program = shop.write(".git/sign", f"#!/bin/sh\n{shell}\n")
    program.chmod(0o755)
    git(shop.root, "config", "commit.gpgsign", "true")
    git(shop.root, "config", "gpg.program", str(program))


def test_a_signature_that_asks_at_the_terminal_fails(bakery: Shop) -> None:
    _signed(bakery, "read -r word < /dev/tty || exit 2")
    before = seen(bakery)
    done = bakery.run_agent(_MAKE, once=True, timeout="5s")
    assert done.outcomes == ["commit_failed"]
    assert "gpg failed to sign" in _reason(bakery)
    patch = bakery.root / bakery.ledger("attempt_end")[-1]["git"]["patch"]
    assert "made-s-1.txt" in patch.read_text()
    assert seen(bakery) == before


def _without_identity(project: Path, environ: dict[str, str]) -> Shop:
    """A repository with a commit, in which git knows no name to commit with."""
    git(project, "commit", "-qm", "start", "--allow-empty")
    git(project, "config", "user.useConfigOnly", "true")
    return Shop(project, environ)


def test_who_commits_has_to_be_known_beforehand(project: Path, home: Path) -> None:
    shop = _without_identity(project, surroundings(home))
    git(project, "config", "user.name", "")
    git(project, "config", "user.email", "")
    with pytest.raises(CubError, match="no author name and email") as refused:
        shop.run_agent(_MAKE)
    assert "\n" not in refused.value.message
    assert "git config user.name" in refused.value.hint
    assert shop.status() == "open"
    shop.configure(run={"commit": False})
    assert shop.run().outcomes == ["ok"]


@pytest.mark.parametrize("hidden", [[], ["GIT_*"]])
def test_who_commits_may_stand_in_the_environment_of_the_run(
    project: Path, home: Path, hidden: list[str]
) -> None:
    roles, whats = ("AUTHOR", "COMMITTER"), ("NAME", "EMAIL")
    who = {f"GIT_{role}_{what}": "t@t" for role in roles for what in whats}
    shop = _without_identity(project, surroundings(home) | who)
    shop.configure(run={"hide_env": hidden})
    refused = pytest.raises(CubError, match="no author name") if hidden else nullcontext()
    with refused:
        assert shop.run_agent(_MAKE, once=True).outcomes == ["ok"]


def test_a_commit_takes_the_persons_name(bakery: Shop) -> None:
    git(bakery.root, "config", "user.name", "Ida")
    bakery.run_agent(_MAKE)
    assert git(bakery.root, "log", "--format=%an %cn", "-1") == "Ida Ida\n"
