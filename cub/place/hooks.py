"""Make the commit of an attempt, with the person's hooks as they are in the person's checkout.

The hooks run behind the walls, in the tree of checks, and the commit is made outside: what a hook
makes of the tree and of the message counts, and nothing else of what it does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.git.process import decode_output, split_nul, strip_git_variables
from cub.masking import mask_text
from cub.place.place import Place
from cub.place.tree import update_tree
from cub.processes.command import CommandSpec, StopRequest, TimeLimits
from cub.processes.runner import run_and_capture_streams

_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
_MAX_OUTPUT = 4000  # characters of what git and its hooks print
_MAX_BYTES = 4 << 20
_GIT = ("git", "--no-pager", "-c", "maintenance.auto=false", "-c", "gc.auto=0",
        "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false")  # fmt: skip


class HookResult(NamedTuple):
    """Hold the tree and the message of the commit after the hooks, or why they refuse it."""

    tree: str
    message: str
    failure: str = ""


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
    stop: StopRequest | None = None,
) -> HookResult:
    """Run the person's hooks on a commit of `tree`, which the tree of checks holds.

    Raises CubError if what they leave can't be read.
    """
    checkout, git = place.settings.checkout, place.checks
    folder = place.person.hooks_folder
    if folder == checkout.common_dir / "hooks" and place.settings.is_bound:
        folder = checkout.toplevel / ".git" / "hooks"
    commit = ("commit", "--quiet", "--allow-empty", "--file=-")
    argv = (*_GIT, "-c", f"core.hooksPath={os.fspath(folder)}", *commit)
    _, failure = _run(place, argv, environ, limits, message.encode(), stop)
    if failure:
        return HookResult(tree, message, mask_text(failure)[-_MAX_OUTPUT:])
    log, failure = _run(place, (*_GIT, "log", "-1", "--format=%B"), environ, limits)
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, "HEAD")
    listed, more = _run(place, (*_GIT, *words), environ, limits)
    if failure or more:
        return HookResult(tree, message, failure or more)
    paths = {*place.list_edits_of_checks(), *split_nul(listed)}
    new_tree = update_tree(git, sorted(paths)) if paths else tree
    return HookResult(new_tree, decode_output(log).strip("\n"))


def _run(
    place: Place,
    argv: tuple[str, ...],
    environ: Mapping[str, str],
    limits: TimeLimits,
    stdin: bytes = b"",
    stop: StopRequest | None = None,
) -> tuple[bytes, str]:
    """Return the output of a command in the tree of checks, and why it failed; "" if it did not."""
    folder = place.get_inner_top(place.checks)
    command = CommandSpec(argv, folder, strip_git_variables(environ), stdin)
    confined = place.confine(command, place.checks)
    captured = run_and_capture_streams(confined, limits, stop, _MAX_BYTES)
    end = captured.result
    text = to_plain_text((captured.out + captured.err).decode("utf-8", "replace")).strip()
    if end.cause:
        return b"", f"it did not end within {limits.wall or 0:.0f} s: {text}".rstrip(": ")
    if end.exit_code or end.signal or end.start_error:
        return b"", text or end.start_error or "a hook or git itself refused it without a word"
    return captured.out, ""


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
