"""Call git so that nothing runs that a repository configures, except filters of its files."""

from __future__ import annotations

import os
import re
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
_REDIRECTS = frozenset((
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_PREFIX",
    "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE",
    "GIT_QUARANTINE_PATH", "GIT_IMPLICIT_WORK_TREE", "GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_REFLOG_ACTION",
    "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_CEILING_DIRECTORIES", "GIT_TRACE", "GIT_TRACE2",
    "GIT_TRACE_SETUP",
))  # fmt: skip
# Whatever the repository's configuration says: no hook, monitor, signature program or pager.
_INERT = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "log.showSignature=false",
)  # fmt: skip
# No object is fetched on the way, which would start what a remote or a protocol is configured with.
# The variable overrides `protocol.NAME.allow` of a repository. Older gits ignore the last one.
_NO_FETCH = ("protocol.allow=never", "core.alternateRefsCommand=true")
_NO_FETCH_ENVIRONMENT: Final = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
# A git that only reads has no filter that would need them, as that of Git LFS does.
_NO_HELPERS = ("core.sshCommand=false", "core.askPass=", "credential.helper=")
_WORKING = (
    "core.safecrlf=false", "core.quotePath=false", "core.untrackedCache=false",
    "core.splitIndex=false",
    # An edit that keeps a file's size and sets its time back still shows.
    "core.checkStat=default", "core.trustctime=true",
    "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
)  # fmt: skip
# The command of a filter may be a whole launcher; git's fatal line has the name of the filter.
_FILTER_ERROR = re.compile(
    r"^error: [\w ]*external filter '.*?'(?: failed(?: -?\d+)?)?$\n?", re.MULTILINE | re.DOTALL
)


