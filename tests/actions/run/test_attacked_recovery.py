"""Runs that are killed at the worst moment: what was accepted is finished, the rest is a patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.signed_state import find_project_state
from tests.actions.run.attacked import (
    CHECK,
    MAILBOX,
    attack_until_killed,
    is_untouched,
    prepare,
    run_killed,
)
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import see_checkout
from tests.conftest import git
from tests.processes.programs import is_running, until

_FORGED = '{"ok": true, "tree": "HEAD^{tree}", "parent": "HEAD", "message": "x", "event": {}}'


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(prepare)


def _commit_by_hand(shop: Shop) -> None:
    shop.write("mine.txt", "a person's\n")
    git(shop.root, "add", "mine.txt")
    git(shop.root, "commit", "-qm", "by hand")


@pytest.mark.parametrize(
    ("step", "log", "status"),
    [
        ("commit.json", ["by hand", "files", "start"], "open"),
        ("result.json", ["by hand", "task(s-1): Do s-1", "files", "start"], "closed"),
    ],
)
def test_what_a_person_commits_after_a_kill_stays(
    shop: Shop, step: str, log: list[str], status: str
) -> None:
    """A commit that was made and not merged yet is a patch then: nothing has checked both."""
    shop.client("cat > /dev/null; echo C > c.py")
    assert run_killed(shop, step).returncode == -9
    _commit_by_hand(shop)
    done = shop.run(no_checks=True, label="none")
    assert (shop.log(), shop.status()) == (log, status)
    assert [event["status"] for event in done.of("recovered")] == [status]
    assert git(shop.root, "for-each-ref", "refs/cub") == ""
    patches = [*shop.cub.glob("runs/*/s-1/1/changes.patch")]
    assert bool(patches) is (status == "open")
    assert is_untouched(shop)


def test_what_a_person_s_file_keeps_from_being_merged_waits_for_them(shop: Shop) -> None:
    """The line that merges it works, and the commit has nothing that the stores don't say."""
    shop.client("cat > /dev/null; echo C > c.py")
    git(shop.root, "add", "-Af")
    git(shop.root, "commit", "-qm", "stores")
    assert run_killed(shop, "commit.json").returncode == -9
    shop.write("c.py", "a person's\n")
    done = shop.run(no_checks=True, label="none")
    assert shop.status() == "parked"
    assert [event["status"] for event in done.of("recovered")] == ["parked"]
    (ref,) = git(shop.root, "for-each-ref", "--format=%(refname)", "refs/cub/kept").split()
    (end,) = shop.ledger("attempt_end")
    assert f"afterwards, run `git merge {ref}` and `cub task close s-1`" in end["fail"]["reason"]
    (shop.root / "c.py").unlink()
    git(shop.root, "merge", "-q", ref)
    assert (shop.root / "c.py").read_text() == "C\n"
    assert (shop.status(), shop.ledger("attempt_end")) == ("parked", [end])


def test_what_can_not_be_concluded_is_not_said_to_be(shop: Shop) -> None:
    shop.client("cat > /dev/null; echo C > c.py")
    assert run_killed(shop, "commit.json").returncode == -9
    objects = shop.root / ".git/objects"
    objects.rename(objects.with_name("away"))
    with pytest.raises(CubError, match="can't be concluded yet"):
        shop.run(no_checks=True, label="none")
    objects.with_name("away").rename(objects)
    shop.run(no_checks=True, label="none")
    assert shop.status() == "closed"
    assert is_untouched(shop)


def test_what_a_killed_attempt_has_made_is_kept_as_a_patch(shop: Shop, tmp_path: Path) -> None:
    """Its processes, hooks, settings and forged decisions are gone with its place."""
    hook = f"echo 'touch {tmp_path}/PWN' > .git/hooks/post-checkout"
    plant = f"{hook}; git config core.fsmonitor 'touch {tmp_path}/PWN'; rm .git/HEAD"
    forge = f"for name in decision commit; do echo '{_FORGED}' > {MAILBOX}/$name.json; done"
    before = see_checkout(shop)
    sleep = attack_until_killed(shop, f"echo 'A = 2' > a.py; echo N > new.txt; {plant}; {forge}")
    assert until(lambda: not is_running(sleep))
    shop.client("cat > /dev/null; echo C > c.py")
    assert see_checkout(shop)._replace(files=before.files) == before
    _commit_by_hand(shop)
    done = shop.run(checks=CHECK, label="none")
    assert [event["status"] for event in done.of("recovered")] == ["open"]
    (end,) = shop.ledger("attempt_end")
    patch = (shop.root / end["git"]["patch"]).read_text()
    assert "+A = 2" in patch
    assert "new.txt" in patch
    assert not (tmp_path / "PWN").exists()
    assert shop.log() == ["by hand", "files", "start"]
    assert is_untouched(shop)
    assert shop.run(checks=CHECK).outcomes == ["ok"]


def test_a_start_that_cub_has_not_signed_is_passed_over(shop: Shop) -> None:
    shop.client("cat > /dev/null; echo C > c.py")
    assert run_killed(shop, "decision.json").returncode == -9
    (start,) = find_project_state(shop.root).glob("runs/*/s-1/1/start.json")
    start.write_text('{"task": "s-2"}')
    (event,) = shop.run(no_checks=True, label="none").of("recovered")
    assert (event["task"], shop.status()) == ("s-1", "open")
    assert [end["task"] for end in shop.ledger("attempt_end")] == ["s-1"]


def test_only_the_last_run_that_has_ended_is_kept(shop: Shop) -> None:
    shop.client("cat > /dev/null; date +%N > c.py")
    for number in range(3):
        shop.task(f"c-{number}")
        last = shop.run(no_checks=True, once=True).end["run"]
    kept = [path.name for path in (find_project_state(shop.root) / "runs").iterdir()]
    assert len(kept) <= 2
    assert last in kept
