"""Prove what an agent reads in a project: start it against a model server, and look at what came.

It is started twice: as a person would use it, and as `cub run` does. Settings that the user has for
all projects are not used.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.actions.agent_context import (
    ContextSource,
    list_context_sources,
    render_missing_context,
)
from cub.actions.agents.agent_survey import InstalledAgent
from cub.actions.agents.arrival import Arrival, count_sources
from cub.actions.agents.project_copy import copy_project
from cub.actions.agents.recorded_start import AgentLaunch, RecordedStart, record_starts
from cub.actions.build_prompt import read_system_prompt
from cub.actions.run.agent_texts import list_agent_sources
from cub.actions.run.run_folders import PROMPT_FILE, SYSTEM_FILE
from cub.errors import CubError
from cub.harness.base import LaunchRequest
from cub.harness.native_harness import NativeHarness, NativeOptions
from cub.project.executable_config import list_config_commands
from cub.project.project import Project
from cub.project.trust_store import digest_commands, load_trust
from cub.store.store_paths import find_store_root
from cub.tokens import estimate_tokens

CONTRACT_LABEL, PROMPT_LABEL = "rules of a run", "task prompt"
_PROMPT = "This is a test of what reaches the model. Reply with the word Done, and use no tools.\n"


class SourceProof(NamedTuple):
    """Say how often a text reached the model: in interactive use, and in `cub run`.

    None where it does not belong there, or has no line of its own to be known by.
    """

    label: str
    path: str
    tokens: int
    interactive: Arrival | None
    run: Arrival | None


@dataclass(frozen=True, slots=True)
class AgentProof:
    """Hold what was seen of an agent; a `problem` is why it sent nothing to a model.

    `left_out` are files of the project that it did not get, as they run something.
    """

    name: str
    title: str
    version: str
    sources: Sequence[SourceProof] = ()
    is_offline: bool = False
    left_out: Sequence[str] = ()
    problem: str = ""

    @property
    def is_kept(self) -> bool:
        """Return whether each text that `cub run` promises arrived in full, and once."""
        return not self.problem and all(one.run is None or one.run.is_once for one in self.sources)


def is_trusted(project: Project) -> bool:
    """Return whether the user has agreed to what the project runs; False if it names nothing."""
    config = list_config_commands(project.config_data)
    trusted = load_trust(find_store_root(project.root)).config
    return bool(config) and trusted == digest_commands(config)


def prove_agent(
    agent: InstalledAgent, project: Project, environ: Mapping[str, str], *, is_trusted: bool
) -> AgentProof:
    """Return what reaches the model; nothing in the project is changed.

    `is_trusted`: what the project has agents execute may run.
    """
    if agent.problem:
        return AgentProof(agent.name, agent.title, "", problem=agent.problem)
    home = environ.get("HOME")
    with tempfile.TemporaryDirectory(prefix="cub-proof-", ignore_cleanup_errors=True) as name:
        base = Path(os.path.realpath(name))
        user_folder = Path(home) if home else None
        copy = copy_project(project.root, base / "copy", user_folder, is_trusted=is_trusted)
        inner = Project.load(copy.root)
        launches, contract = _prepare_launches(agent, inner, base, is_trusted=is_trusted)
        folder = base / "home"
        folder.mkdir()
        path = environ.get("PATH", os.defpath)
        try:
            starts = record_starts(agent.name, launches, copy.root, folder, path)
        except CubError as error:
            return AgentProof(agent.name, agent.title, agent.version, problem=error.message)
        sources = list_context_sources(inner, "nothing")
    own = ((CONTRACT_LABEL, contract), (PROMPT_LABEL, _PROMPT))
    sources += [ContextSource(label, "", text, 0, text) for label, text in own]
    return AgentProof(
        agent.name,
        agent.title,
        agent.version,
        tuple(_compare(sources, starts)),
        all(start.is_offline for start in starts),
        copy.left_out,
        next((_describe_silence(start) for start in starts if not start.texts), ""),
    )


def _prepare_launches(
    agent: InstalledAgent, project: Project, base: Path, *, is_trusted: bool
) -> tuple[list[AgentLaunch], str]:
    """Return the launches for interactive use and for a run, and the rules of a run."""
    harness = agent.harness
    assert isinstance(harness, NativeHarness)
    options = harness.options if is_trusted else NativeOptions()
    # The model and the settings are those of the model server.
    harness = type(harness)(NativeOptions(options.arguments, options.environ))
    loaded = list_agent_sources(project, harness, agent.version, {})
    contract = read_system_prompt(project.tree)
    handover = "\n".join(filter(None, [contract, render_missing_context(loaded)]))
    launches = []
    for mode, system_prompt in (("interactive", ""), ("run", handover)):
        folder = base / mode
        folder.mkdir()
        (folder / SYSTEM_FILE).write_text(system_prompt, encoding="utf-8")
        (folder / PROMPT_FILE).write_text(_PROMPT, encoding="utf-8")
        request = LaunchRequest(_PROMPT, system_prompt, folder, "proof", 1, None, "auto")
        argv, stdin, environ = harness.build_command(request)
        launches.append(AgentLaunch(argv, stdin.decode("utf-8", "replace"), environ))
    return launches, contract


def _compare(
    sources: Sequence[ContextSource], starts: Sequence[RecordedStart]
) -> Iterator[SourceProof]:
    interactive, run = (count_sources(sources, start.texts) for start in starts)
    for source, seen, arrived in zip(sources, interactive, run, strict=True):
        tokens = estimate_tokens(source.text)
        seen_alone = seen if source.path else None  # the prompts belong to a run
        yield SourceProof(source.label, source.path, tokens, seen_alone, arrived)


def _describe_silence(start: RecordedStart) -> str:
    lines = [line.strip() for line in start.output.splitlines() if line.strip()]
    return (
        f"it sent no request to a model: {lines[-1]}"
        if lines
        else "it sent no request to a model, and printed nothing"
    )
