"""Prove what an agent reads in a project: start it against a model server, and look at what came.

It is started twice: as a person would use it, and as `cub run` does. Settings that the user has for
all projects are not used.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cub.actions.agent_context import render_missing_context
from cub.actions.agents.agent_survey import InstalledAgent
from cub.actions.agents.marked_project import mark_project
from cub.actions.agents.project_copy import ProjectCopy, copy_project, list_user_settings
from cub.actions.agents.recorded_start import AgentLaunch, RecordedStart, record_starts
from cub.actions.agents.session_moments import PROMPT, Moment, find_obstacle, list_later_prompts
from cub.actions.agents.text_marks import Arrival, Marks, count_arrivals
from cub.actions.build_prompt import read_system_prompt
from cub.actions.project_texts import ProjectText, list_project_texts
from cub.actions.run.agent_texts import prepare_agent_context
from cub.actions.run.run_folders import PROMPT_FILE, SYSTEM_FILE
from cub.agent_profiles.profiles import find_profile
from cub.errors import CubError
from cub.harness.base import LaunchRequest
from cub.harness.native_harness import NativeHarness, NativeOptions
from cub.project.executable_config import list_config_commands
from cub.project.project import Project
from cub.project.trust_store import TrustedCommands
from cub.tokens import estimate_tokens

CONTRACT_LABEL, PROMPT_LABEL = "rules of a run", "task prompt"
_MODES = ("interactive", "run")
_MISSED = {
    "": "it sent no request with the prompt to a model",
    "resume": "it did not resume its session",
    "compaction": "it did not compact its session",
    "subagent": "it did not start a subagent",
}
# What changes the reading, and runs nothing: an option with its value.
_READING_ARGUMENTS = re.compile(
    r"--bare|--ignore-user-config|--no-context-files|-nc|(?:--setting-sources|--read)[= ].*"
    r"|(?:-c|--config)[= ]project_(?:doc_\w+|root_markers)=.*",
    re.DOTALL,
)


class SourceProof(NamedTuple):
    """Say how often a text reached the model: in interactive use, and in `cub run`.

    `interactive` is None for a prompt of a run; other values are None if that is not known, as the
    text can't be told from others. `is_promised`: `cub run` hands it over if the agent does not
    load it.
    """

    label: str
    path: str
    tokens: int
    interactive: Arrival | None
    run: Arrival | None
    is_promised: bool = True

    @property
    def is_kept(self) -> bool:
        """Return whether the text arrived in full, and once, in `cub run`; others at most once."""
        if self.run is None or self.run.is_cut:
            return False
        return self.run.times == 1 or (self.run.times == 0 and not self.is_promised)


@dataclass(frozen=True, slots=True)
class AgentProof:
    """Hold what was seen of an agent; a `problem` is why it sent nothing to a model.

    `left_out` are files and arguments of the project that it did not get, as they run something.
    `unread` are files with instructions that it did not read, and no run hands over. `unused` are
    the user's own files and variables that it was started without. `after` is the moment of a
    session that it is brought to; `is_tested` is False if cub can't do that.
    """

    name: str
    title: str
    version: str
    sources: Sequence[SourceProof] = ()
    is_offline: bool = False
    left_out: Sequence[str] = ()
    unread: Sequence[str] = ()
    unused: Sequence[str] = ()
    problem: str = ""
    after: Moment = ""
    is_tested: bool = True

    @property
    def is_kept(self) -> bool:
        """Return whether nothing is wrong: each promised text arrived in full, and once."""
        is_right = not self.problem and all(one.is_kept for one in self.sources)
        return is_right or not self.is_tested


def prove_agent(
    agent: InstalledAgent,
    project: Project,
    environ: Mapping[str, str],
    *,
    trusted: TrustedCommands | None,
    folder: str = "",
    after: Moment = "",
) -> AgentProof:
    """Return what reaches the model; nothing in the project is changed.

    `trusted`: what the project may have agents execute; None for all. In interactive use, the agent
    is started in a folder of the project; a run is always at the root. `after`: what reaches the
    model first after a moment of a session.
    """
    empty = AgentProof(agent.name, agent.title, agent.version, after=after)
    if agent.problem:
        return replace(empty, version="", problem=agent.problem)
    if obstacle := find_obstacle(find_profile(agent.name), after):
        return replace(empty, problem=obstacle, is_tested=False)
    asked = _Asked(trusted, folder, after)
    try:
        with tempfile.TemporaryDirectory(prefix="cub-proof-", ignore_cleanup_errors=True) as name:
            base = Path(os.path.realpath(name))
            prepared, starts = _record(agent, project, environ, base, asked)
    except CubError as error:
        return replace(empty, problem=error.message)
    unused = list_user_settings(agent.name, environ)
    return _compare(replace(empty, unused=unused, left_out=prepared.left_out), prepared, starts)


class _Asked(NamedTuple):
    trusted: TrustedCommands | None
    folder: str
    after: Moment


class _Prepared(NamedTuple):
    """Hold the marked texts, how to start the agent with them, and what it does not get."""

    texts: list[tuple[ProjectText, Marks]]
    launches: list[AgentLaunch]
    left_out: tuple[str, ...]


def _record(
    agent: InstalledAgent,
    project: Project,
    environ: Mapping[str, str],
    base: Path,
    asked: _Asked,
) -> tuple[_Prepared, list[RecordedStart]]:
    """Start the agent in two copies of the project, below the empty folder `base`."""
    home = Path(environ["HOME"]) if environ.get("HOME") else None
    folders = (base / mode / "copy" for mode in _MODES)
    copies = [copy_project(project.root, one, home, asked.trusted) for one in folders]
    options, dropped = _choose_options(agent, project, asked.trusted)
    harnesses = [_make_harness(agent, options, project.root, one.root) for one in copies]
    prepared = _prepare(harnesses, agent.version, project, copies, asked.folder)
    sessions = [
        _continue(harness, launch, base / mode, asked.after)
        for harness, launch, mode in zip(harnesses, prepared.launches, _MODES, strict=True)
    ]
    path = environ.get("PATH", os.defpath)
    starts = record_starts(agent.name, sessions, base / "home", path, after=asked.after)
    return prepared._replace(left_out=(*dropped, *prepared.left_out)), starts


def _prepare(
    harnesses: Sequence[NativeHarness],
    version: str,
    project: Project,
    copies: Sequence[ProjectCopy],
    folder: str,
) -> _Prepared:
    """Mark the texts in the copies of a project; return how the agent is started in them."""
    first = Project.load(copies[0].root)
    prompts = {CONTRACT_LABEL: read_system_prompt(first.tree), PROMPT_LABEL: PROMPT}
    marked = mark_project(first, copies[0].base, copies[0].files, prompts)
    for copy in copies:
        for path, data in marked.files.items():
            (copy.base / path.relative_to(copies[0].base).as_posix()).write_bytes(data)
    known = {text.label for text, _ in marked.texts}
    lost: list[tuple[ProjectText, Marks]] = [
        (text, ()) for text in list_project_texts(project) if text.label not in known
    ]
    context = prepare_agent_context(Project.load(copies[1].root), harnesses[1], version, {})
    contract, prompt = (marked.prompts[label] for label in (CONTRACT_LABEL, PROMPT_LABEL))
    handover = "\n".join(filter(None, [contract, render_missing_context(context.sources)]))
    alone = _make_request(prompt, copies[0].base.parent)
    run = _make_request(prompt, copies[1].base.parent)
    run = run._replace(system_prompt=handover, arguments=context.arguments)
    launches = [
        _make_launch(harnesses[0], alone, copies[0].root / folder),
        _make_launch(harnesses[1], run, copies[1].root),
    ]
    return _Prepared([*marked.texts, *lost], launches, copies[0].left_out)


def _choose_options(
    agent: InstalledAgent, project: Project, trusted: TrustedCommands | None
) -> tuple[NativeOptions, tuple[str, ...]]:
    """Return what of the agent's configuration applies, and the names of what does not."""
    assert isinstance(agent.harness, NativeHarness)
    options, commands = agent.harness.options, list_config_commands(project.config_data)
    if trusted is None or trusted.allows(commands):
        return NativeOptions(options.arguments, options.environ), ()
    groups: list[list[str]] = []
    for word in options.arguments:
        if word.startswith("-") or not groups:
            groups.append([])
        groups[-1].append(word)
    kept = [group for group in groups if _READING_ARGUMENTS.fullmatch(" ".join(group))]
    dropped = (" ".join(group) for group in groups if group not in kept)
    variables = (f"${name}" for name in options.environ)
    return NativeOptions(tuple(chain(*kept))), (*dropped, *variables)


