"""Look at the new files of an attempt: secrets, likely leftovers, and what git ignores.

A file that looks like a secret moves to the attempt's folder before the checks run: so they judge
the tree that is committed. Work that a commit would lack, because the attempt made git ignore it,
is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cub.actions.run import failures
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.run_folders import LEFT_OUT_FOLDER, AttemptFolder
from cub.actions.run.verdict import Verdict
from cub.files.read_files import read_prefix
from cub.git.process import join_nul, split_nul
from cub.git.tool_artifacts import (
    TRANSIENT_PATTERNS,
    is_often_written,
    is_rebuildable,
    matches_any,
)
from cub.git.worktree import get_file_type
from cub.masking.secret_files import holds_certain_secret, is_credentials_file
from cub.place.changes import FileChange, list_tree_files, open_objects
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.place.tree import TreeState
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.text import join_first

_MAX_SECRET_FILE = 1 << 20  # bytes that are searched
_LARGE = 1 << 20  # bytes
_BINARY_PREFIX = 8000  # bytes, in which git looks for a NUL, too
_PROSE = (".md", ".mdx", ".rst", ".adoc")  # they show keys, and hold none
_HIDDEN_FOLDER = re.compile(r"(?:^|(?<=/))\.")
_LEFTOVERS = (
    "*.log", "nohup.out", "debug.txt", "debug.out", "*.orig", "*.rej", "*.bak", "*~", "*.tmp",
    "*.swp", "core", "core.[0-9]*", "*.dmp",
)  # fmt: skip
_RULE_FILE = ".gitignore"
_LEFTOVER_FOLDERS = ("tmp", "temp", ".tmp", "scratch")
# Failures that may come of a file that was left out.
_EXPLAINED = (
    failures.CHECKS_FAILED, failures.NO_CHANGES, failures.NOT_MENDED, failures.UNVERIFIED,
)  # fmt: skip


def take_out_secrets(
    place: Place, files: AttemptFolder, changes: Iterable[FileChange]
) -> list[str]:
    """Copy new files that look like secrets to the attempt's folder; return their paths."""
    paths = [
        path
        for path in _iter_new_files(place.folder.tree, changes)
        if looks_like_secret(path, place.read_file(path, _MAX_SECRET_FILE))
    ]
    folder = files.prepare_path(LEFT_OUT_FOLDER) if paths else files.path
    for path in paths:
        _move(place.folder.tree / path, folder / path)
    return paths


def describe_left_out_files(files: AttemptFolder) -> Iterator[str]:
    """Yield a message if the attempt's folder still has files that were left out."""
    folder = files.path / LEFT_OUT_FOLDER
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    if names := [file.relative_to(folder).as_posix() for file in found]:
        yield f"{join_first(names)}: kept in {files.name}/{LEFT_OUT_FOLDER}/"


def list_commit_secrets(place: Place, base: Base, head: str) -> list[str]:
    """List new files that look like secrets in the commits that the agent has made.

    That includes files that a later commit deletes.
    """
    git = place.tree
    old = list_tree_files(git, base.tree)
    listed = git.run("rev-list", "--objects", head, f"^{base.commit}").decode("utf-8", "replace")
    pairs = [line.partition(" ")[::2] for line in listed.splitlines()]
    found = dict[str, None]()
    with open_objects(git) as objects:
        for oid, path in pairs:
            blob = objects.find_object(oid) if path and path not in old else None
            if blob and blob.kind == "blob" and looks_like_secret(path, blob.data):
                found[path] = None
    return list(found)


def describe_secrets(paths: Sequence[str]) -> str:
    """Say which files look like secrets and are left out."""
    looks, are = ("looks like a secret", "is") if len(paths) == 1 else ("look like secrets", "are")
    return f"{join_first(paths)} {looks} and {are} left out of the commit"


def explain_left_out(verdict: Verdict, paths: Sequence[str]) -> Verdict:
    """Return the verdict with the files that were left out in its reason, if they may be why."""
    if not paths or verdict.failure not in _EXPLAINED:
        return verdict
    reason = ": ".join(filter(None, [describe_secrets(paths), verdict.reason]))
    return verdict._replace(reason=reason)


