"""Runs that are killed at the worst moment, by their own agent or by a power cut."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from cub.errors import CubError
from cub.files.signed_state import find_project_state
from tests.actions.run.attacked import CHECK, attack, await_end, is_untouched, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop, alive
from tests.actions.run.test_attacked_state import linux
from tests.conftest import git
from tests.examples import keep_few
from tests.processes.programs import until


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(prepare)


def _hook(shop: Shop, text: str) -> None:
    hook = shop.root / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{text}\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("ago", [0, 12])
def test_what_a_person_commits_after_a_kill_stays(shop: Shop, ago: int) -> None:
    """5: it was undone within ten seconds; later, the task was tried again."""
    kill = "test -e ../killed || { touch ../killed; kill -9 $(cat ../cub); }"
    _hook(shop, f"cd {shop.root}; {kill}")
    assert attack(shop, "echo $C > ../cub; echo C > c.py").code == -9
    if ago:
        for path in find_project_state(shop.root).rglob("*"):
            os.utime(path, (time.time() - ago,) * 2)
    shop.write("mine.txt", "a person's\n")
    git(shop.root, "add", "mine.txt")
    git(shop.root, "commit", "-qm", "by hand")
    done = shop.run(checks=CHECK, label="none")
    assert shop.log() == ["by hand", "task(s-1): Do s-1",
                          "files", "start"]  # fmt: skip
    assert shop.status() == "closed"
    assert [event["status"] for event in done.of("recovered")] == ["closed"]
    assert is_untouched(shop)


@pytest.mark.thorough
def test_a_person_who_commits_during_recovery_of_nothing_keeps_all(shop: Shop) -> None:
    """The agent's half change goes, the person's commit stays, and the next run goes on."""
    attack(shop, "echo 'A = 2' > a.py; echo new > new.txt; kill -9 $C; sleep 30")
    await_end(shop)
    shop.write("mine.txt", "a person's\n")
    git(shop.root, "add", "mine.txt")
    git(shop.root, "commit", "-qm", "by hand")
    shop.client("cat > /dev/null; echo C > c.py")
    done = shop.run(checks=CHECK)
    assert done.outcomes == ["ok"]
    assert "by hand" in shop.log()
    assert not (shop.root / "new.txt").exists()
    assert is_untouched(shop)


@pytest.mark.thorough
def test_a_baseline_check_is_not_the_end_of_the_client(shop: Shop) -> None:
    """8: after a power cut, the agent's edits were taken for the person's."""
    edits = "echo 'A = 2' > a.py; echo x > new.txt"
    # A sign of life after them: else a machine that pauses makes them later than the last one.
    seen = 'until find "$HOME" -name status.json -newer new.txt | grep -q .; do sleep 0.05; done'
    assert attack(shop, f"{edits}; {seen}; kill -9 $C $K; sleep 1").code == -9
    shop.client("cat > /dev/null; echo C > c.py")
    done = shop.run(checks=CHECK)
    assert done.outcomes == ["ok"]
    assert "stays" not in done.notices
    assert not (shop.root / "new.txt").exists()
    assert is_untouched(shop)


@pytest.mark.parametrize("lock", keep_few(["index.lock", "refs/heads/main.lock", "HEAD.lock"], 1))
def test_a_lock_of_a_git_that_is_gone_stops_no_run(shop: Shop, lock: str) -> None:
    """9: it stopped all of them, though the attempt counted as concluded."""
    shop.write("g.txt", "g\n")
    assert attack(shop, f"git add g.txt; touch .git/{lock}; kill -9 $C; sleep 30").code == -9
    await_end(shop)
    shop.client("cat > /dev/null; echo C > c.py")
    assert shop.run(checks=CHECK).outcomes == ["ok"]
    assert (shop.root / "g.txt").read_text() == "g\n"
    assert is_untouched(shop)


def test_hooks_of_a_killed_attempt_are_gone_before_git_runs(shop: Shop) -> None:
    plant = "echo 'touch ../PWN' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"
    config = "git config core.fsmonitor 'touch ../PWN'; git config alias.st '!touch ../PWN'"
    attack(shop, f"{plant}; {config}; kill -9 $C; sleep 30")
    await_end(shop)
    mine = shop.root / ".git/hooks/pre-push"
    mine.write_text("#!/bin/sh\n")
    shop.run(checks=CHECK, label="none")
    assert not (shop.root.parent / "PWN").exists()
    assert not (shop.root / ".git/hooks/post-checkout").exists()
    assert "PWN" not in (shop.root / ".git/config").read_text()
    assert mine.exists()


@pytest.mark.thorough
def test_whose_a_commit_is_that_nobody_can_tell_it_stays_and_is_said(shop: Shop) -> None:
    """Cub and its keeper were killed at once, so the end of the client was not noted."""
    attack(shop, "echo 'A = 2' > a.py; git commit -qam agent; kill -9 $C $K; sleep 1")
    git(shop.root, "commit", "-q", "--allow-empty", "-m", "by hand")
    shop.client("cat > /dev/null; echo C > c.py")
    done = shop.run(checks=CHECK, label="none")
    assert {"agent", "by hand"} <= set(shop.log())
    assert "HEAD was moved after the run was killed" in done.notices
    assert shop.status() == "open"


@pytest.mark.thorough
def test_what_can_not_be_concluded_is_not_said_to_be(shop: Shop) -> None:
    attack(shop, "echo 'A = 2' > a.py; kill -9 $C; sleep 30")
    await_end(shop)
    objects = shop.root / ".git/objects"
    objects.rename(objects.with_name("away"))
    for backup in (find_project_state(shop.root) / "runs").glob("*/*.backup"):
        shutil.rmtree(backup)
    shop.client("cat > /dev/null; echo C > c.py")
    with pytest.raises(CubError, match="can't be concluded yet"):
        shop.run(checks=CHECK)
    objects.with_name("away").rename(objects)
    assert shop.run(checks=CHECK).outcomes == ["ok"]
    assert is_untouched(shop)


@linux
def test_no_orphan_writes_into_files_that_were_put_back(shop: Shop) -> None:
    """16: one without the run's mark in its environment lived on when its keeper was killed."""
    pids = shop.root.parent / "pid"
    loop = "while :; do echo bad >> a.py; sleep 0.05; done"
    shop.write("daemon.sh", f"echo $$ > {pids}.new; mv {pids}.new {pids}; {loop}")
    shop.commit("daemon")
    daemon = "env -i PATH=$PATH setsid sh daemon.sh > /dev/null 2>&1 < /dev/null &"
    attack(shop, f"{daemon} while [ ! -e {pids} ]; do sleep 0.02; done; kill -9 $K; sleep 30")
    assert until(lambda: not alive([int(pids.read_text())]))
    assert is_untouched(shop)


def _state_of(shop: Shop) -> list[str]:
    return sorted(path.name for path in (find_project_state(shop.root) / "runs").iterdir())


def test_only_the_last_run_that_has_ended_is_kept(shop: Shop) -> None:
    shop.client("cat > /dev/null; date +%N > c.py")
    for number in range(3):
        shop.task(f"c-{number}")
        last = shop.run(no_checks=True, once=True).end["run"]
    assert len(_state_of(shop)) <= 2
    assert last in _state_of(shop)


def test_a_repository_that_a_killed_attempt_destroyed_is_back(shop: Shop) -> None:
    head = shop.head
    attack(shop, "echo 'A = 2' > a.py; rm -rf .git; kill -9 $C; sleep 30")
    await_end(shop)
    shop.client("cat > /dev/null; echo C > c.py")
    assert shop.run(checks=CHECK).outcomes == ["ok"]
    assert head in git(shop.root, "log", "--format=%H")
    assert is_untouched(shop)
