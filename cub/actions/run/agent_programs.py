"""Find out before a run which agents are installed, in which version, and what is missing."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub import __version__
from cub.actions.agent_readers import describe_cut_sources, describe_repeated_sources
from cub.actions.run.agent_texts import prepare_agent_context
from cub.actions.run.place_choice import is_in_place
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.current_attempt import build_environment
from cub.errors import CubError
from cub.harness.acp_harness import ACP, AcpHarness
from cub.harness.base import Harness
from cub.harness.builtin import BuiltinHarness
from cub.harness.custom_harness import CONFIG_PATH
from cub.harness.native_harness import LaunchObstacle, NativeHarness
from cub.installation import find_installation
from cub.processes.command import explain_missing_program
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.tokens import has_price_table

if TYPE_CHECKING:
    from cub.agent.model_settings import ModelSettings

# Wrappers that start the program after them on this machine, as it would be without them.
_TRANSPARENT_WRAPPERS = (
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "timeout", "caffeinate",
)  # fmt: skip


class MissingProgram(NamedTuple):
    """Say why an agent can't be started, and what to do.

    `key` is the one of the configuration that names the program; "" if `--harness` may as well.
    """

    harness: str
    why: str
    key: str
    hint: str

    def to_text(self) -> str:
        """Say that another agent works instead."""
        return f"the agent {self.harness} is left out: {self.explain()}"

    def explain(self) -> str:
        """Say why, with the key."""
        return f"{self.why} ({self.key})" if self.key else self.why


def require_available(
    harnesses: Sequence[Harness], missing: Sequence[MissingProgram]
) -> list[Harness]:
    """Return the harnesses whose agents can be started. Raises CubError if there are none."""
    names = {program.harness for program in missing}
    if available := [harness for harness in harnesses if harness.name not in names]:
        return available
    first, hint = missing[0], missing[0].hint
    if len(missing) == 1:
        message = f"the agent {first.harness} can't be started: {first.why}"
        raise CubError(message, where=f"{CONFIG_PATH}: {first.key}" * bool(first.key), hint=hint)
    details = [f"{program.harness}: {program.explain()}" for program in missing]
    message = "none of the agents can be started"
    raise CubError(message, where=CONFIG_PATH, hint=hint, details=details)


@dataclass(frozen=True, slots=True)
class RunAgents:
    """Look at agents as a run with these settings starts them in a project.

    `environ` is the run's: agents don't get the variables that the settings hide.
    """

    harnesses: Sequence[Harness]
    settings: RunSettings
    project: Project
    environ: Mapping[str, str]

    def find_missing_programs(self) -> list[MissingProgram]:
        """Return those that can't be started, judged by the first word of their commands."""
        return list(filter(None, map(self._find_missing, self.harnesses)))

    def find_unusable(self, *, asks_server: bool = True) -> list[MissingProgram]:
        """Return those that can't be started, and those that are certain to do nothing.

        With `asks_server`, a model server on this machine has to answer.
        """
        missing = self.find_missing_programs()
        names = {one.harness for one in missing}
        for harness in self.harnesses:
            # A wrapper may be a sandbox with another user and other variables.
            if self.settings.wrapper or harness.name in names:
                continue
            if not isinstance(harness, NativeHarness):
                continue
            if obstacle := self._find_obstacle(harness, asks_server=asks_server):
                missing.append(MissingProgram(harness.name, obstacle.why, "", obstacle.hint))
        return missing

    def describe_model_choice(self) -> str:
        """Return the model that the built-in agent chooses by itself, and why; "" for none."""
        builtin = next((one for one in self.harnesses if isinstance(one, BuiltinHarness)), None)
        try:
            return self._resolve_models(builtin).choice if builtin else ""
        except CubError:  # the run is refused with this error
            return ""

    def list_warnings(self, versions: Mapping[str, str]) -> list[str]:
        """Return what to know of the agents before a run.

        These are old versions, costs that an agent does not report, and files that it reads in
        part.
        """
        warnings: list[str] = []
        for harness in self.harnesses:
            version = versions.get(harness.name, "")
            environ = self._make_environ(harness)
            sources = prepare_agent_context(self.project, harness, version, environ).sources
            warnings += describe_cut_sources(sources, harness.reads)
            warnings += describe_repeated_sources(sources, harness.reads)
            if not isinstance(harness, NativeHarness):
                continue
            facts = harness.facts
            if facts.is_outdated(version):
                warnings.append(
                    f"{facts.title} {version} is older than {facts.oldest_version}, "
                    "the oldest version known to work"
                )
            if self.settings.usd is not None and not facts.reports_cost:
                warnings.append(_warn_of_unknown_cost(facts.title))
        return warnings

    def _make_environ(self, harness: Harness) -> dict[str, str]:
        visible = build_environment(self.settings.hidden_variables, self.environ)
        return {**visible, **harness.environ}

    def _find_missing(self, harness: Harness) -> MissingProgram | None:
        wrapper = self.settings.wrapper
        programs = [("run.wrap", word) for word in wrapper[:1]]
        if not programs or posixpath.basename(wrapper[0]) in _TRANSPARENT_WRAPPERS:
            programs.append((_name_key(harness), harness.facts.program))
        for key, name in programs:
            if name and (why := self._explain_missing(name, self._make_environ(harness))):
                hint = _suggest_fix(why)
                if isinstance(harness, NativeHarness) and name == harness.facts.program:
                    hint = f"install it: `{harness.installation}`"
                return MissingProgram(harness.name, why, key, hint)
        if not isinstance(harness, BuiltinHarness):
            return None
        why = harness.explain_missing(self.settings.model)
        hint = f"run `{harness.installation}`, or install another agent"
        return MissingProgram(harness.name, why, "", hint) if why else None

    def _explain_missing(self, name: str, environ: Mapping[str, str]) -> str:
        """Say why a program can't be started; "" if it can, or is one of another branch."""
        root, is_projects = self.project.root, "/" in name and not name.startswith("/")
        if is_projects and self.settings.branch_template:
            return ""
        why = explain_missing_program(name, root, environ)
        if is_projects and not why and not is_in_place(root, name, self.settings):
            return f"{name} is not in the last commit, so attempts do not have it"
        return why

    def _find_obstacle(self, harness: NativeHarness, *, asks_server: bool) -> LaunchObstacle | None:
        """Return what an agent, or of the built-in one its models, would say at its start."""
        if not isinstance(harness, BuiltinHarness):
            return harness.find_obstacle(self.settings.permissions, self._make_environ(harness))
        from cub.agent.model_settings import load_models, require_model_server

        try:
            models = self._resolve_models(harness)
            load_models(models, self.project.root)
            if asks_server:
                require_model_server(models)
        except CubError as error:
            return LaunchObstacle(error.message, error.hint)
        return None

    def _resolve_models(self, harness: BuiltinHarness) -> ModelSettings:
        from cub.agent.model_settings import resolve_model_settings

        environ = self._make_environ(harness)
        config = resolve_config(self.project, environ).values
        values = {key: row.value for key, row in config.items()}
        values["code.model"] = self.settings.model or harness.options.model or values["code.model"]
        home = Path(name) if (name := environ.get("HOME")) else None
        return resolve_model_settings(values, environ, home)


