"""The changes of a review to what runs, or tells an agent what to run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cub.actions.review.commits import Commits
from cub.actions.review.differences import difference, mode_lines
from cub.errors import CubError
from cub.git import Change
from cub.project.config import CONFIG
from cub.project.executes import commands, kind_of


@dataclass(frozen=True, slots=True)
class Executed:
    """A change to something that runs: a key of config.yaml, or a file."""

    kind: str
    path: str
    diff: tuple[str, ...]


def changed_commands(commits: Commits, path: str) -> Iterator[Executed]:
    """What a configuration has run, key by key; the whole change where it can't be read."""
    before, after = commits.read(path)
    try:
        old, new = (commands(data, path) for data in (before, after))
    except CubError as error:
        if before != after:
            yield Executed("command", path, (str(error), *difference(path, before, after)))
        return
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            lines = [f"-{key}: {old[key]}"] if key in old else []
            lines += [f"+{key}: {new[key]}"] if key in new else []
            yield Executed("command", path, tuple(lines))


def executed_by(path: str, commits: Commits, change: Change) -> Iterator[Executed]:
    """The change of one file, where it is one that counts; the root's configuration is apart."""
    if path.endswith(f"/{CONFIG}"):
        yield from changed_commands(commits, path)
        return
    kind = kind_of(path)
    if not kind and any(entry and entry.is_elsewhere for entry in change):
        kind = kind_of(f"{path}/")
    if kind:
        lines = (*mode_lines(change), *difference(path, *commits.data(change)))
        yield Executed(kind, path, lines or ("an empty file",))
