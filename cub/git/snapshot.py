"""What a checkout held at a moment, as a value that outlives the process which looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cub.errors import CubError


@dataclass(frozen=True, slots=True)
class Snapshot:
    """HEAD and all files of a work tree but those that git ignores or that stay apart.

    `head` is a commit ("" if unborn), `branch` a full name ("" if detached), `tree` an oid,
    `untracked` the paths that neither HEAD nor the index knew, `inner` the submodules with
    files by path, `begun` the files of git's that tell of a merge, rebase and the like, `absent`
    the paths that git tracked though there was no file, `unmerged` those with a conflict. The
    last ones are of the moment alone, and are not written down.
    """

    head: str
    branch: str
    tree: str
    untracked: tuple[str, ...] = ()
    inner: Mapping[str, Snapshot] = field(default_factory=dict)
    begun: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unmerged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A value for json.dumps; bytes that are no UTF-8 are escaped by it."""
        return {
            "head": self.head,
            "branch": self.branch,
            "tree": self.tree,
            "untracked": list(self.untracked),
            "inner": {path: inner.to_json() for path, inner in self.inner.items()},
            "begun": list(self.begun),
            "absent": list(self.absent),
        }

    @staticmethod
    def from_json(value: Any) -> Snapshot:
        """What to_json gave. Raises CubError for anything else."""
        try:
            return _read(value)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise CubError("this is no snapshot of a checkout") from None


class FileChange(NamedTuple):
    """A path that differs: added, modified or deleted; whether it was untracked before."""

    path: str
    kind: Literal["A", "M", "D"]
    submodule: bool = False
    untracked: bool = False


def _read(value: Any) -> Snapshot:
    return Snapshot(
        _word(value["head"]),
        _word(value["branch"]),
        _word(value["tree"]),
        tuple(map(_word, value["untracked"])),
        {_word(path): _read(inner) for path, inner in value["inner"].items()},
        tuple(map(_word, value["begun"])),
        tuple(map(_word, value["absent"])),
    )


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
