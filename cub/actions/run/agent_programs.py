"""Find out before a run which agents are installed, and say what to do about a missing one."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cub.actions.run.agent_process import build_environment
from cub.actions.run.run_options import RunSettings
from cub.errors import CubError
from cub.git.process import try_git
from cub.harness.base import Harness
from cub.harness.custom_harness import CONFIG_PATH
from cub.processes.command import explain_missing_program
from cub.project.project import Project

# Wrappers that start the program after them on this machine, as it would be without them.
_TRANSPARENT_WRAPPERS = (
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "timeout", "caffeinate",
)  # fmt: skip


class MissingProgram(NamedTuple):
    """Say why an agent can't be started, and which key names the program."""

    harness: str
    why: str
    key: str

    def to_text(self) -> str:
        """Say that another agent works instead."""
        return f"the agent {self.harness} is left out: {self.why} ({self.key})"


def find_missing_programs(
    harnesses: Sequence[Harness],
    settings: RunSettings,
    project: Project,
    environ: Mapping[str, str],
) -> list[MissingProgram]:
    """Return the agents that can't be started, judged by the first word of their commands."""
    environ = build_environment(settings.hidden_variables, environ)
    programs = (
        _find_missing(harness, settings, project, {**environ, **harness.environ})
        for harness in harnesses
    )
    return list(filter(None, programs))


def require_available(
    harnesses: Sequence[Harness], missing: Sequence[MissingProgram]
) -> list[Harness]:
    """Return the harnesses whose agents can be started. Raises CubError if there are none."""
    names = {program.harness for program in missing}
    if available := [harness for harness in harnesses if harness.name not in names]:
        return available
    first, hint = missing[0], _suggest_fix(missing[0])
    if len(missing) == 1:
        message = f"the agent {first.harness} can't be started: {first.why}"
        raise CubError(message, where=f"{CONFIG_PATH}: {first.key}", hint=hint)
    details = [f"{program.harness}: {program.why} ({program.key})" for program in missing]
    message = "none of the agents can be started"
    raise CubError(message, where=CONFIG_PATH, hint=hint, details=details)


def _find_missing(
    harness: Harness, settings: RunSettings, project: Project, environ: Mapping[str, str]
) -> MissingProgram | None:
    programs = [("run.wrap", word) for word in settings.wrapper[:1]]
    if not programs or posixpath.basename(settings.wrapper[0]) in _TRANSPARENT_WRAPPERS:
        programs.append((f"harnesses.{harness.name}.argv", harness.program))
    for key, name in programs:
        if name and (why := _explain_missing(name, settings, project, environ)):
            return MissingProgram(harness.name, why, key)
    return None


def _explain_missing(
    name: str, settings: RunSettings, project: Project, environ: Mapping[str, str]
) -> str:
    """Say why a program can't be started; "" if it can.

    A linked worktree has only what is committed. What another branch has is not looked up.
    """
    if not (settings.options.worktree and "/" in name and not name.startswith("/")):
        return explain_missing_program(name, project.root, environ)
    if settings.branch_template:
        return ""
    answer = try_git(project.root, "ls-tree", "HEAD", "--", posixpath.normpath(name))
    if answer.exit_code == 0 and not answer.stdout:
        return f"{name} is not in the last commit, and a work tree has nothing else"
    return ""


def _suggest_fix(missing: MissingProgram) -> str:
    name = missing.why.split(" ", 1)[0]
    if name.startswith("~"):
        return "write the whole path: no shell replaces `~`"
    if missing.why.endswith("is not executable"):
        return f"`chmod +x {name}`"
    if missing.why.endswith("nothing else"):
        return "commit it, or write its whole path"
    return "install it, add its folder to PATH, or name another agent with --harness"