def _name_key(harness: Harness) -> str:
    """Return the key of the configuration that names an agent's program; "" if none has to."""
    is_acp = isinstance(harness, AcpHarness)
    if isinstance(harness, NativeHarness) or (is_acp and harness.name.startswith(f"{ACP}:")):
        return ""
    return f"harnesses.{harness.name}.{ACP if is_acp else 'argv'}"


def _suggest_fix(why: str) -> str:
    name = why.split(" ", 1)[0]
    if name.startswith("~"):
        return "write the whole path: no shell replaces `~`"
    if why.endswith("is not executable"):
        return f"`chmod +x {name}`"
    if why.endswith("nothing else"):
        return "commit it, or write its whole path"
    return "install it, add its directory to PATH, or choose another agent with --harness"


_VERSION = re.compile(r"\d+(?:\.\d+)+")
_VERSION_SECONDS = 30  # of a busy machine; an unknown version is taken for the newest


def read_agent_versions(
    harnesses: Sequence[Harness], project: Project, environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the version that each agent prints, by name; only those of agents that cub knows.

    The built-in agent has cub's own.
    """
    versions = {
        harness.name: __version__
        if isinstance(harness, BuiltinHarness)
        else _read_version(harness, project, environ)
        for harness in harnesses
        if isinstance(harness, NativeHarness)
    }
    return {name: version for name, version in versions.items() if version}


def _read_version(harness: NativeHarness, project: Project, environ: Mapping[str, str]) -> str:
    """Return what the program calls its version; "" if it names none."""
    try:
        process = subprocess.run(  # noqa: S603 - the agent itself
            [harness.facts.program, "--version"],
            cwd=project.root,
            env={**environ, **harness.environ, **harness.facts.steps.environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _VERSION.search(process.stdout.decode("utf-8", "replace"))
    return match[0] if match else ""


def _warn_of_unknown_cost(title: str) -> str:
    if has_price_table():
        return (
            f"{title} reports no cost: the budget in dollars is kept between attempts only, by "
            "computed prices; `--budget-tokens` can end an attempt"
        )
    return (
        f"{title} reports no cost, so the budget in dollars can't be kept: use `--budget-tokens`, "
        f"or run `{find_installation().suggest_extra('prices')}` to have cub compute the cost "
        "after each attempt"
    )
