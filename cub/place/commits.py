"""Take over commits that an agent has made, and make the one of an attempt with the person's hooks.

The repository of the agent's tree is not to be trusted, and hooks execute files of a tree: git runs
behind the walls for both, once `Place.read_state` has removed what is neither file nor link. What a
hook makes of the tree and of the message counts, and nothing else of what it does: the commit
itself is made outside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.errors import CubError
from cub.files.read_files import read_small_file
from cub.git.process import decode_output, split_nul, strip_git_variables
from cub.masking import mask_text
from cub.place.checkout import TreeGit
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.place.tree import update_tree
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture_streams

_GIT = ("git", "--no-pager", "-c", "maintenance.auto=false", "-c", "gc.auto=0",
        "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false")  # fmt: skip
_LIMITS = TimeLimits(60.0, None)
_MAX_BYTES = 1 << 30  # such as of a pack; of a larger one, parts are left out, and git refuses it
_MAX_HOOK_BYTES = 4 << 20
_MAX_LINE = 4096  # bytes of HEAD or a ref
_MAX_REFS = 64 << 20  # bytes
_MAX_OUTPUT = 4000  # characters of what git and its hooks print
_OPERATIONS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")


class HookResult(NamedTuple):
    """Hold the tree and the message of the commit after the hooks, or why they refuse it."""

    tree: str
    message: str
    failure: str = ""


def list_conflicts(place: Place, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files with conflicts of a merge or the like that the agent has not finished."""
    folder = place.folder.tree / ".git"
    if not any(os.path.lexists(folder / name) for name in _OPERATIONS):
        return ()
    rows = split_nul(_run(place, place.tree, ("ls-files", "-u", "-z"), environ=environ))
    return tuple(dict.fromkeys(row.partition("\t")[2] for row in rows))


def bring_agent_commits(place: Place, base: Base, environ: Mapping[str, str]) -> str:
    """Copy the agent's commits on top of the base to cub's objects; return the last of them.

    Return "" if there are none, if they don't lead back to the base, or can't be read: then what is
    in the files becomes one commit.
    """
    if not _has_new_head(place, base):
        return ""
    git = place.tree
    run = partial(_run, place, git, environ=environ)
    with suppress(CubError):
        head = run(("rev-parse", "--verify", "HEAD^{commit}")).decode().strip()
        if head == base.commit or not _OID.fullmatch(head):
            return ""
        run(("merge-base", "--is-ancestor", base.commit, head))
        words = ("pack-objects", "-q", "--stdout", "--revs", "--thin")
        pack = run(words, stdin=f"{head}\n^{base.commit}\n".encode())
        git.run("index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
        return head if git.succeeds("cat-file", "-e", f"{head}^{{tree}}") else ""
    return ""


def _has_new_head(place: Place, base: Base) -> bool:
    """Return whether the agent's HEAD may name another commit; only plain files are read."""
    folder = place.folder.tree / ".git"
    head = read_small_file(folder, "HEAD", _MAX_LINE).strip()
    if not head.startswith(b"ref: "):
        return head != base.commit.encode()
    name = decode_output(head.removeprefix(b"ref: "))
    if os.path.lexists(folder / name):
        return read_small_file(folder, name, _MAX_LINE).strip() != base.commit.encode()
    packed = read_small_file(folder, "packed-refs", _MAX_REFS)
    return f"{base.commit} {name}\n".encode("utf-8", "surrogateescape") not in packed


def has_commit_hooks(place: Place) -> bool:
    """Return whether the person has hooks that decide on a commit."""
    folder = place.person.hooks_folder
    return any(os.access(folder / name, os.X_OK) for name in _HOOKS)


def run_commit_hooks(
    place: Place,
    tree: str,
    message: str,
    environ: Mapping[str, str],
    limits: TimeLimits,
) -> HookResult:
    """Run the person's hooks on a commit of `tree`, which the tree of checks holds.

    Raises CubError if what they leave can't be read.
    """
    checkout, git = place.settings.checkout, place.checks
    folder = place.person.hooks_folder
    if folder == checkout.common_dir / "hooks" and place.settings.is_bound:
        folder = checkout.toplevel / ".git" / "hooks"
    run = partial(_run, place, git, environ=environ, limits=limits)
    commit = ("commit", "--quiet", "--allow-empty", "--file=-")
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, "HEAD")
    try:
        run(commit, stdin=message.encode(), hooks=folder, max_bytes=_MAX_HOOK_BYTES)
        log, listed = run(("log", "-1", "--format=%B")), run(words)
    except CubError as error:
        return HookResult(tree, message, mask_text(error.message)[-_MAX_OUTPUT:])
    paths = {*place.list_edits_of_checks(), *split_nul(listed)}
    new_tree = update_tree(git, sorted(paths)) if paths else tree
    return HookResult(new_tree, decode_output(log).strip("\n"))


def make_commit(place: Place, tree: str, parent: str, message: str) -> str:
    """Make a commit of the person's, signed if they sign theirs; return its id.

    Raises CubError if git can't, for example if it does not know who commits.
    """
    option = ("-S",) if place.person.signs_commits else ()
    words = ("commit-tree", *option, "-p", parent, "-F", "-", tree)
    data = message.encode("utf-8", "surrogateescape") + b"\n"
    return place.tree.read_line(*words, stdin=data)


def make_internal_commit(place: Place, tree: str, parent: str) -> str:
    """Make a commit that no branch gets, such as of edits to begin from; return its id."""
    words = ("commit-tree", "-p", parent, "-m", "Start an attempt", tree)
    return place.tree.with_own_identity().read_line(*words)


def _run(
    place: Place,
    git: TreeGit,
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    limits: TimeLimits = _LIMITS,
    stdin: bytes = b"",
    hooks: Path = Path(os.devnull),
    max_bytes: int = _MAX_BYTES,
) -> bytes:
    """Return the output of git in the repository of a tree, run behind the walls.

    Raises CubError, with what git and the hooks have printed, if it fails.
    """
    argv = (*_GIT, "-c", f"core.hooksPath={os.fspath(hooks)}", *words)
    command = CommandSpec(argv, place.get_inner_top(git), strip_git_variables(environ), stdin)
    captured = run_and_capture_streams(place.confine(command, git), limits, None, max_bytes)
    end = captured.result
    if not (end.cause or end.exit_code or end.signal or end.start_error):
        return captured.out
    text = to_plain_text((captured.out + captured.err).decode("utf-8", "replace")).strip()
    if end.cause:
        text = f"it did not end within {limits.wall or 0:.0f} s: {text}".rstrip(": ")
    reason = text or end.start_error or "a hook or git itself refused it without a word"
    raise CubError(reason, where=f"git {words[0]} in a clone")
