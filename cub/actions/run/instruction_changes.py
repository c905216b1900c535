"""Find what an attempt changed in the instruction files and in `.cub/`, and judge that.

These files are the person's. A change is named, so that a reviewer sees it. Without them, or with
another text in cub's section, the next agent works by other rules: such an attempt fails, unless
its task names the file.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cub.actions.run import failures
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.task_text import mentions_path
from cub.actions.run.verdict import Verdict
from cub.edit.document import Document
from cub.edit.sections import find_section_or_none, list_section_lines
from cub.errors import CubError
from cub.git.objects import LINK_MODE, ObjectReader
from cub.git.process import decode_output
from cub.place.changes import FileChange, open_objects
from cub.place.checkout import TreeGit
from cub.project.rule_locations import is_instruction_file
from cub.project.targets import find_target
from cub.store.jsonl import Record

_CUB_FOLDER = ".cub/"
_MAX_NAMED = 3
_LINK = re.compile(rb"\x00%o blob ([0-9a-f]+)\t([^\0]+)" % LINK_MODE)  # of `git ls-tree -z`


class InstructionChange(NamedTuple):
    """Describe a changed file; `is_forbidden` if only a task that names it may change it so."""

    path: str
    description: str
    is_forbidden: bool = False


def find_instruction_changes(attempt: AttemptResult) -> list[InstructionChange]:
    """Return what the attempt has changed in instruction files, and in `.cub/`."""
    git, changes = attempt.spec.place.tree, attempt.changes
    linked = _list_linked_paths(git, attempt.base.tree) if changes else frozenset()
    relevant = [one for one in changes if _is_relevant(one.path) or one.path in linked]
    if not relevant:
        return []
    with open_objects(git) as objects:
        return [_describe_change(one, attempt.tree, objects) for one in relevant]


def describe_instruction_changes(changes: Sequence[InstructionChange]) -> Iterator[str]:
    """Yield a message for each of the first changes, those first that are forbidden."""
    ordered = sorted(changes, key=lambda change: not change.is_forbidden)
    yield from (change.description for change in ordered[:_MAX_NAMED])
    if more := ordered[_MAX_NAMED:]:
        yield f"{len(more)} more instruction files were changed"


def judge_instruction_changes(changes: Iterable[InstructionChange], task: Record) -> Verdict | None:
    """Return the verdict on an attempt with a forbidden change; None if there is none."""
    for change in changes:
        if change.is_forbidden and not mentions_path(task, change.path):
            reason = f"{change.description}, and the task does not name the file"
            return Verdict(failures.INSTRUCTIONS_CHANGED, reason)
    return None


def _is_relevant(path: str) -> bool:
    return is_instruction_file(path) or _is_of_cub(path)


def _is_of_cub(path: str) -> bool:
    return f"/{_CUB_FOLDER}" in f"/{path}"


@lru_cache(maxsize=8)  # an attempt at work in each of the places
def _list_linked_paths(git: TreeGit, tree: str) -> frozenset[str]:
    """Return the paths to which those instruction files of a tree lead that are links."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", tree)
    found = ((decode_output(path), oid.decode()) for oid, path in _LINK.findall(b"\0" + listed))
    links = {path: oid for path, oid in found if is_instruction_file(path)}
    if not links:
        return frozenset()
    with open_objects(git) as objects:
        targets = {path: os.fsdecode(objects.read_blob(oid)) for path, oid in links.items()}
    return frozenset(
        posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        for path, target in targets.items()
    )


def _describe_change(entry: FileChange, tree: str, objects: ObjectReader) -> InstructionChange:
    path = entry.path
    name = f"cub's file {path}" if _is_of_cub(path) else f"the instruction file {path}"
    if entry.kind == "A":
        return InstructionChange(path, f"{name} is new")
    if entry.kind == "D":
        is_forbidden = not _is_of_deleted_folder(path, tree, objects)
        return InstructionChange(path, f"{name} was deleted", is_forbidden)
    if stat.S_IFMT(entry.old_mode) != stat.S_IFMT(entry.new_mode):
        other = "a link" if entry.new_mode == LINK_MODE else "something else"
        return InstructionChange(path, f"{name} was replaced with {other}", is_forbidden=True)
    if _has_foreign_section(entry, tree, objects):
        what = f"cub's section in {path} was changed"
        return InstructionChange(path, what, is_forbidden=True)
    return InstructionChange(path, f"{name} was changed")


def _is_of_deleted_folder(path: str, tree: str, objects: ObjectReader) -> bool:
    """Return whether a folder has gone with all that its own instruction file is about."""
    folder = posixpath.dirname(path)
    target = find_target(path)
    is_own = folder != "" and target is not None and target.can_be_nested
    is_hidden = posixpath.basename(folder).startswith(".")
    return is_own and not is_hidden and objects.find_object(f"{tree}:{folder}") is None


def _has_foreign_section(entry: FileChange, tree: str, objects: ObjectReader) -> bool:
    """Return whether cub's section is another one now, and not one that cub wrote."""
    old, new = objects.find_object(entry.oid), objects.find_object(f"{tree}:{entry.path}")
    lines = list_section_lines(old.data) if old else ()
    if not lines or new is None or lines == list_section_lines(new.data):
        return False
    try:
        section = find_section_or_none(Document.parse(new.data))
    except CubError:
        return True
    return section is None or section.author != "cub"
