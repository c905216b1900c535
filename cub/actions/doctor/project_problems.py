"""Run all checks of `cub doctor` on a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cub.actions.doctor.findings import Finding, sort_findings
from cub.errors import CubError
from cub.project.project import Project


def diagnose(root: Path, environ: Mapping[str, str], home: Path | None) -> list[Finding]:
    """Return the problems of the project at `root`, also if its configuration can't be read."""
    try:
        project = Project.load(root)
    except CubError as error:
        return [Finding.from_error("D501", error)]
    return find_problems(project, environ, home)


def find_problems(
    project: Project,
    environ: Mapping[str, str],
    home: Path | None,  # noqa: ARG001 - not read yet
) -> list[Finding]:
    """Return all problems of a project, errors first; nothing is written, no agent is started.

    `home` is the user's home directory; None if there is none.
    """
    from cub.actions.doctor.git_problems import find_git_problems
    from cub.actions.run.run_options import RunOptions, resolve_settings
    from cub.project.config_layers import resolve_config

    settings = resolve_settings(resolve_config(project, environ).values, RunOptions())
    return sort_findings(find_git_problems(project.root, settings, environ))