def describe_leftovers(toplevel: Path, changes: Iterable[FileChange]) -> Iterator[str]:
    """Yield a message that names large binaries, logs and files in scratch folders among new files.

    They are committed: only a person knows whether they belong there.
    """
    large, folders, others = list[str](), Counter[str](), list[str]()
    for path in _iter_new_files(toplevel, changes):
        *parents, name = path.split("/")
        if size := _measure_binary(toplevel, path):
            large.append(f"{path}, {size / _LARGE:.0f} MB")
        elif at := next((n for n, part in enumerate(parents, 1) if part in _LEFTOVER_FOLDERS), 0):
            folders["/".join(parents[:at])] += 1
        elif matches_any(name, _LEFTOVERS):
            others.append(path)
    counts = [f"{path}/, {n} file{'s' if n > 1 else ''}" for path, n in folders.items()]
    if names := [*large, *counts, *others]:
        yield "new: " + join_first(names, separator="; ")


def describe_ignored_files(ignored_paths: Sequence[str]) -> Iterator[str]:
    """Say which files the commit lacks, as git ignores them."""
    if new := list(_iter_work(ignored_paths)):
        yield f"{join_first(new)}: new, and ignored by git, so not part of the commit"


def find_hidden_work(attempt: AttemptResult, state: TreeState) -> str:
    """Return the first new file that no commit will have through the attempt's doing; or "".

    That is a file that git ignores by a rule of the attempt's, or a repository of its own in the
    midst of the project.
    """
    if state.repositories:
        return state.repositories[0]
    rules = [one for one in attempt.changes if one.path.rpartition("/")[2] == _RULE_FILE]
    names = [path for path in _iter_work(state.ignored_paths) if not _is_dot_file(path)]
    if not rules or not names:
        return ""
    place = attempt.spec.place
    place.check_out(attempt.base.tree)  # with the rules of before
    words = ("check-ignore", "-z", "--no-index", "--stdin")
    ignored = set(split_nul(place.checks.query(*words, stdin=join_nul(names))))
    return next((path for path in names if path not in ignored), "")


def _is_dot_file(path: str) -> bool:
    return path.rstrip("/").rpartition("/")[2].startswith(".")


def _iter_work(ignored_paths: Sequence[str]) -> Iterator[str]:
    """Yield the ignored paths, except those that tools write."""
    for path in ignored_paths:
        *folders, name = path.rstrip("/").split("/")
        is_left_by_tool = matches_any(name, TRANSIENT_PATTERNS) or is_often_written(path)
        if not is_left_by_tool and not any(map(is_rebuildable, (*folders, name))):
            yield path


def _iter_new_files(toplevel: Path, changes: Iterable[FileChange]) -> Iterator[str]:
    for change in changes:
        if change.kind == "A" and get_file_type(toplevel, change.path) == stat.S_IFREG:
            yield change.path


def looks_like_secret(path: str, data: bytes) -> bool:
    """Return whether a file is one of secrets; tests, documentation and foreign code show some."""
    if not data or len(data) > _MAX_SECRET_FILE or b"\0" in data:
        return False
    visible = _HIDDEN_FOLDER.sub("", path)  # a hidden folder says nothing about what is in it
    classifier = FileClassifier([visible])
    kinds = {classifier.classify(visible), classifier.classify_folder_of(visible)}
    text = data.decode("utf-8", "replace")
    is_own = kinds <= {FileKind.SOURCE, FileKind.DOCS}
    if is_own and is_credentials_file(path.rpartition("/")[2], text):
        return True
    is_source = kinds == {FileKind.SOURCE} and not path.endswith(_PROSE)
    return is_source and holds_certain_secret(text)


def _measure_binary(toplevel: Path, path: str) -> int:
    """Return the bytes of a large binary file; 0 for any other."""
    try:
        size = (toplevel / path).lstat().st_size
        is_binary = size > _LARGE and b"\0" in read_prefix(
            os.fspath(toplevel), path, _BINARY_PREFIX
        )
    except (OSError, ValueError):
        return 0
    return size if is_binary else 0


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)
