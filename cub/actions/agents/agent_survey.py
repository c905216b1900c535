"""List the agents that cub can drive: which are installed, and what each reads in a project."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from cub.actions.agent_context import ContextSource, count_sources_in
from cub.actions.agent_readers import suggest_reading_fix
from cub.actions.command_options import RunOptions
from cub.actions.context_scripts import make_text_reader
from cub.actions.project_texts import list_project_texts, open_agent_files
from cub.actions.run.agent_programs import RunAgents, read_agent_versions
from cub.actions.run.agent_texts import list_agent_sources, split_version
from cub.actions.run.run_options import resolve_settings
from cub.actions.tasks.current_attempt import build_environment
from cub.agent.memory import load_memory
from cub.agent_profiles.agent_files import LoadedFile
from cub.errors import UsageError
from cub.harness.base import Harness
from cub.harness.builtin import BuiltinHarness
from cub.harness.harness_registry import KNOWN_HARNESSES, load_harnesses
from cub.harness.native_harness import NativeHarness
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.text import suggest_known

_HEAD = 1_000  # characters


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """Hold an agent, why its program can't be started, and its version; "" if not known."""

    harness: Harness
    problem: str
    version: str

    @property
    def name(self) -> str:
        """Return the name to type."""
        return self.harness.name

    @property
    def title(self) -> str:
        """Return the name to show."""
        return self.harness.facts.title


@dataclass(frozen=True, slots=True)
class AgentOverview:
    """Hold an agent, and the project's texts with how often it loads each by itself.

    `fix` is what lets it load each text once; "" if it does, or nothing is known to help.
    """

    agent: InstalledAgent
    sources: Sequence[ContextSource]
    fix: str = ""

    @property
    def tokens(self) -> int:
        """Return what it costs the agent to read what it loads."""
        return sum(source.times * source.tokens for source in self.sources)


def list_agents(
    project: Project, environ: Mapping[str, str], asked: Collection[str] = ()
) -> list[InstalledAgent]:
    """Return cub's own agents and those of the configuration, installed or not.

    The versions of all are looked up, or only of those with the names that are `asked` for.
    """
    settings = resolve_settings(resolve_config(project, environ).values, RunOptions())
    names = [kind.facts.name for kind in KNOWN_HARNESSES]
    names += [name for name in settings.harness_configs if name not in names]
    harnesses = load_harnesses(names, settings.harness_configs, project.root, environ).harnesses

    visible = build_environment(settings.hidden_variables, environ)

    def look_up(harness: Harness) -> InstalledAgent:
        missing = RunAgents([harness], settings, project, environ).find_missing_programs()
        is_read = not missing and (not asked or harness.name in asked)
        versions = read_agent_versions([harness], project, visible) if is_read else {}
        problem = missing[0].why if missing else ""
        return InstalledAgent(harness, problem, versions.get(harness.name, ""))

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each version takes a process
        return list(pool.map(look_up, harnesses))


def survey_agents(
    project: Project, environ: Mapping[str, str], folder: str = ""
) -> list[AgentOverview]:
    """Return each agent with what it reads here, with the user's settings for all projects.

    The agents are started in a `folder` of the project.
    """
    agents = list_agents(project, environ)
    return [make_overview(agent, project, environ, folder) for agent in agents]


def make_overview(
    agent: InstalledAgent, project: Project, environ: Mapping[str, str], folder: str = ""
) -> AgentOverview:
    """Return an agent with what it reads here, with the user's settings if there is a HOME.

    It is started in a `folder` of the project.
    """
    harness = agent.harness
    if isinstance(harness, BuiltinHarness):
        return AgentOverview(agent, _count_own_sources(project, folder))
    sources = list_agent_sources(project, harness, agent.version, environ, folder)
    if not isinstance(harness, NativeHarness):
        return AgentOverview(agent, sources)
    if harness.options.arguments:
        plain = replace(harness, options=harness.options._replace(arguments=()))
        others = list_agent_sources(project, plain, agent.version, environ, folder)
        if sum(one.times for one in others) > sum(one.times for one in sources):
            fix = f"change `harnesses.{agent.name}.args`: they keep it from loading files"
            return AgentOverview(agent, sources, fix)
    own = [source for source in sources if not folder or not source.path.startswith(f"{folder}/")]
    fix = suggest_reading_fix(project, agent.name, own, split_version(agent.version))
    return AgentOverview(agent, sources, fix)


def _count_own_sources(project: Project, folder: str) -> list[ContextSource]:
    """Return the project's texts with how often each is in the built-in agent's memory."""
    reader = make_text_reader(project, project.root / folder)
    text = load_memory(reader).instructions
    files = open_agent_files(project, {}, folder)
    loads = [LoadedFile("", data=text.encode())]
    sources = count_sources_in(list_project_texts(project, folder), loads, files)
    return [
        # It reads only the beginning of a long file.
        replace(one, times=1, is_cut=True)
        if not one.times and one.text[:_HEAD].strip() in text
        else one
        for one in sources
    ]


def choose_agents(agents: Sequence[InstalledAgent], names: Sequence[str]) -> list[InstalledAgent]:
    """Return the agents with these names; without names, all of cub's own that are installed.

    Raises UsageError for a name of none, or of one that cub can't point at a model server, and if
    no agent is installed.
    """
    own = {one.name: one for one in agents if isinstance(one.harness, NativeHarness)}
    for name in names:
        if name not in own:
            is_configured = any(agent.name == name for agent in agents)
            message = f"cannot record what the agent {name!r} reads"
            raise UsageError(
                message if is_configured else f"unknown agent {name!r}",
                hint=suggest_known(name, own),
            )
    chosen = [own[name] for name in names] or [one for one in own.values() if not one.problem]
    if not chosen:
        raise UsageError("no agent is installed", hint="run `cub agents` to see how to install one")
    return chosen
