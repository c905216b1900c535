"""Files that git has and this checkout has not: left out of it, or locked by a filter."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError

_POINTER = 1024  # bytes; the pointers of git-lfs and git-annex are shorter
_CRYPT, _LFS = b"\0GITCRYPT\0", b"version https://git-lfs.github.com/spec/"
_ANNEX = (b"/annex/objects/", b"../.git/annex/objects/", b".git/annex/objects/")


class Missing(NamedTuple):
    """A file that the index has as `entry` and the disk has not.

    `why` git keeps it out of this checkout; "" where somebody deleted it. `hint` brings it back.
    """

    path: str
    entry: str
    why: str
    hint: str

    @property
    def is_withheld(self) -> bool:
        """Whether git neither expects it on disk nor says that it is gone."""
        return bool(self.why)

    def error(self) -> CubError:
        """Refuses to go on as if there were no such file."""
        return CubError(
            f"git has this file, and keeps it out of this checkout ({self.why})",
            where=self.path,
            hint=self.hint,
            details=[f"its entry in the index: {self.entry}"],
        )


def require_unlocked_file(real: Path, path: str) -> None:
    """The same for a file whose bytes are not read for it; `path` is its name for messages."""
    with real.open("rb") as file:
        require_unlocked(file.read(_POINTER + 1), path)


def require_unlocked(data: bytes, path: str) -> None:
    """Refuse what stands in place of a file's text as long as a filter of git's keeps that back."""
    if data.startswith(_CRYPT):
        what, hint = "encrypted by git-crypt, and locked here", "`git-crypt unlock` gives its text"
    elif len(data) <= _POINTER and data.startswith(_LFS):
        what, hint = "a pointer of Git LFS, not the file itself", "`git lfs pull` gives its text"
    elif len(data) <= _POINTER and data.startswith(_ANNEX):
        what, hint = "a pointer of git-annex, not the file itself", "`git annex get` gives its text"
    else:
        return
    raise CubError(f"this is {what}", where=path, hint=f"{hint}; then run the command again")
