"""The one way to call git at work: nothing around redirects it, and no hook or monitor runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from cub.debug_log import log_debug
from cub.errors import CubError

# Seconds: a first look at a large repository takes long, a hung drive takes for ever.
_TIMEOUT = 600.0
# Of git's variables, those that say which repository, index or paths are meant, or change output.
_REDIRECTS = frozenset(
    (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INDEX_VERSION",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_COMMON_DIR",
        "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_GRAFT_FILE",
        "GIT_REPLACE_REF_BASE",
        "GIT_QUARANTINE_PATH",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_ATTR_SOURCE",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_REFLOG_ACTION",
        "GIT_EXTERNAL_DIFF",
        "GIT_DIFF_OPTS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_TRACE",
        "GIT_TRACE2",
        "GIT_TRACE_SETUP",
    )
)
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    # An edit that keeps a file's size and sets its time back still shows.
    "core.checkStat=default",
    "core.trustctime=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class Answer(NamedTuple):
    """What git left: its exit code, stdout (empty where it went into a file) and stderr."""

    code: int
    out: bytes
    err: bytes


def call(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    check: bool = True,
    into: IO[bytes] | None = None,
) -> bytes:
    """What git prints, run at the top of a work tree with `environ` over our own environment.

    Raises CubError with git's words if it fails, unless `check` is off.
    """
    answer = ask(folder, *args, stdin=stdin, environ=environ, into=into)
    if check and answer.code:
        raise failure(args[0], answer)
    return answer.out


def ask(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    into: IO[bytes] | None = None,
) -> Answer:
    """The same, whether git succeeds or not. Raises CubError if it can't be run to its end."""
    log_debug(f"git {' '.join(args)}")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *settings, *args],  # noqa: S607 - the user's own git
            cwd=folder,
            env=_environment(folder) | dict(environ or {}),
            input=stdin,
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=_TIMEOUT,
            check=False,
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CubError(f"git can't be started: {reason}", where=folder.as_posix()) from error
    except subprocess.TimeoutExpired:
        raise CubError(f"git {args[0]} did not end in {_TIMEOUT:.0f} seconds") from None
    return Answer(done.returncode, done.stdout or b"", done.stderr)


def failure(verb: str, answer: Answer) -> CubError:
    """The error for a git that failed."""
    said = text(answer.err).strip().splitlines() or [f"exit code {answer.code}"]
    first = next((line for line in said if line.startswith("fatal: ")), said[0])
    return CubError(
        f"git {verb} failed: {first.removeprefix('fatal: ')}",
        details=[line for line in said if line != first],
    )


def undirected(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables that lead git elsewhere."""
    return {name: value for name, value in environ.items() if name not in _REDIRECTS}


def text(data: bytes) -> str:
    """What git printed, with bytes that are no UTF-8 kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def split(data: bytes) -> list[str]:
    """The parts of a list with NUL after each."""
    return text(data).split("\0")[:-1]


def joined(paths: Iterable[str]) -> bytes:
    """Such a list."""
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)


def _environment(folder: Path) -> dict[str, str]:
    """`folder` is a top itself: a broken one must not be taken for a part of what is around it."""
    return undirected(os.environ) | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # An agent could put other objects in the place of those that are to be put back.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
