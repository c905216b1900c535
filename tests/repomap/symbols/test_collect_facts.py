"""The facts of all files: what is read again, what is not, and what is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.files.internal_files import CacheWrite
from cub.repomap.listing.file_listing import ListedFile, list_files
from cub.repomap.symbols.collect_facts import FactsCache
from cub.repomap.symbols.file_facts import FileFacts, ScanJob
from tests.repomap.archives import write
from tests.repomap.maps import collect

Facts = dict[str, FileFacts]


def names(facts: Facts) -> dict[str, list[str]]:
    return {path: [one.name for one in found.definitions] for path, found in facts.items()}


def look(root: Path, cache: Path, *, version: str = "v", parsed: bool = True) -> Facts:
    jobs = [ScanJob(f, "python", parsed) for f in list_files(root).files]
    return collect(root, jobs, FactsCache(cache, version))


def pretend(path: Path, text: str) -> None:
    """Other bytes in the same state: whoever does not read the file again sees the old ones."""
    before = path.stat()
    assert len(text) == before.st_size
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(3):
        write(tmp_path / f"project/f{number}.py", b"def one(): ...\n")
    return tmp_path / "project"


def test_how_much_there_is_to_read_is_told_before_it_is_read(root: Path, tmp_path: Path) -> None:
    calls = list[tuple[int, int, str]]()
    jobs = [ScanJob(f, "python", needs_parsing=True) for f in list_files(root).files]
    collect(root, jobs, FactsCache(tmp_path / "cache", "v"), lambda *c: calls.append(c))
    done, total, _ = calls[0]
    assert (done, total > 3 * len("def one(): ...\n")) == (0, True)
    assert calls[-1][:2] == (total, total)


def test_a_file_in_the_same_state_is_not_read_again(root: Path, tmp_path: Path) -> None:
    first = look(root, tmp_path / "cache")
    pretend(root / "f1.py", "def two(): ...\n")
    assert look(root, tmp_path / "cache") == first
    assert names(look(root, tmp_path / "other"))["f1.py"] == ["two"]


def replaced(path: Path, data: bytes) -> None:
    write(path.with_name("new"), data)
    path.with_name("new").replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "time": lambda path: write(path, b"def two(): ...\n", 1_000_000_001),
    "size": lambda path: write(path, b"def two(a): ...\n"),
    "inode": lambda path: replaced(path, b"def two(): ...\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_in_another_state_is_read_again(root: Path, tmp_path: Path, change: str) -> None:
    look(root, tmp_path / "cache")
    CHANGES[change](root / "f1.py")
    assert names(look(root, tmp_path / "cache")) == {
        "f0.py": ["one"],
        "f1.py": ["two"],
        "f2.py": ["one"],
    }


def test_another_job_or_version_reads_all_again(root: Path, tmp_path: Path) -> None:
    look(root, tmp_path / "cache")
    pretend(root / "f1.py", "def two(): ...\n")
    assert names(look(root, tmp_path / "cache", parsed=False))["f1.py"] == []
    assert names(look(root, tmp_path / "cache"))["f1.py"] == ["two"]
    pretend(root / "f1.py", "def six(): ...\n")
    assert names(look(root, tmp_path / "cache", version="w"))["f1.py"] == ["six"]


def test_a_deleted_file_vanishes_from_the_cache(root: Path, tmp_path: Path) -> None:
    look(root, tmp_path / "cache")
    (root / "f1.py").unlink()
    assert list(look(root, tmp_path / "cache")) == ["f0.py", "f2.py"]
    assert b"f1.py" not in (tmp_path / "cache").read_bytes()


def test_where_nothing_changed_nothing_is_written(root: Path, tmp_path: Path) -> None:
    look(root, tmp_path / "cache")
    before = (tmp_path / "cache").stat()
    look(root, tmp_path / "cache")
    assert (tmp_path / "cache").stat() == before


def test_few_changes_in_a_large_project_are_not_worth_a_write(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for number in range(250):
        write(root / f"f{number}.py", b"def one(): ...\n")
    look(root, tmp_path / "cache")
    before = (tmp_path / "cache").stat()
    write(root / "f1.py", b"def two(a): ...\n")
    assert names(look(root, tmp_path / "cache"))["f1.py"] == ["two"]
    assert (tmp_path / "cache").stat() == before
    for number in range(30):
        write(root / f"f{number}.py", b"def three(): ...\n")
    look(root, tmp_path / "cache")
    assert (tmp_path / "cache").stat() != before


def test_a_file_that_has_just_changed_is_not_trusted(root: Path, tmp_path: Path) -> None:
    ahead = (time.time_ns() + 10**12,) * 2
    os.utime(root / "f1.py", ns=ahead)
    look(root, tmp_path / "cache")
    pretend(root / "f1.py", "def two(): ...\n")
    assert names(look(root, tmp_path / "cache"))["f1.py"] == ["two"]
    assert b"f1.py" not in (tmp_path / "cache").read_bytes()
    assert b"f2.py" in (tmp_path / "cache").read_bytes()


def test_a_write_is_left_to_whom_it_is_given(root: Path, tmp_path: Path) -> None:
    writes: list[CacheWrite] = []
    jobs = [ScanJob(f, "python", True) for f in list_files(root).files]
    cache = FactsCache(tmp_path / "cache", "v", writes.append)
    collect(root, jobs, cache)
    assert not (tmp_path / "cache").exists()
    (write_it,) = writes
    write_it()
    assert (tmp_path / "cache").exists()


def test_where_nothing_is_wanted_nothing_is_looked_for(tmp_path: Path) -> None:
    cache = FactsCache(tmp_path / "cache", "v")
    assert collect(tmp_path, [], cache) == {}
    assert not (tmp_path / "cache").exists()


def test_facts_come_in_the_order_of_the_files(root: Path, tmp_path: Path) -> None:
    jobs = [ScanJob(f, "python", True) for f in reversed(list_files(root).files)]
    cache = FactsCache(tmp_path / "cache", "v")
    for _ in range(2):
        found = collect(root, jobs, cache)
        assert list(found) == ["f2.py", "f1.py", "f0.py"]


def test_the_bytes_that_are_done_are_told(root: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    jobs = [ScanJob(f, "python", True) for f in list_files(root).files]
    jobs.append(ScanJob(ListedFile("gone.py", 400_000, 0, 0), "python", True))
    cache = FactsCache(tmp_path / "cache", "v")
    collect(root, jobs, cache, lambda done, total, _: told.append((done, total)))
    assert told[-1] == (404_045, 404_045)  # a file costs 1,000 bytes more
    told.clear()
    collect(root, jobs[:3], cache, lambda done, total, _: told.append((done, total)))
    assert told == []