def _make_harness(
    agent: InstalledAgent, options: NativeOptions, root: Path, copied: Path
) -> NativeHarness:
    """Return the agent's harness for a copy of the project, to whose files its arguments lead."""
    assert isinstance(agent.harness, NativeHarness)
    pattern = re.compile(rf"{re.escape(root.as_posix())}(?![\w.-])")
    words = tuple(pattern.sub(lambda _: copied.as_posix(), word) for word in options.arguments)
    return type(agent.harness)(options._replace(arguments=words))


def _make_request(prompt: str, folder: Path) -> LaunchRequest:
    return LaunchRequest(prompt, "", folder, folder, "proof", 1, None, "auto")


def _make_launch(harness: NativeHarness, request: LaunchRequest, root: Path) -> AgentLaunch:
    (request.folder / SYSTEM_FILE).write_text(request.system_prompt, encoding="utf-8")
    (request.folder / PROMPT_FILE).write_text(request.prompt, encoding="utf-8")
    command = harness.build_command(request)
    command.write_files(request.scratch)
    stdin = command.stdin.decode("utf-8", "replace")
    return AgentLaunch(command.argv, stdin, command.environ, root.as_posix())


def _continue(
    harness: NativeHarness, first: AgentLaunch, base: Path, after: Moment
) -> list[AgentLaunch]:
    """Return a session: the user continues also that of a run with the agent's own command."""
    launches = [first]
    for prompt in list_later_prompts(harness.facts, after):
        folder = base / f"resumed{len(launches)}"
        folder.mkdir()
        launch = _make_launch(harness, _make_request(prompt, folder), Path(first.folder))
        at = len(launch.argv) - (launch.argv[-1] == "-")  # stdin
        words = harness.facts.steps.resume
        argv = (*launch.argv[:at], *words, *launch.argv[at:])
        launches.append(launch._replace(argv=argv, stdin=prompt))  # which may be a command
    return launches


