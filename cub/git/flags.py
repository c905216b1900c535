"""The files that an index tells git not to look at: skip-worktree and assume-unchanged."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from pathlib import Path

from cub.git.calling import call, joined, split
from cub.git.place import Place, kind

_HEADER = 12  # bytes before the first entry
_FLAGS = 60  # bytes of an entry before its flags, where objects have names of 20 bytes
_ASSUMED, _EXTENDED, _LENGTH = 0x8000, 0x4000, 0x0FFF
_SKIPPED = 0x4000  # of the extended flags


def flagged(place: Place, index: Path, environ: Mapping[str, str] | None) -> dict[str, bool]:
    """The paths that git does not look at, by whether none of them is even expected on disk.

    Of an index without them git is not asked.
    """
    try:
        data = index.read_bytes()
    except FileNotFoundError:
        return {}
    if not may_have_flags(data):
        return {}
    lines = split(call(place.top, "ls-files", "-v", "-z", environ=environ))
    return {line[2:]: line[0] == "S" for line in lines if line[0] == "S" or line[0].islower()}


def unflag(
    place: Place,
    flags: Mapping[str, bool],
    known: Collection[str],
    environ: Mapping[str, str] | None,
) -> dict[str, bool]:
    """Have git look at the files that are flagged but not known to be, and are on disk if they
    may be missing. Returns the flags that stay.
    """
    new = [path for path in flags if path not in known]
    new = [path for path in new if not flags[path] or kind(place.top, path)]
    if new:
        for option in ("--no-skip-worktree", "--no-assume-unchanged"):  # it takes one at a time
            words = ("update-index", option, "-z", "--stdin")
            call(place.top, *words, stdin=joined(new), environ=environ)
    return {path: may_miss for path, may_miss in flags.items() if path not in set(new)}


def may_have_flags(data: bytes) -> bool:
    """Whether an index has flags, or is not understood here."""
    try:
        return _has_flags(data)
    except (struct.error, ValueError, IndexError):
        return True


def _has_flags(data: bytes) -> bool:
    mark, version, count = struct.unpack_from(">4sII", data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        return True
    at = _HEADER
    for _ in range(count):
        start, at = at, at + _FLAGS + 2
        flags = data[at - 2] << 8 | data[at - 1]
        if flags & _ASSUMED:
            return True
        if flags & _EXTENDED:
            if (data[at] << 8 | data[at + 1]) & _SKIPPED:
                return True
            at += 2
        if version == 4:  # how much of the last name to drop comes before the name
            while data[at] & 0x80:
                at += 1
            at = data.index(0, at + 1) + 1
            continue
        end = data.index(0, at)
        if min(end - at, _LENGTH) != flags & _LENGTH:  # names of objects have another length
            return True
        at = end + 8 - (end - start) % 8
    return b"link" in data[at:]  # an index that goes on in another file
