"""The client of beads, `bd`, run as a process: a question, or one change."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cub.errors import CubError

_TIMEOUT = 60.0  # seconds; a first call may start a server
_MOST = 10  # lines of an error
_HINT = "`tasks: {backend: jsonl}` in .cub/config.yaml keeps tasks in a file of cub's"


def ask(root: Path, *arguments: str) -> bytes:
    """What `bd` answers below `root`; CubError, with its own words, where it fails."""
    done = _run(root, arguments)
    if done.returncode:
        raise _failed(arguments, done)
    return done.stdout


def tell(root: Path, *arguments: str) -> None:
    """Let `bd` change something. Some versions end well also where they could not: they say so,
    and answer nothing.
    """
    done = _run(root, (*arguments, "--json"))
    if done.returncode or not done.stdout.strip():
        raise _failed(arguments, done)


def _run(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("bd")
    if program is None:
        raise CubError("`bd`, the client of beads, is not on PATH", hint=f"install it; or {_HINT}")
    try:
        return subprocess.run(  # noqa: S603 - the user's own bd, with arguments and no shell
            [program, *arguments],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"`bd {arguments[0]}` has not ended in {_TIMEOUT:.0f} seconds"
        raise CubError(what, hint="run it by hand to see why") from None
    except OSError as error:
        what = f"`bd` cannot be run: {error.strerror or error}"
        raise CubError(what, where=program, hint=_HINT) from error


def _failed(arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> CubError:
    first, *more = _said(done).strip().splitlines() or ["it does not say why"]
    what = f"`bd {' '.join(arguments[:2])}` failed: {first}"
    hint = "what this command did before is done; run the call by hand to see more"
    return CubError(what, hint=hint, details=more[:_MOST])


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """An error is on stdout where JSON was asked for; on stderr, there may be hints beside it."""
    try:
        return str(json.loads(done.stdout)["error"])
    except (ValueError, KeyError, TypeError):
        return (done.stderr or done.stdout).decode("utf-8", "replace")
