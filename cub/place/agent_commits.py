"""Take over commits that an agent has made in its tree, whose repository is not to be trusted.

Its files are read here only where they are short and regular; git reads them behind the walls, once
`Place.read_state` has removed what is neither file nor link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from cub.errors import CubError
from cub.files.read_files import read_prefix
from cub.git.process import split_nul, strip_git_variables
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture_streams

_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_LIMITS = TimeLimits(60.0, None)
_MAX_LINE = 4096  # bytes of HEAD or a ref
_MAX_REFS = 64 << 20  # bytes
_MAX_PACK = 1 << 30  # bytes
_OPERATIONS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def list_conflicts(place: Place, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files with conflicts of a merge or the like that the agent has not finished."""
    folder = place.folder.tree / ".git"
    if not any(os.path.lexists(folder / name) for name in _OPERATIONS):
        return ()
    rows = split_nul(_run(place, ("ls-files", "-u", "-z"), environ))
    return tuple(dict.fromkeys(row.partition("\t")[2] for row in rows))


def bring_agent_commits(place: Place, base: Base, environ: Mapping[str, str]) -> str:
    """Copy the agent's commits on top of the base to cub's objects; return the last of them.

    Return "" if there are none, if they don't lead back to the base, or can't be read: then what is
    in the files becomes one commit.
    """
    if _read_head(place, base) == base.commit:
        return ""
    with suppress(CubError):
        head = _run(place, ("rev-parse", "--verify", "HEAD^{commit}"), environ).decode().strip()
        if head == base.commit or not _OID.fullmatch(head):
            return ""
        _run(place, ("merge-base", "--is-ancestor", base.commit, head), environ)
        words = ("pack-objects", "-q", "--stdout", "--revs", "--thin")
        pack = _run(place, words, environ, f"{head}\n^{base.commit}\n".encode())
        place.tree.run("index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
        return head if place.tree.succeeds("cat-file", "-e", f"{head}^{{tree}}") else ""
    return ""


def _read_head(place: Place, base: Base) -> str:
    """Return the commit that the agent's HEAD names, as far as that is in plain files."""
    folder = os.fspath(place.folder.tree / ".git")
    try:
        head = read_prefix(folder, "HEAD", _MAX_LINE).decode("ascii", "replace").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        if os.path.lexists(f"{folder}/{name}"):
            return read_prefix(folder, name, _MAX_LINE).decode("ascii", "replace").strip()
        packed = read_prefix(folder, "packed-refs", _MAX_REFS)
        return base.commit if f"{base.commit} {name}\n".encode() in packed else ""
    except (OSError, ValueError):
        return ""


def _run(
    place: Place, words: Sequence[str], environ: Mapping[str, str], stdin: bytes = b""
) -> bytes:
    """Return the output of git in the agent's repository. Raises CubError if it fails."""
    folder, git = place.get_inner_top(place.tree), place.tree
    command = CommandSpec((*_GIT, *words), folder, strip_git_variables(environ), stdin)
    captured = run_and_capture_streams(place.confine(command, git), _LIMITS, None, _MAX_PACK)
    end = captured.result
    if end.exit_code or end.signal or end.cause or end.start_error or captured.left_out:
        raise CubError(f"git {words[0]} failed in the agent's tree")
    return captured.out
