"""What has to hold after every run, whatever an agent did: nothing of a person's is lost."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
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


class SeenCheckout(NamedTuple):
    """A checkout to the last byte: files with their modes, and what `.git` has but objects."""

    head: str
    files: dict[str, tuple[int, bytes]]
    git: dict[str, tuple[int, bytes]]
    staged: dict[str, str]
    refs: dict[str, str]


_RUNS_OWN = ("objects", "logs", "refs", "index", "packed-refs", "cub-run.lock", "ORIG_HEAD")


def see_checkout(shop: Shop) -> SeenCheckout:
    """All but what cub itself writes in `.cub/`, and refs of cub's."""
    config = {"config.yaml", "constitution.md"}
    files = {
        path: entry
        for path, entry in _read_files(shop.root, (".git",)).items()
        if not path.startswith(".cub/") or path.removeprefix(".cub/") in config
    }
    lines = git(shop.root, "ls-files", "-s", "-t").splitlines()
    words = git(shop.root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    refs = dict(line.split(" ", 1) for line in words if not line.startswith("refs/cub/"))
    refs["stash"] = git(shop.root, "stash", "list", "--format=%H %gs")
    return SeenCheckout(
        shop.head,
        files,
        _read_files(shop.root / ".git", _RUNS_OWN),
        {name: entry for entry, _, name in (line.partition("\t") for line in lines)},
        refs,
    )


def _read_files(top: Path, left_out: Collection[str]) -> dict[str, tuple[int, bytes]]:
    found = {".": (top.lstat().st_mode, b"")}
    for folder, folders, names in os.walk(top):
        outer = left_out if Path(folder) == top else ()
        folders[:] = [name for name in folders if name not in outer]
        kept = [*folders, *(name for name in names if name not in outer)]
        for path in (Path(folder, name) for name in kept):
            data = os.fsencode(path.readlink()) if path.is_symlink() else b""
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
            found[path.relative_to(top).as_posix()] = path.lstat().st_mode, data
    return found


def require_untouched(shop: Shop, before: SeenCheckout) -> None:
    """The checkout is what it was, but for commits on top, and the files that these changed."""
    after, branch = see_checkout(shop), git(shop.root, "symbolic-ref", "HEAD").strip()
    git(shop.root, "merge-base", "--is-ancestor", before.head, "HEAD")
    changed = git(shop.root, "diff", "--name-only", before.head, "HEAD").splitlines()
    folders = {parent.as_posix() for path in changed for parent in Path(path).parents} - {"."}
    mine = {".cub", *folders, *changed}
    lost = before.files.keys() & set(changed) - before.staged.keys()
    assert not lost, "a commit has replaced a file that git did not track"
    assert git(shop.root, "diff", "HEAD", "--name-only", "--", ":!.cub") == ""
    for old, new in ((before.files, after.files), (before.staged, after.staged)):
        assert _leave_out(new, mine) == _leave_out(old, mine)
    assert after.git == before.git
    assert {**after.refs, branch: ""} == {**before.refs, branch: ""}


def _leave_out(entries: Mapping[str, object], paths: set[str]) -> dict[str, object]:
    return {path: entry for path, entry in entries.items() if path not in paths}


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
