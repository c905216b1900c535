"""Committing exactly some paths, with the person's hooks, signature and identity.

What was checked is what is committed: the commit has the tree that was staged, whatever hooks did.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from cub.checks.plain import plain
from cub.errors import CubError, name_first
from cub.git.calling import ask, call, joined, split, text, undirected
from cub.git.own_index import put, put_objects, reset_index
from cub.git.place import Place, git_folder, is_beyond_link, kind
from cub.masking import masked
from cub.processes.captured import captured
from cub.processes.command import Command, Limits
from cub.processes.stop import Stop

# `git commit` may start a tidying process that would outlive it, and asks a monitor what changed.
_QUIETLY = ("-c", "maintenance.auto=false", "-c", "gc.auto=0", "-c", "core.fsmonitor=false")
_COMMIT = ("git", "--no-pager", *_QUIETLY, "commit", "--quiet")
_AT_ONCE = 500  # paths on a command line
_TAIL = 4000  # characters of what git and its hooks said
_HINT = "no check has seen that, so let the hook only look, or do its work in the attempt"
# Told the parent ("" for none) and the tree of a commit that is about to be made.
Announce = Callable[[str, str], None]


class Committed(NamedTuple):
    """The commit that HEAD is at now, and the end of what was said, without secrets.

    If it is not `ok`, there is no new commit, and `cause` says why cub ended git, if it did.
    """

    head: str
    output: str
    ok: bool
    cause: str


class Checked(NamedTuple):
    """What checks have seen: `tree`, made on the files of the commit `base`, which is "" if there
    was none.
    """

    base: str
    tree: str


class _Tip(NamedTuple):
    """The commit that HEAD is at, "" before the first one; its tree, and its parents."""

    commit: str
    tree: str
    parents: tuple[str, ...] = ()


def commit(
    place: Place,
    paths: Sequence[str],
    along: Sequence[str],
    message: str,
    environ: Mapping[str, str],
    limits: Limits,
    stop: Stop | None,
    checked: Checked | None = None,
    announce: Announce | None = None,
) -> Committed:
    """Commit `paths` as they are on disk, and those of `along` that git does not ignore.

    With `checked`, the paths are committed as in its tree, and every other one as in its base,
    although HEAD may have others by now. What goes along makes no commit where there are paths, or
    something was checked, and nothing of that differs from HEAD.

    `announce` is told the parent and the tree of the commit before it is made. If hooks make
    another tree of it, the commit is taken back, and has failed.

    Whatever else was staged is not any more. Nothing to commit is fine, and no commit.
    """
    reset_index(place, ends_operations=True)
    try:
        parent = _tip(place)
        _stage(place, paths) if checked is None else _stage_from(place, checked.tree, paths)
        if checked and checked.base != parent.commit:
            _stage_others(place, checked.base, parent.commit, {*paths, *along})
        # Where nobody else committed, and paths differ, so does what is staged.
        differs = bool(paths) and checked is not None and checked.base == parent.commit
        if (paths or checked) and not differs and _staged_tree(place) == parent.tree:
            return Committed(parent.commit, "", ok=True, cause="")
        _stage(place, _unignored(place, along))
        tree = _staged_tree(place)
        if tree == parent.tree:
            return Committed(parent.commit, "", ok=True, cause="")
        if announce:
            announce(parent.commit, tree)
        done = _commit(place, message, environ, limits, stop)
        done = _compared(place, parent, tree, done) if done.ok else done
    except CubError as error:
        done = Committed("", masked("\n".join([error.message, *error.details]))[-_TAIL:], False, "")
    except BaseException:
        call(place.top, "reset", "--quiet", check=False)
        raise
    if not done.ok:
        call(place.top, "reset", "--quiet")
    return done if done.head else done._replace(head=_tip(place).commit)


def identity(place: Place, environ: Mapping[str, str]) -> str:
    """What git says if it does not know who commits; "" if it does."""
    for name in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"):
        answer = ask(place.top, "var", name, environ=undirected(environ))
        if answer.code:
            return text(answer.err).strip()
    return ""


def _stage(place: Place, paths: Sequence[str]) -> None:
    there, gone = list[str](), list[str]()
    for path in dict.fromkeys(paths):
        # What is missing goes with those that are there: git sees that itself, in one process.
        has_entry = os.path.lexists(place.top / path) or is_beyond_link(place.top, path)
        (gone if has_entry and not _is_file(place, path) else there).append(path)
    put(place, there, gone, None)


def _stage_others(place: Place, base: str, commit: str, known: Collection[str]) -> None:
    """What somebody has committed since, and nobody has checked, is taken back."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none")
    ends = (base, commit) if base else ("--root", "--no-commit-id", commit)
    listed = split(call(place.top, *words, *ends))
    _stage_from(place, base, [path for path in listed if path not in known])


