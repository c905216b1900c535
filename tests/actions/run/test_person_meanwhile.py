"""What a person does in the checkout while an attempt is at work stays, whatever comes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cub.store.events import Event
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.conftest import git

_FAILING = "cat > /dev/null; echo broken >> a.txt; exit 1"
_WORKING = "cat > /dev/null; echo new > c.txt; echo more >> a.txt"
_CHECK = "! test -e bad.txt"


def _prepare(shop: Shop) -> None:
    for name in ("a.txt", "b.txt"):
        shop.write(name, f"{name}\n")
    shop.write(".gitignore", "secret.env\n")
    shop.commit("files")


@pytest.fixture
def bakery(copy_shop: CopyShop) -> Shop:
    shop = copy_shop(_prepare)
    git(shop.root, "branch", "old")
    git(shop.root, "tag", "mine")
    shop.write("notes.txt", "my notes\n")
    shop.write("secret.env", "KEY=1\n")
    shop.task()
    return shop


def _run(shop: Shop, agent: str, person: Callable[[Shop], object]) -> Done:
    """Run; the person acts when the first attempt has begun."""
    acted: list[str] = []

    def act(event: Event) -> None:
        if event["ev"] == "attempt_start" and not acted:
            acted.append(event["task"])
            person(shop)

    shop.client(agent)
    return shop.run(each=act, checks=_CHECK, once=True)


def _edit(shop: Shop) -> None:
    shop.write("b.txt", "b.txt\nhuman line\n")
    shop.write("human.txt", "human new\n")
    shop.write("notes.txt", "my notes\nmore\n")
    git(shop.root, "add", "human.txt")


def _commit(shop: Shop) -> None:
    shop.write("b.txt", "b.txt\nhuman line\n")
    git(shop.root, "commit", "-qm", "human work", "b.txt")


def _switch(shop: Shop) -> None:
    git(shop.root, "switch", "-q", "-c", "feature")
    git(shop.root, "tag", "human")


def _stash(shop: Shop) -> None:
    shop.write("b.txt", "b.txt\nhuman line\n")
    git(shop.root, "stash", "push", "-q", "-u", "--", "b.txt", "notes.txt")


def _tidy(shop: Shop) -> None:
    git(shop.root, "tag", "-d", "mine")
    git(shop.root, "branch", "-D", "old")
    git(shop.root, "config", "alias.co", "checkout")
    hook = shop.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    (shop.root / "secret.env").unlink()


def _require_edits(shop: Shop) -> None:
    assert (shop.root / "b.txt").read_text() == "b.txt\nhuman line\n"
    assert (shop.root / "notes.txt").read_text() == "my notes\nmore\n"
    assert shop.dirt().split("\n")[:3] == [" M b.txt", "A  human.txt", "?? notes.txt"]


def _require_commit(shop: Shop) -> None:
    assert "human work" in shop.log()
    assert "human line" in git(shop.root, "show", "HEAD:b.txt")


def _require_switch(shop: Shop) -> None:
    assert git(shop.root, "branch", "--show-current") == "feature\n"
    assert git(shop.root, "tag").split() == ["human", "mine"]
    assert not (shop.root / "c.txt").exists()


def _require_stash(shop: Shop) -> None:
    assert "human line" in git(shop.root, "show", "stash@{0}:b.txt")
    assert git(shop.root, "show", "stash@{0}^3:notes.txt") == "my notes\n"
    assert (shop.root / "b.txt").read_text() == "b.txt\n"


def _require_tidy(shop: Shop) -> None:
    assert git(shop.root, "tag") == ""
    assert "old" not in git(shop.root, "branch")
    assert git(shop.root, "config", "alias.co") == "checkout\n"
    assert (shop.root / ".git/hooks/pre-push").exists()
    assert not (shop.root / "secret.env").exists()


_DEEDS = [
    pytest.param(_edit, _require_edits, id="edits"),
    pytest.param(_commit, _require_commit, id="commits"),
    pytest.param(_switch, _require_switch, id="switches"),
    pytest.param(_stash, _require_stash, id="stashes"),
    pytest.param(_tidy, _require_tidy, id="tidies"),
]
Deed = Callable[[Shop], object]


@pytest.mark.parametrize(("person", "require"), _DEEDS)
def test_an_accepted_attempt_leaves_what_a_person_did(
    bakery: Shop, person: Deed, require: Deed
) -> None:
    done = _run(bakery, _WORKING, person)
    assert done.outcomes == ["ok"]
    require(bakery)
    assert "more" in git(bakery.root, "show", "main:a.txt")
    names = git(bakery.root, "ls-tree", "-r", "--name-only", "main").split()
    assert "c.txt" in names
    assert not {"human.txt", "notes.txt", "secret.env"} & {*names}
    assert git(bakery.root, "for-each-ref", "refs/cub") == ""


@pytest.mark.parametrize(("person", "require"), _DEEDS)
def test_a_failed_attempt_leaves_what_a_person_did(
    bakery: Shop, person: Deed, require: Deed
) -> None:
    done = _run(bakery, _FAILING, person)
    assert done.outcomes == ["harness_exit"]
    require(bakery)
    (patch,) = bakery.cub.glob("runs/*/s-1/1/changes.patch")
    assert "+broken" in patch.read_text()
    assert "human" not in patch.read_text()


def test_edits_in_the_way_keep_the_commit_under_a_ref(bakery: Shop) -> None:
    done = _run(bakery, _WORKING, lambda shop: shop.write("a.txt", "mine\n"))
    assert done.outcomes == ["not_merged"]
    (ref,) = git(bakery.root, "for-each-ref", "--format=%(refname)", "refs/cub").split()
    assert f"`git merge {ref}`" in done.of("attempt_end")[0]["fail"]["reason"]
    assert bakery.status() == "parked"
    assert (bakery.root / "a.txt").read_text() == "mine\n"
    assert not (bakery.root / "c.txt").exists()
    git(bakery.root, "checkout", "-q", "a.txt")
    git(bakery.root, "merge", "-q", ref)
    assert (bakery.root / "c.txt").read_text() == "new\n"


def test_what_fails_together_with_newer_commits_is_tried_again(bakery: Shop) -> None:
    def commit(shop: Shop) -> None:
        shop.write("bad.txt", "bad\n")
        git(shop.root, "add", "bad.txt")
        git(shop.root, "commit", "-qm", "human work")

    done = _run(bakery, _WORKING, commit)
    assert done.outcomes == ["checks_failed"]
    assert "newer commits" in done.of("attempt_end")[0]["fail"]["reason"]
    assert bakery.log()[0] == "human work"


def test_a_conflict_with_newer_commits_is_tried_again_and_not_counted(bakery: Shop) -> None:
    def commit(shop: Shop) -> None:
        shop.write("a.txt", "human\n")
        git(shop.root, "commit", "-qm", "human work", "a.txt")

    done = _run(bakery, _WORKING, commit)
    assert done.outcomes == ["merge_conflict"]
    fail = done.of("attempt_end")[0]["fail"]
    assert ("a.txt" in fail["reason"], fail["charge"]) == (True, False)
    assert bakery.status() in ("open", "retry")
    assert "a.txt" in Path(bakery.cub, "ledger.jsonl").read_text()


def test_a_branch_that_is_deleted_keeps_the_commit_under_a_ref(bakery: Shop) -> None:
    def delete(shop: Shop) -> None:
        git(shop.root, "switch", "-q", "-c", "feature")
        git(shop.root, "branch", "-qD", "main")

    done = _run(bakery, _WORKING, delete)
    assert done.outcomes == ["not_merged"]
    assert git(bakery.root, "for-each-ref", "refs/cub") != ""
    assert git(bakery.root, "branch", "--show-current") == "feature\n"


def test_a_branch_that_moves_during_each_check_does_not_hold_the_run_forever(bakery: Shop) -> None:
    rounds = list[str]()

    def commit(event: Event) -> None:
        if event["ev"] == "check_end" and not event["base"]:
            rounds.append(event["cmd"])
            git(bakery.root, "commit", "-q", "--allow-empty", "-m", f"human work {len(rounds)}")

    done = bakery.run_agent(_WORKING, each=commit, checks=_CHECK, once=True)
    assert (len(rounds), done.outcomes) == (6, ["not_merged"])
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert ("newer commits 5 times" in reason, bakery.status()) == (True, "parked")
    git(bakery.root, *reason.split("`")[1].split()[1:])
    assert (bakery.root / "c.txt").read_text() == "new\n"
