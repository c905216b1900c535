"""Makes what is measured: the tree of a repository with an index, and what its history says."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.map.kinds import kind
from tests.benchmarks.map.repositories import SDISTS, Repository, download
from tests.benchmarks.map.touched import base_of, git, later

_LARGE = 2_000_000


class Prepared(NamedTuple):
    """A tree to make maps of, and the names that each later commit touches."""

    root: Path
    touched: list[list[str]]


def prepared(name: str, there: dict[str, Repository], scratch: Path) -> Prepared | None:
    """From a history, a folder or a source distribution: whichever there is."""
    root = scratch / name
    if name not in there:
        found = download(name, scratch) if name in SDISTS else None
        return None if found is None else _copied(found, root)
    place = there[name].place
    if not there[name].history:
        return _copied(place, root)
    base = base_of(place)
    check_out(place, base, root)
    return Prepared(root, later(place, base))


def _copied(folder: Path, root: Path) -> Prepared:
    shutil.copytree(folder, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cub"))
    track(root)
    return Prepared(root, [])


def check_out(repository: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit into a new folder; those that the snapshot lacks are left out."""
    for path, data in _files(repository, commit):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    track(folder)


def track(folder: Path) -> None:
    """Put every file of a folder into a new index."""
    git(folder, "init", "-q")
    git(folder, "add", "--all", "--force")


def texts(folder: Path) -> dict[str, str]:
    """The text of every tracked file that matters to a measure."""
    found = {}
    for path in git(folder, "ls-files", "-z").split("\0")[:-1]:
        file = folder / path
        if kind(path) == "other" or file.is_symlink() or not file.is_file():
            continue
        if file.stat().st_size <= _LARGE:
            data = file.read_bytes().decode("utf-8", "replace")
            found[path] = data.replace("\r\n", "\n")
    return found


def _files(repository: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    entries = (one.split("\t", 1) for one in git(repository, "ls-tree", "-rz", commit).split("\0"))
    blobs = [(path[0], words.split()[2]) for words, *path in entries if words.startswith("100")]
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), "cat-file", "--batch"]
    asked = "".join(f"{oid}\n" for _, oid in blobs).encode()
    answer = subprocess.run(command, input=asked, capture_output=True, check=True).stdout
    place = 0
    for path, _ in blobs:
        end = answer.index(b"\n", place)
        words = answer[place:end].split()
        place = end + 1
        if len(words) == 3:  # id, type and size; two words say that the object is missing
            size = int(words[2])
            yield path, answer[place : place + size]
            place += size + 1