class GitResult(NamedTuple):
    """Hold git's exit code, stdout (empty where it went into a file) and stderr."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class GitSetting(NamedTuple):
    """Hold a setting: its scope (git-config(1)), its key in lower case, and its value."""

    scope: str
    key: str
    value: str

    @property
    def is_repository(self) -> bool:
        """Return whether the repository sets it, or a file that its configuration includes."""
        return self.scope not in ("system", "global")


def start_git_query(
    folder: Path,
    *args: str,
    stdin: int = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    environ: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a git that only reads, and takes no lock; its stdout is a pipe.

    The variables that lead git elsewhere count (those of `environ`, or else our own): a hook may
    have called cub. Raises OSError if it can't be started.
    """
    log_debug(f"git {' '.join(args)}")
    inherited = dict(os.environ if environ is None else environ)
    return subprocess.Popen(  # noqa: S603 - the user's own git
        _make_command_line((*_INERT, *_NO_FETCH, *_NO_HELPERS), args),
        cwd=folder,
        env=inherited
        | _NO_FETCH_ENVIRONMENT
        | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def query_git(
    folder: Path, *args: str, environ: Mapping[str, str] | None = None, timeout: float = _TIMEOUT
) -> GitResult | None:
    """Run such a git to its end; None if it can't be started, or takes more than `timeout`."""
    try:
        process = start_git_query(folder, *args, stderr=subprocess.PIPE, environ=environ)
        return _await_result(process, b"", timeout)
    except (OSError, subprocess.TimeoutExpired):
        return None


def run_git(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
    allow_fetch: bool = False,
) -> bytes:
    """Return git's stdout, as `try_git`. Raises CubError, with git's words, if it fails."""
    result = try_git(
        folder, *args, stdin=stdin, environ=environ, stdout=stdout, allow_fetch=allow_fetch
    )
    if result.exit_code:
        raise make_git_error(args[0], result)
    return result.stdout


def try_git(
    folder: Path,
    *args: str,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
    allow_fetch: bool = False,
    timeout: float = _TIMEOUT,
) -> GitResult:
    """Run git at the top of a work tree, with `environ` over our own environment.

    `allow_fetch` lets a partial clone get what it lacks, as `git switch` would for the person.
    Raises CubError if git can't be started, or takes more than `timeout` seconds.
    """
    log_debug(f"git {' '.join(args)}")
    settings = (*_INERT, *_WORKING, *(() if allow_fetch else _NO_FETCH))
    inherited = make_git_environment(folder) | ({} if allow_fetch else _NO_FETCH_ENVIRONMENT)
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own git
            _make_command_line(settings, args),
            cwd=folder,
            env=inherited | dict(environ or {}),
            stdin=subprocess.PIPE,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return _await_result(process, stdin, timeout)
    except OSError as error:
        reason = describe_os_error(error)
        raise CubError(f"git can't be started: {reason}", where=folder.as_posix()) from error
    except subprocess.TimeoutExpired:
        raise CubError(f"git {args[0]} did not end in {timeout:.0f} seconds") from None


def make_git_error(verb: str, result: GitResult) -> CubError:
    """Make the error for a git that failed, from the first fatal line on its stderr."""
    text = _FILTER_ERROR.sub("", decode_output(result.stderr)).strip()
    lines = text.splitlines() or [f"exit code {result.exit_code}"]
    first = next((line for line in lines if line.startswith("fatal: ")), lines[0])
    return CubError(
        f"git {verb} failed: {first.removeprefix('fatal: ')}",
        details=[line for line in lines if line != first],
    )


def make_git_environment(folder: Path) -> dict[str, str]:
    """Return our environment without what leads git away from `folder`, which is a top itself: a
    broken one must not be taken for a part of what is around it.
    """
    return strip_git_variables(os.environ) | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # Commits are made of the objects themselves, whatever refs/replace shows instead.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }


def disable_repository_filters(folder: Path) -> dict[str, str]:
    """Return variables for a git that runs no filter which the repository itself configures.

    The filters in the user's own configuration stay, as those of Git LFS. A file whose time has
    changed counts as changed if only a disabled filter could compare it.
    """
    words = ("config", "--show-scope", "-z", "--get-regexp", r"^filter\.")
    names = {
        setting.key.rpartition(".")[0]
        for setting in list_settings(try_git(folder, *words).stdout)
        if setting.is_repository
    }
    return make_config_variables(
        {
            f"{name}.{key}": value
            for name in sorted(names)
            for key, value in (("clean", ""), ("process", ""), ("required", "false"))
        }
    )


def make_config_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that set something for one git (git-config(1), GIT_CONFIG_COUNT)."""
    start = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    variables = {"GIT_CONFIG_COUNT": f"{start + len(settings)}"}
    for number, (key, value) in enumerate(settings.items(), start):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def strip_git_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables that lead git elsewhere."""
    return {name: value for name, value in environ.items() if name not in _REDIRECTS}


def decode_output(data: bytes) -> str:
    """Decode what git printed; bytes that are not UTF-8 become surrogates."""
    return data.decode("utf-8", "surrogateescape")


def split_nul(data: bytes) -> list[str]:
    """Split a list that has NUL after each item."""
    return decode_output(data).split("\0")[:-1]


def list_settings(data: bytes) -> list[GitSetting]:
    """List the settings that `git config --list --show-scope -z` printed, but those of `-c`."""
    fields = split_nul(data)
    settings = (
        GitSetting(scope, *text.partition("\n")[::2])
        for scope, text in zip(fields[::2], fields[1::2], strict=True)
    )
    return [setting for setting in settings if setting.scope != "command"]


def join_nul(paths: Iterable[str]) -> bytes:
    """Make such a list."""
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)


def _await_result(process: subprocess.Popen[bytes], stdin: bytes, timeout: float) -> GitResult:
    with process:
        try:
            out, err = process.communicate(stdin, timeout)
        except BaseException:
            process.kill()
            raise
    return GitResult(process.returncode, out or b"", err or b"")


def _make_command_line(settings: Iterable[str], args: Iterable[str]) -> list[str]:
    """Return the command line of the user's own git; `-c` overrides all configuration."""
    options = [word for setting in settings for word in ("-c", setting)]
    return ["git", "--no-pager", *options, *args]
