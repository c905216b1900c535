"""The one way to call git: nothing of a repository's own configuration runs by it, but for the
filters of the files that a run snapshots and puts back.
"""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Final, NamedTuple

from cub.debug_log import log_debug
from cub.errors import CubError
from cub.text import describe_os_error

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
# Whatever the repository's configuration says: no hook, monitor, signature program or pager.
_INERT = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "log.showSignature=false",
)
# No object is fetched on the way, which would start what a remote or a protocol is configured with.
# The variable outdoes `protocol.NAME.allow` of a repository. Older ones know the last one not.
_NO_FETCH = ("protocol.allow=never", "core.alternateRefsCommand=true")
_NO_FETCH_AROUND: Final = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
# Who only reads has no filter that would need them, as that of Git LFS does.
_NO_HELPERS = ("core.sshCommand=false", "core.askPass=", "credential.helper=")
_WORKING = (
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    # An edit that keeps a file's size and sets its time back still shows.
    "core.checkStat=default",
    "core.trustctime=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class GitResult(NamedTuple):
    """What git left: its exit code, stdout (empty where it went into a file) and stderr."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class _Process(subprocess.Popen[bytes]):
    """A git whose end is seen at once: with a timeout, `Popen` looks a millisecond later again."""

    def wait(self, timeout: float | None = None) -> int:
        """See `Popen`."""
        if timeout is not None and self.returncode is None:
            timeout = _await_end(self.pid, timeout)
        return super().wait(timeout)


def _await_end(pid: int, timeout: float) -> float | None:
    """Wait for a child's end; None for that, else how many seconds of `timeout` are left."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):  # not on Linux, or no more files may be open
        return timeout
    try:
        return None if select.select([handle], [], [], timeout)[0] else 0.0
    except ValueError:  # more files are open than select can take
        return timeout
    finally:
        os.close(handle)


def start_git_query(
    folder: Path,
    *args: str,
    stdin: int = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    environ: Mapping[str, str] | None = None,
) -> _Process:
    """Start a git that only reads, and takes no lock; its stdout is a pipe.

    The variables that lead git elsewhere count (those of `environ`, or else our own): somebody's
    hook may have called cub. OSError if it can't be started.
    """
    log_debug(f"git {' '.join(args)}")
    around = dict(os.environ if environ is None else environ)
    return _Process(
        _command_line((*_INERT, *_NO_FETCH, *_NO_HELPERS), args),
        cwd=folder,
        env=around | _NO_FETCH_AROUND | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def query_git(
    folder: Path,
    *args: str,
    environ: Mapping[str, str] | None = None,
    timeout: float = _TIMEOUT,
) -> GitResult | None:
    """What such a git leaves; None if it can't be started, or takes too long."""
    try:
        process = start_git_query(folder, *args, stderr=subprocess.PIPE, environ=environ)
        return _await_answer(process, b"", timeout)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _await_answer(process: _Process, stdin: bytes, timeout: float) -> GitResult:
    with process:
        try:
            out, err = process.communicate(stdin, timeout)
        except BaseException:
            process.kill()
            raise
    return GitResult(process.returncode, out or b"", err or b"")


def run_git(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    check: bool = True,
    stdout: IO[bytes] | None = None,
    allow_fetch: bool = False,
) -> bytes:
    """What git prints, run at the top of a work tree with `environ` over our own environment.

    Raises CubError with git's words if it fails, unless `check` is off.
    """
    answer = try_git(
        folder, *args, stdin=stdin, environ=environ, stdout=stdout, allow_fetch=allow_fetch
    )
    if check and answer.exit_code:
        raise make_git_error(args[0], answer)
    return answer.stdout


def try_git(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
    allow_fetch: bool = False,
) -> GitResult:
    """The same, whether git succeeds or not. Raises CubError if it can't be run to its end.

    `allow_fetch` lets a partial clone get what it lacks, as `git switch` would for the person.
    """
    log_debug(f"git {' '.join(args)}")
    settings = (*_INERT, *_WORKING, *(() if allow_fetch else _NO_FETCH))
    around = make_git_environment(folder) | ({} if allow_fetch else _NO_FETCH_AROUND)
    try:
        process = _Process(
            _command_line(settings, args),
            cwd=folder,
            env=around | dict(environ or {}),
            stdin=subprocess.PIPE,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return _await_answer(process, stdin, _TIMEOUT)
    except OSError as error:
        reason = describe_os_error(error)
        raise CubError(f"git can't be started: {reason}", where=folder.as_posix()) from error
    except subprocess.TimeoutExpired:
        raise CubError(f"git {args[0]} did not end in {_TIMEOUT:.0f} seconds") from None


def make_git_error(verb: str, answer: GitResult) -> CubError:
    """The error for a git that failed."""
    said = decode_output(answer.stderr).strip().splitlines() or [f"exit code {answer.exit_code}"]
    first = next((line for line in said if line.startswith("fatal: ")), said[0])
    return CubError(
        f"git {verb} failed: {first.removeprefix('fatal: ')}",
        details=[line for line in said if line != first],
    )


def strip_git_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables that lead git elsewhere."""
    return {name: value for name, value in environ.items() if name not in _REDIRECTS}


def decode_output(data: bytes) -> str:
    """What git printed, with bytes that are no UTF-8 kept as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def split_nul(data: bytes) -> list[str]:
    """The parts of a list with NUL after each."""
    return decode_output(data).split("\0")[:-1]


def join_nul(paths: Iterable[str]) -> bytes:
    """Such a list."""
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)


def _command_line(settings: Iterable[str], args: Iterable[str]) -> list[str]:
    """The user's own git; what `-c` says comes last of all configuration."""
    options = [word for setting in settings for word in ("-c", setting)]
    return ["git", "--no-pager", *options, *args]


def make_git_environment(folder: Path) -> dict[str, str]:
    """Our environment without what leads git away from `folder`.

    That is a top itself: a broken one must not be taken for a part of what is around it.
    """
    return strip_git_variables(os.environ) | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # An agent could put other objects in the place of those that are to be put back.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
