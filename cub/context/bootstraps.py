"""Find and run bootstraps: executables `NAME-bootstrap` beside rules `NAME.md`.

A rule may also have its script in the field `bootstrap` of its front matter, which goes first.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cub.context.context_commands import CommandEnvironment, clean_output, describe_failure
from cub.context.rules import RuleFile
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture

FIELD, SUFFIX = "bootstrap", "-bootstrap"
MAX_SECONDS = 60
_MAX_OUTPUT = 64 * 1024  # bytes


class Bootstrap(NamedTuple):
    """Hold a script: its name in messages, its text, and its file; None for one of front matter.

    `is_project` says that it is none of the user's own, so that a person has to agree to it: also
    one from above the project, as a repository may have projects inside.
    """

    name: str
    script: str
    path: Path | None
    is_project: bool


class BootstrapRun(NamedTuple):
    """Hold what a bootstrap printed, why it failed ("" if it did not), and what was left out."""

    bootstrap: Bootstrap
    text: str
    problem: str
    loss: str = ""


def find_bootstraps(
    rules: Iterable[RuleFile], reader: TextReader
) -> tuple[list[Bootstrap], list[PlanWarning]]:
    """Return the scripts of rules in their order, and warnings about those that can't be run."""
    found: dict[str, Bootstrap] = {}
    warnings: list[PlanWarning] = []
    for rule in rules:
        is_project = rule.location.scope != "user"
        script = rule.text.fields.get(FIELD)
        if isinstance(script, str):
            name = f"{rule.name} ({FIELD})"
            found.setdefault(name, Bootstrap(name, script, None, is_project))
            continue
        script_path = os.path.splitext(rule.path)[0] + SUFFIX  # noqa: PTH122 - faster
        if not os.path.lexists(script_path):
            continue
        path = Path(script_path)
        try:
            file = reader.read(path, reader.get_base(rule.location.scope, rule.folder))
        except CubError as error:
            warnings.append(PlanWarning(f"{error.message}; it is not run", error.where))
            continue
        name = reader.describe(path)
        if file and not os.access(file.real, os.X_OK):
            hint = f"`chmod +x {name}` lets it run"
            warnings.append(PlanWarning("this bootstrap is not executable", name, hint=hint))
        elif file:
            text = file.data.decode("utf-8", "surrogateescape")
            found.setdefault(name, Bootstrap(name, text, path, is_project))
    return list(found.values()), warnings


def run_bootstraps(
    bootstraps: Iterable[Bootstrap], environment: CommandEnvironment
) -> Iterator[BootstrapRun]:
    """Run scripts one after another, with nothing on stdin; a failure is a part of the result.

    Each runs as it was found, whatever has become of its file since.
    """
    for bootstrap in bootstraps:
        with _write_copy(bootstrap) as path:
            yield _run_file(bootstrap, path, environment)


@contextmanager
def _write_copy(bootstrap: Bootstrap) -> Iterator[Path]:
    """Write a script to a new file in the script's own folder, where `dirname "$0"` finds what is
    beside it; in a temporary folder if it has none, or none that can be written to.
    """
    path = bootstrap.path
    prefix = f".{path.name if path else FIELD}.cub-"
    name = f"{prefix}{secrets.token_hex(4)}.tmp"
    folder = os.path.realpath(path.parent) if path else tempfile.gettempdir()
    try:
        opened, handle = _create_file(folder, name)
    except OSError:
        folder = tempfile.gettempdir()
        opened, handle = _create_file(folder, name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bootstrap.script.encode("utf-8", "surrogateescape"))
        yield Path(folder, name)
    finally:
        with suppress(OSError):
            _remove_old_copies(opened, prefix)
            os.unlink(name, dir_fd=opened)  # the folder may have another name by now
        os.close(opened)


def _create_file(folder: str, name: str) -> tuple[int, int]:
    """Return an open folder, and a new file in it that can only be run."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return opened, os.open(name, flags, 0o500, dir_fd=opened)
    except OSError:
        os.close(opened)
        raise


def _remove_old_copies(folder: int, prefix: str) -> None:
    """Remove what calls that were killed have left in an open folder."""
    for name in os.listdir(folder):
        if name.startswith(prefix) and name.endswith(".tmp"):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if status.st_mtime < time.time() - 2 * MAX_SECONDS:
                os.unlink(name, dir_fd=folder)


def _run_file(bootstrap: Bootstrap, path: Path, environment: CommandEnvironment) -> BootstrapRun:
    command = CommandSpec((os.fspath(path),), environment.folder, environment.variables)
    captured = run_and_capture(command, TimeLimits(MAX_SECONDS), max_bytes=_MAX_OUTPUT)
    problem = describe_failure(captured.result, MAX_SECONDS)
    if captured.result.cause:
        problem = f"was ended after {MAX_SECONDS} seconds"
    loss = f"{captured.left_out:,} of {captured.total:,} bytes of its output were left out"
    text = clean_output(captured.out)
    return BootstrapRun(bootstrap, text, problem, loss * bool(captured.left_out))
