"""Committing exactly some paths, with the person's hooks, signature and identity."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from cub.checks.plain import plain
from cub.errors import CubError
from cub.git.calling import ask, call, joined, split, text, undirected
from cub.git.own_index import put
from cub.git.place import Place, git_folder, head_of, is_beyond_link, kind
from cub.masking import masked
from cub.processes.captured import captured
from cub.processes.command import Command, Limits
from cub.processes.stop import Stop

# `git commit` may start a tidying process that would outlive it.
_COMMIT = ("git", "-c", "maintenance.auto=false", "-c", "gc.auto=0", "commit", "--quiet")
_AT_ONCE = 500  # paths on a command line
_TAIL = 4000  # characters of what git and its hooks said


class Committed(NamedTuple):
    """The commit that HEAD is at now, and the end of what was said, without secrets.

    If it is not `ok`, there is no new commit, and `cause` says why cub ended git, if it did.
    """

    head: str
    output: str
    ok: bool
    cause: str


def commit(
    place: Place,
    paths: Sequence[str],
    along: Sequence[str],
    message: str,
    environ: Mapping[str, str],
    limits: Limits,
    stop: Stop | None,
    tree: str = "",
) -> Committed:
    """Commit `paths` as they are in `tree`, or without one on disk, and those of `along` that git
    does not ignore.

    What goes along makes no commit where there are paths and none of them differs.

    Whatever else was staged is not any more. Nothing to commit is fine, and no commit.
    """
    call(place.top, "reset", "--quiet")
    try:
        _stage_from(place, tree, paths) if tree else _stage(place, paths)
        if paths and not _is_staged(place):  # what goes along is no reason for a commit
            return Committed(head_of(place.top).commit, "", ok=True, cause="")
        _stage(place, _unignored(place, along))
        if not paths and not _is_staged(place):
            return Committed(head_of(place.top).commit, "", ok=True, cause="")
        done = _commit(place, message, environ, limits, stop)
    except CubError as error:
        done = Committed("", masked("\n".join([error.message, *error.details]))[-_TAIL:], False, "")
    except BaseException:
        call(place.top, "reset", "--quiet", check=False)
        raise
    if not done.ok:
        call(place.top, "reset", "--quiet")
    return done._replace(head=head_of(place.top).commit)


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
        (there if _is_file(place, path) else gone).append(path)
    put(place, there, gone, None)


def _stage_from(place: Place, tree: str, paths: Sequence[str]) -> None:
    """What is checked is what is committed, though somebody may have changed the file since."""
    if not paths:
        return
    around = {"GIT_LITERAL_PATHSPECS": "1"}
    known = {}
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        for line in split(call(place.top, "ls-tree", "-z", tree, "--", *some, environ=around)):
            about, _, path = line.partition("\t")
            if (words := about.split())[1] != "tree":  # there is a folder in the place of a file
                known[path] = words
    gone = [path for path in paths if path not in known]
    put(place, [], gone, None)
    rows = (f"{mode} {oid}\t{path}" for path, (mode, _, oid) in known.items())
    call(place.top, "update-index", "-z", "--index-info", stdin=joined(rows))


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


def _is_staged(place: Place) -> bool:
    words = ("diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--")
    answer = ask(place.top, *words)
    if answer.code > 1:  # no commit yet
        return bool(call(place.top, "ls-files", "-z"))
    return answer.code == 1


def _commit(
    place: Place, message: str, environ: Mapping[str, str], limits: Limits, stop: Stop | None
) -> Committed:
    """A lock on the index that is there after we had to kill git is its own."""
    lock = git_folder(place.top) / "index.lock"
    free = not lock.exists()
    own = {"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}
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
