"""What a checkout held at a moment, as a value that outlives the process which looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cub.errors import CubError
from cub.git.rights import Rights


class Refs(NamedTuple):
    """The objects that refs name, and the log of the stash, which is all of it but the newest."""

    names: Mapping[str, str]
    stash: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """HEAD and all files of a work tree but those that git ignores or that stay apart.

    `head` is a commit ("" if unborn), `branch` a full name ("" if detached), `tree` an oid,
    `untracked` the paths that neither HEAD nor the index knew, `inner` the submodules with
    files by path, `begun` the files of git's that tell of a merge, rebase and the like, `absent`
    the paths that git tracked though there was no file, `modes` the rights of the untracked files,
    which the tree holds byte for byte, `flagged` the paths that git is told not to look at (None
    if nobody noted them), `rights` those of what the tree holds, `refs` the branches, tags and the
    like (both None after an attempt), `unmerged` the paths with a conflict, `ignored` what git
    ignores (nothing after an attempt; folders with a "/" at their end), `oversized` those of
    files that are too large to be read, and not in the tree. The last two are of the moment alone,
    and are not written down.
    """

    head: str
    branch: str
    tree: str
    untracked: tuple[str, ...] = ()
    inner: Mapping[str, Snapshot] = field(default_factory=dict)
    begun: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    modes: Mapping[str, int] = field(default_factory=dict)
    flagged: tuple[str, ...] | None = None
    rights: Rights | None = None
    refs: Refs | None = None
    ignored: tuple[str, ...] = field(default=(), compare=False)
    unmerged: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()

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
            "modes": dict(self.modes),
            "flagged": None if self.flagged is None else list(self.flagged),
            "rights": None if self.rights is None else list(self.rights),
            "refs": None if self.refs is None else list(self.refs),
            "ignored": list(self.ignored),
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
        {_word(path): _number(mode) for path, mode in value.get("modes", {}).items()},
        None if value.get("flagged") is None else tuple(map(_word, value["flagged"])),
        None if value.get("rights") is None else _rights(*value["rights"]),
        None if value.get("refs") is None else _refs(*value["refs"]),
        tuple(map(_word, value.get("ignored", ()))),
    )


def _refs(names: Any, stash: Any) -> Refs:
    return Refs({_word(name): _word(oid) for name, oid in names.items()}, _word(stash))


def _rights(file: Any, program: Any, folder: Any, others: Any) -> Rights:
    usual = [None if mode is None else _number(mode) for mode in (file, program, folder)]
    odd = {_word(path): _number(mode) for path, mode in others.items()}
    return Rights(usual[0], usual[1], usual[2], odd)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value
