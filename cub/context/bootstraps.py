"""Find and run bootstraps: executables `NAME-bootstrap` beside rules `NAME.md`.

A rule may also have its script in the field `bootstrap` of its front matter, which goes first.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
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
    """Hold what a bootstrap printed, and why it failed; "" if it did not."""

    bootstrap: Bootstrap
    text: str
    problem: str


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
    """Run scripts one after another, with nothing on stdin; a failure is a part of the result."""
    for bootstrap in bootstraps:
        if bootstrap.path:
            yield _run_file(bootstrap, bootstrap.path, environment)
            continue
        with tempfile.TemporaryDirectory(prefix="cub-bootstrap-") as folder:
            file = Path(folder, "bootstrap")
            file.write_text(bootstrap.script, encoding="utf-8")
            file.chmod(0o700)
            yield _run_file(bootstrap, file, environment)


def _run_file(bootstrap: Bootstrap, path: Path, environment: CommandEnvironment) -> BootstrapRun:
    command = CommandSpec((os.fspath(path),), environment.folder, environment.variables)
    captured = run_and_capture(command, TimeLimits(MAX_SECONDS), max_bytes=_MAX_OUTPUT)
    problem = describe_failure(captured.result, MAX_SECONDS)
    if captured.result.cause:
        problem = f"was ended after {MAX_SECONDS} seconds"
    return BootstrapRun(bootstrap, clean_output(captured.output), problem)
