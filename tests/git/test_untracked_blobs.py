from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.files.stat_signature import StatSignature
from cub.git.commit import commit_paths
from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import Snapshot, list_changes
from cub.git.take_snapshot import take_snapshot
from cub.git.untracked_blobs import UntrackedBlob, store_blobs, write_blobs
from cub.git.worktree import Worktree
from cub.processes.command import TimeLimits
from tests.conftest import git
from tests.git.checkouts import checkout, lines, person, save, state, write

CRLF, LF = b"one\r\ntwo\r\n", b"one\ntwo\n"
IDENT = b"$Id: mine $\n"
ODD = ("new\nline", '"quoted"', "end\r", "\udcff", " ", "-dash", "tab\t", "back\\slash")


@pytest.fixture
def top(furnished_project: Path) -> Path:
    return furnished_project


def content(ours: Worktree, snapshot: Snapshot, path: str) -> bytes:
    words = ["git", "cat-file", "blob", f"{snapshot.tree}:{path}"]
    return subprocess.run(words, cwd=ours.toplevel, capture_output=True, check=True).stdout


def attributes(top: Path, rules: str) -> None:
    info = top / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(rules)


def auto_text(top: Path) -> None:
    attributes(top, "* text=auto\n")


def auto_crlf_input(top: Path) -> None:
    git(top, "config", "core.autocrlf", "input")


def auto_crlf(top: Path) -> None:
    git(top, "config", "core.autocrlf", "true")


def idents(top: Path) -> None:
    attributes(top, "* ident\n")


def filters(top: Path) -> None:
    attributes(top, "mine.txt filter=strip\n")
    git(top, "config", "filter.strip.clean", "sed 1d")


def recodes(top: Path) -> None:
    attributes(top, "mine.txt working-tree-encoding=UTF-16LE\n")


def deletes(file: Path) -> None:
    file.unlink()


def rewrites(file: Path) -> None:
    file.write_bytes(b"z\n")