def _stage_from(place: Place, tree: str, paths: Sequence[str]) -> None:
    """Stage paths as they are in a tree, although somebody may have changed the files since; all
    of them are gone if there is no tree.
    """
    if not paths:
        return
    around = {"GIT_LITERAL_PATHSPECS": "1"}
    known = {}
    for start in range(0, len(paths) if tree else 0, _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        for line in split(call(place.top, "ls-tree", "-z", tree, "--", *some, environ=around)):
            about, _, path = line.partition("\t")
            if (words := about.split())[1] != "tree":  # there is a folder in the place of a file
                known[path] = words
    gone = [path for path in paths if path not in known]
    put_objects(place, {path: (mode, oid) for path, (mode, _, oid) in known.items()}, gone, None)


def _is_file(place: Place, path: str) -> bool:
    """Whether git has a word for what is there: a file, a link, a repository."""
    found = kind(place.top, path)
    if found == stat.S_IFDIR:
        return kind(place.top, f"{path}/.git") != 0
    return found in (stat.S_IFREG, stat.S_IFLNK)


def _unignored(place: Place, paths: Sequence[str]) -> list[str]:
    """Tracked files are never ignored."""
    asked = [path for path in paths if not is_beyond_link(place.top, path)]
    if not asked:
        return []
    answer = ask(place.top, "check-ignore", "-z", "--stdin", stdin=joined(asked))
    ignored = set(split(answer.out))
    return [path for path in asked if path not in ignored]


def _tip(place: Place) -> _Tip:
    words = ("log", "-1", "--no-show-signature", "--format=%H%n%T%n%P", "HEAD", "--")
    answer = ask(place.top, *words)
    if answer.code:  # no commit yet
        nothing = call(place.top, "hash-object", "-t", "tree", "--stdin")
        return _Tip("", text(nothing).strip())
    commit, tree, parents = text(answer.out).split("\n")[:3]
    return _Tip(commit, tree, tuple(parents.split()))


def _staged_tree(place: Place) -> str:
    return text(call(place.top, "write-tree")).strip()


def _compared(place: Place, parent: _Tip, tree: str, done: Committed) -> Committed:
    """The commit, if it is of the tree that was staged; else a failure, and no commit."""
    now = _tip(place)
    if now.tree == tree:
        return done._replace(head=now.commit)
    if now.parents == ((parent.commit,) if parent.commit else ()):  # what others made is not ours
        back = ("HEAD", parent.commit) if parent.commit else ("-d", "HEAD")
        call(place.top, "update-ref", *back, now.commit)
    listed = call(place.top, "diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, now.tree)
    said = f"a hook of git's changed what was to be committed: {name_first(split(listed))}"
    return Committed("", f"{said}; {_HINT}", ok=False, cause="")


def _commit(
    place: Place, message: str, environ: Mapping[str, str], limits: Limits, stop: Stop | None
) -> Committed:
    """A lock on the index that is there after we had to kill git is its own."""
    lock = git_folder(place.top) / "index.lock"
    free = not lock.exists()
    own = {"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    around = {name: value for name, value in undirected(environ).items() if name != "GPG_TTY"}
    argv = (*_COMMIT, "--file=-", "--cleanup=whitespace")
    said = message.encode("utf-8", "surrogateescape")
    done = captured(Command(argv, place.top, around | own, said), limits, stop)
    ended = done.ended
    if ended.cause and free:
        with suppress(OSError):
            lock.unlink()
    # Masked before it is cut: a hook may print anything.
    output = masked(plain(done.output.decode("utf-8", "replace"))).strip() or ended.missing
    return Committed("", output[-_TAIL:], ended.exit == 0 and not ended.cause, ended.cause)
