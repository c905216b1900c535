"""A folder without git, as the ground of attempts: changes are seen, and can't be taken back."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from cub.actions.run.ground import PutBack, Saved, read_whole
from cub.git.committing import Announce
from cub.git.snapshot import FileChange
from cub.processes.command import Limits

_SKIPPED = frozenset(
    (".cub", "node_modules", "__pycache__", ".venv", "venv", ".pytest_cache", ".mypy_cache",
     ".ruff_cache", ".hypothesis", ".tox")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Listing:
    """Files with their size and the time of their last change; there is no content of them."""

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    head: str = ""
    unmerged: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()

    @property
    def tree(self) -> str:
        """A name for all of it."""
        return blake2b(repr(sorted(self.files.items())).encode(), digest_size=20).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Nothing that anything could be put back from."""
        return {}


@dataclass(frozen=True, slots=True)
class PlainGround:
    """See `cub.actions.run.ground.Ground`."""

    folder: Path

    @property
    def top(self) -> Path:
        """See `Ground`."""
        return self.folder

    def snapshot(self, since: Listing | None = None) -> Listing:  # noqa: ARG002
        """See `Ground`."""
        return Listing(dict(_files(self.folder)))

    def changes(self, before: Listing, after: Listing) -> list[FileChange]:
        """See `Ground`."""
        then, now = before.files, after.files
        kinds: dict[str, Literal["A", "M", "D"]]
        kinds = {path: "A" if path not in then else "M" for path in now}
        kinds |= {path: "D" for path in then if path not in now}
        different = sorted(path for path in kinds if then.get(path) != now.get(path))
        return [FileChange(path, kinds[path], False, False) for path in different]

    def read(self, path: str, most: int) -> bytes:
        """See `Ground`."""
        return read_whole(self.folder, path, most)

    def read_before(self, before: Listing, path: str) -> bytes:
        """See `Ground`."""
        del before
        return self.read(path, 1 << 20)

    def told(self, before: Listing, after: Listing) -> dict[str, Any]:
        """See `Ground`."""
        return {"files": [change.path for change in self.changes(before, after)]}

    def patch(self, before: Listing, after: Listing, into: Path) -> bool:  # noqa: ARG002
        """See `Ground`: there is nothing to compare with."""
        return False

    def keep(self, before: Listing, ignored: int) -> list[str]:  # noqa: ARG002
        """See `Ground`."""
        return []

    def repair_repository(self, aside: Path) -> str:  # noqa: ARG002
        """See `Ground`."""
        return ""

    def settings(self) -> None:
        """See `Ground`."""

    def restore_settings(self, before: None, aside: Path) -> list[str]:  # noqa: ARG002
        """See `Ground`."""
        return []

    def remove_stale_locks(self, since: float) -> None:
        """See `Ground`."""

    def restore_persons(
        self, before: Listing, aside: Path, spared: Collection[str] = (), *, rights: bool = False
    ) -> PutBack:
        """See `Ground`: nobody knows what the files were."""
        del before, aside, spared, rights
        return PutBack()

    def make_room(self, before: Listing) -> list[str]:
        """See `Ground`."""
        del before
        return []

    def unstage(self) -> None:
        """See `Ground`."""

    def moved(self, before: Listing, after: Listing) -> str:  # noqa: ARG002
        """See `Ground`."""
        return ""

    def settle(self, before: Listing) -> list[str]:  # noqa: ARG002
        """See `Ground`."""
        return []

    def unreachable(self, before: Listing, after: Listing) -> list[str]:  # noqa: ARG002
        """See `Ground`."""
        return []

    def restore(self, before: Listing, now: Listing, spared: Collection[str] = ()) -> list[str]:
        """See `Ground`."""
        del spared
        left = len(self.changes(before, now))
        what = "1 changed file stays" if left == 1 else f"{left} changed files stay"
        return [f"{what} as the attempt left it: there is no git here"] if left else []

    def head(self, before: Listing, after: Listing) -> str:  # noqa: ARG002
        """See `Ground`."""
        return ""

    def commit(
        self,
        before: Listing,
        after: Listing,
        message: str,
        limits: Limits,
        announce: Announce | None = None,
    ) -> Saved:
        """See `Ground`."""
        del before, after, message, limits, announce
        return Saved()

    def commit_stores(self, message: str, limits: Limits) -> Saved:
        """See `Ground`."""
        del message, limits
        return Saved()


def _files(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for folder, inner, names in os.walk(root):
        below = Path(folder).relative_to(root).as_posix()
        inner[:] = [name for name in inner if name not in _SKIPPED]
        for name in names:
            try:
                status = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            yield f"{below}/{name}".removeprefix("./"), (status.st_size, status.st_mtime_ns)
