"""What has to hold after every run, whatever an agent did: nothing of a person's is lost."""

from __future__ import annotations

from typing import NamedTuple

from cub.actions.run.failures import find_class
from cub.store.events import Event
from tests.actions.run.shop import Done, Shop
from tests.conftest import git
from tests.git.checkouts import State, state


class Seen(NamedTuple):
    """A repository as a person sees it: files, commits, where HEAD is, what git says of it."""

    files: State
    log: list[str]
    branch: str
    dirt: str


def seen(shop: Shop) -> Seen:
    """All but what is in `.cub/`."""
    files = {path: told for path, told in state(shop.root).items() if not path.startswith(".cub")}
    branch = git(shop.root, "rev-parse", "--symbolic-full-name", "HEAD").strip()
    return Seen(files, commits(shop), branch, shop.dirt())


def commits(shop: Shop) -> list[str]:
    """The messages of HEAD's commits, the last one first; none in an empty repository."""
    listed = git(shop.root, "log", "--format=%s", "--ignore-missing", "HEAD").splitlines()
    return [] if listed == ["HEAD"] else listed


def require_told(shop: Shop, done: Done) -> list[Event]:
    """The ledger has the run's start once, and each attempt's start with its end; the ends."""
    run = done.end["run"]
    told = [event for event in shop.ledger() if event.get("run") == run]
    kinds = [event["ev"] for event in told]
    assert (kinds[0], kinds.count("run_start"), kinds.count("run_end")) == ("run_start", 1, 0)
    attempts = [_which(event) for event in told if event["ev"] == "attempt_start"]
    ends = [event for event in told if event["ev"] == "attempt_end"]
    assert [_which(event) for event in ends] == attempts
    assert len(set(attempts)) == len(attempts)
    for event in ends:
        assert ("fail" in event) is not event["ok"]
        if not event["ok"]:
            free = not find_class(event["fail"]["class"]).is_charged
            if event["fail"]["class"] != "unverified":  # charged or not: see its own tests
                assert event["fail"]["charge"] is not free
            assert event["fail"]["reason"] is not None
    return ends


def size(shop: Shop) -> int:
    """The bytes of all that runs keep."""
    return sum(f.stat().st_size for f in (shop.cub / "runs").rglob("*") if f.is_file())


def _which(event: Event) -> tuple[object, ...]:
    return event["run"], event["task"], event["n"]
