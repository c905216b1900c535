"""Prepare the texts for an agent: how often it loads each with its settings and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cub.actions.agent_context import (
    AgentContext,
    ContextSource,
    count_sources_in,
    prevent_repeats,
)
from cub.actions.project_texts import list_project_texts, open_agent_files
from cub.agent_profiles.agent_files import AgentFiles
from cub.harness.base import Harness
from cub.harness.custom_harness import CustomHarness
from cub.harness.native_harness import NativeHarness
from cub.project.agent_reading import find_agent_reading, list_loaded_files
from cub.project.project import Project


def list_agent_sources(
    project: Project,
    harness: Harness,
    version: str,
    environ: Mapping[str, str],
    folder: str = "",
) -> list[ContextSource]:
    """Return the texts, and how often this agent loads each; [] if nothing is known of it.

    Without a HOME in `environ`, the user's settings for all projects don't count. The agent is
    started in a `folder` of the project.
    """
    if not harness.reads:
        return []
    files = _open_files(project, harness, version, environ, folder)
    loads = list_loaded_files(find_agent_reading(harness.reads), files)
    return count_sources_in(list_project_texts(project, folder), loads, files)


def prepare_agent_context(
    project: Project,
    harness: Harness,
    version: str,
    environ: Mapping[str, str],
    checkout: Project | None = None,
) -> AgentContext:
    """Return the texts for an agent in a run, with arguments against loading one twice.

    `checkout` has what the project's clone lacks, such as a map that git ignores.
    """
    if not harness.reads:
        return AgentContext([])
    texts = list_project_texts(project)
    known = {text.path for text in texts}
    texts += [text for text in list_project_texts(checkout or project) if text.path not in known]
    reading = find_agent_reading(harness.reads)
    if not isinstance(harness, NativeHarness):  # it has a command line of its own
        reading = reading._replace(prevent_load=lambda *_: None)
    return prevent_repeats(reading, _open_files(project, harness, version, environ), texts)


def _open_files(
    project: Project, harness: Harness, version: str, environ: Mapping[str, str], folder: str = ""
) -> AgentFiles:
    files = open_agent_files(project, {**environ, **harness.environ}, folder)
    return replace(files, version=split_version(version), arguments=list_arguments(harness))


def list_arguments(harness: Harness) -> tuple[str, ...]:
    """Return the arguments of an agent that may change what it reads."""
    if isinstance(harness, NativeHarness):
        return (*harness.settings_arguments, *harness.options.arguments)
    return harness.argv if isinstance(harness, CustomHarness) else ()


def split_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version that an agent printed; () for ""."""
    return tuple(int(part) for part in version.split(".") if part)