def _compare(empty: AgentProof, prepared: _Prepared, starts: Sequence[RecordedStart]) -> AgentProof:
    """Return the proof with how often each text arrived, or why that is not known."""
    marks = [marks for _, marks in prepared.texts]
    counts = [count_arrivals(marks, start.texts) for start in starts]
    seen = [
        SourceProof(
            text.label,
            text.path,
            estimate_tokens(text.variants[0]),
            alone if text.path else None,  # the prompts belong to a run
            arrived,
            # After a moment, a summary may do without the prompts.
            text.is_promised and bool(text.path or not empty.after),
        )
        for (text, _), alone, arrived in zip(prepared.texts, *counts, strict=True)
    ]
    silent = (_describe_silence(start, empty.after) for start in starts if not start.texts)
    return replace(
        empty,
        sources=[one for one in seen if _is_shown(one)],
        is_offline=all(start.is_offline for start in starts),
        unread=[one.label for one in seen if not _is_shown(one)],
        problem=next(silent, ""),
    )


def _is_shown(proof: SourceProof) -> bool:
    """Return whether a text counts: others are shown only if they arrived somewhere."""
    seen = (proof.interactive, proof.run)
    return proof.is_promised or not proof.path or any(one is not None and one.times for one in seen)


def _describe_silence(start: RecordedStart, after: Moment) -> str:
    if start.has_asked:
        return _MISSED[after]
    lines = [line.strip() for line in start.output.splitlines() if line.strip()]
    return f"it sent no request to a model{f': {lines[-1]}' if lines else ', and printed nothing'}"