def converts(file: Path) -> None:
    data = file.read_bytes()
    less = data.replace(b"\r", b"")
    file.write_bytes(less if less != data else data.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "agent",
    [*(pytest.param(agent, marks=pytest.mark.thorough) for agent in (deletes, rewrites)), converts],
    ids=lambda a: a.__name__,
)
@pytest.mark.parametrize(
    ("settle", "data"),
    [
        (auto_text, CRLF),
        (auto_crlf_input, CRLF),
        (auto_crlf, LF),
        (idents, IDENT),
        (filters, LF),
        (recodes, "one\r\ntwo\r\n".encode("utf-16-le")),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_untracked_files_come_back_byte_for_byte(
    top: Path, settle: Callable[[Path], None], data: bytes, agent: Callable[[Path], None]
) -> None:
    settle(top)
    write(top, {"mine.txt": data})
    files, seen = state(top), lines(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    agent(top / "mine.txt")
    now = take_snapshot(ours, before)
    assert [change.path for change in list_changes(ours, before, now)] == ["mine.txt"]
    assert restore_snapshot(ours, before, now).failed_paths == ()
    assert (state(top), lines(top)) == (files, seen)
    assert take_snapshot(ours, before).tree == before.tree


def test_files_of_any_name_are_kept(top: Path) -> None:
    auto_crlf_input(top)
    write(top, dict.fromkeys([*ODD, *(f"odd/{name}" for name in ODD)], CRLF))
    files = state(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "clean", "-q", "-f", "-d")
    assert restore_snapshot(ours, before, take_snapshot(ours, before)).failed_paths == ()
    assert state(top) == files


def test_what_an_agent_gives_to_git_did_not_change_by_that(top: Path) -> None:
    auto_crlf_input(top)
    write(top, {"mine.txt": CRLF})
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "add", "mine.txt")
    assert list_changes(ours, before, take_snapshot(ours, before)) == []
    git(top, "commit", "-q", "-m", "agent's")
    now = take_snapshot(ours, before)
    assert list_changes(ours, before, now) == []
    restore_snapshot(ours, before, now)
    assert (top / "mine.txt").read_bytes() == CRLF


def test_what_an_agent_adds_is_told_as_git_will_keep_it(top: Path) -> None:
    auto_crlf_input(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    write(top, {"new.txt": CRLF})
    after = take_snapshot(ours, before)
    assert content(ours, after, "new.txt") == LF
    assert "new.txt" not in after.untracked_modes
    # It is the person's once the attempt is over, and the agent's where one looks back.
    assert "new.txt" in take_snapshot(ours).untracked_modes
    assert content(ours, take_snapshot(ours), "new.txt") == CRLF
    assert take_snapshot(ours, before) == after


def test_a_file_that_git_tracks_by_now_is_looked_at_as_git_does(top: Path) -> None:
    auto_crlf_input(top)
    write(top, {"mine.txt": CRLF})
    ours = checkout(top)
    before = take_snapshot(ours)
    done = commit_paths(ours, ["mine.txt"], [], "m", person(top.parent), TimeLimits())
    assert done.is_ok
    assert take_snapshot(ours, before).tree == before.tree
    now = take_snapshot(ours)
    assert "mine.txt" not in now.untracked_modes
    kept = git(top, "rev-parse", "HEAD:mine.txt")
    assert git(top, "rev-parse", f"{now.tree}:mine.txt") == kept


def test_a_link_and_a_file_may_trade_places(top: Path) -> None:
    (top / "way").symlink_to("mine.txt")
    files = state(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    assert "way" in before.untracked_paths
    assert "way" not in before.untracked_modes
    for name in ("way", "mine.txt"):
        (top / name).unlink()
    write(top, {"way": "z"})
    (top / "mine.txt").symlink_to("way")
    assert restore_snapshot(ours, before, take_snapshot(ours, before)).failed_paths == ()
    assert state(top) == files


@pytest.mark.parametrize(
    "rights",
    [
        0o600,
        0o400,
        0o777,
        *(pytest.param(rights, marks=pytest.mark.thorough) for rights in (0o640, 0o700, 0o666)),
    ],
)
@pytest.mark.parametrize("agent", [deletes, rewrites], ids=lambda a: a.__name__)
def test_untracked_files_get_their_rights_back(
    top: Path, rights: int, agent: Callable[[Path], None]
) -> None:
    file = top / "mine.txt"
    file.chmod(rights)
    ours = checkout(top)
    before = take_snapshot(ours)
    file.chmod(0o644)
    agent(file)
    copy = Snapshot.from_json(before.to_json())
    assert restore_snapshot(ours, copy, take_snapshot(ours, copy)).failed_paths == ()
    assert stat.S_IMODE(file.stat().st_mode) == rights
    assert file.read_text() == "untracked\n"


def test_rights_alone_are_put_back_but_not_those_of_files_that_are_spared(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    for name in ("mine.txt", "own/mine.txt"):
        (top / name).chmod(0o666)
    restore_snapshot(ours, before, take_snapshot(ours, before), ["mine.txt"])
    assert stat.S_IMODE((top / "mine.txt").stat().st_mode) == 0o666
    assert (
        stat.S_IMODE((top / "own/mine.txt").stat().st_mode)
        == before.untracked_modes["own/mine.txt"]
    )


def test_a_snapshot_of_an_older_cub_is_read_as_it_was_written(top: Path) -> None:
    files = state(top)
    ours = checkout(top)
    value = take_snapshot(ours).to_json()
    del value["modes"]
    before = Snapshot.from_json(value)
    assert before.untracked_modes == {}
    write(top, {"mine.txt": "y"})
    assert restore_snapshot(ours, before, take_snapshot(ours, before)).failed_paths == ()
    assert state(top) == files


def test_only_what_did_not_change_for_a_while_is_not_read_again(top: Path) -> None:
    ours = checkout(top)
    found = store_blobs(ours, ["mine.txt"], {})["mine.txt"]
    assert found.oid == git(top, "hash-object", "mine.txt").strip()
    known = found._replace(oid="known", is_settled=True)
    assert store_blobs(ours, ["mine.txt"], {"mine.txt": known})["mine.txt"].oid == "known"
    for other in (
        known._replace(is_settled=False),
        *(
            known._replace(signature=known.signature._replace(**{name: 0}))
            for name in ("mtime_ns", "ctime_ns", "size", "inode", "device")
        ),
        known._replace(mode=0),
    ):
        assert store_blobs(ours, ["mine.txt"], {"mine.txt": other})["mine.txt"].oid == found.oid


def test_an_edit_within_a_moment_may_leave_the_times_as_they_are(top: Path) -> None:
    soon = time.time_ns() + 1_900_000_000
    os.utime(top / "mine.txt", ns=(soon, soon))
    assert not store_blobs(checkout(top), ["mine.txt"], {})["mine.txt"].is_settled


@pytest.mark.parametrize(
    ("rights", "mode"), [(0o755, "100755"), (0o700, "100755"), (0o644, "100644"), (0o654, "100644")]
)
def test_a_program_is_what_its_owner_may_execute(rights: int, mode: str) -> None:
    assert UntrackedBlob("", rights, StatSignature(0, 0, 0, 0, 0), is_settled=True).git_mode == mode


def test_what_a_killed_writer_left_is_removed_and_nothing_else(top: Path) -> None:
    left, before = ".mine.txt.cub-a1_b2c3d.tmp", ".mine.txt.cub-00000000.tmp"
    others = [".mine.txt.cub-mine.tmp", ".mine.txt.tmp", ".other.txt.cub-a1_b2c3d.tmp", before]
    write(top, dict.fromkeys([left, *others], "x"))
    ours = checkout(top)
    oid = store_blobs(ours, ["mine.txt"], {})["mine.txt"].oid
    write_blobs(ours, {"mine.txt": oid}, {"mine.txt": 0o640, before: 0o640})
    assert sorted(path.name for path in top.glob(".*.tmp")) == sorted(others)
    assert (top / "mine.txt").stat().st_mode & 0o777 == 0o640


def test_a_folder_with_the_name_of_a_temporary_file_stops_no_writer(top: Path) -> None:
    (top / ".mine.txt.cub-a1_b2c3d.tmp").mkdir()
    ours = checkout(top)
    oid = store_blobs(ours, ["mine.txt"], {})["mine.txt"].oid
    (top / "mine.txt").unlink()
    write_blobs(ours, {"mine.txt": oid}, {"mine.txt": 0o640})
    assert (top / "mine.txt").exists()


def test_what_git_lost_is_passed_over(top: Path) -> None:
    save(top)
    ours = checkout(top)
    oid = git(top, "rev-parse", "HEAD:a.txt").strip()
    write_blobs(ours, {"lost": "0" * 40, "b/c": oid}, {"lost": 0o600, "b/c": 0o600})
    assert not (top / "lost").exists()
    assert (top / "b/c").read_text() == "one\ntwo\n"
    assert [path.name for path in (top / "b").iterdir()] == ["c"]
