"""What `git status` tells, in its format for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from cub.git.calling import ask, failure, split, text
from cub.git.place import Place

_UNREADABLE = re.compile("^warning: could not open directory '(.+?)/?': ", re.MULTILINE)


class Status(NamedTuple):
    """HEAD, and the paths that differ between it, an index and the work tree.

    `differing` maps paths whose file is not what the index says to whether they are
    submodules; `staged` have an index that is not what HEAD says, `removed` are the paths that
    only HEAD knows, `unknown` are untracked ones (nested repositories with a "/" at the end),
    `unreadable` are folders of which nobody knows what is in them, `ignored` what git ignores, if
    it was asked for that; folders have a "/" at their end.
    """

    head: str
    branch: str
    differing: Mapping[str, bool]
    staged: tuple[str, ...]
    removed: frozenset[str]
    unknown: tuple[str, ...]
    unmerged: tuple[str, ...]
    unreadable: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def status(place: Place, *options: str, environ: Mapping[str, str] | None = None) -> Status:
    """Ask git; what is apart does not show."""
    words = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--no-ahead-behind")
    answer = ask(place.top, *words, *options, *place.pathspecs, environ=environ)
    if answer.code:
        raise failure("status", answer)
    folders = tuple(_UNREADABLE.findall(text(answer.err)))
    return _read([line for line in split(answer.out) if line])._replace(unreadable=folders)


def _read(lines: list[str]) -> Status:
    head = branch = ""
    differing, staged, unknown, unmerged = dict[str, bool](), list[str](), list[str](), list[str]()
    removed, ignored = set[str](), list[str]()
    for line in lines:
        match line.split(" ", 1)[0]:
            case "#":
                _, name, value = line.split(" ", 2)
                head = value if name == "branch.oid" else head
                branch = value if name == "branch.head" else branch
            case "1":
                _, both, submodule, *_, path = line.split(" ", 8)
                if both[1] != ".":
                    differing[path] = submodule.startswith("S")
                if both[0] != ".":
                    staged.append(path)
                if both[0] == "D":
                    removed.add(path)
            case "u":
                *_, path = line.split(" ", 10)
                differing[path] = line.split(" ", 3)[2].startswith("S")
                unmerged.append(path)
            case "?":
                unknown.append(line[2:])
            case "!":
                ignored.append(line[2:])
    return Status(
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else f"refs/heads/{branch}",
        differing,
        tuple(staged),
        frozenset(removed),
        tuple(unknown),
        tuple(unmerged),
        ignored=tuple(ignored),
    )
