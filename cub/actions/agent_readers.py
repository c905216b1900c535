"""Tell which agents load which file of a project by themselves, and who misses a text."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from cub.actions.agent_context import ContextSource, list_loading_agents
from cub.actions.managed_files import CONSTITUTION, MAP
from cub.actions.plan_warnings import ONE_FILE_HINT, UNREAD_HINT
from cub.actions.project_state import ProjectState
from cub.actions.project_texts import SECTION_LABEL, open_agent_files
from cub.actions.section_specs import AGENTS, CLAUDE
from cub.actions.text_matching import contains_text
from cub.agent_profiles.claude import CLAUDE as CLAUDE_PROFILE
from cub.agent_profiles.claude import CLAUDE_READS_AGENTS_SINCE
from cub.agent_profiles.profiles import NAMED_PROFILES, find_profile
from cub.edit.plan import PlanWarning
from cub.files.file_tree import FileTree
from cub.project.agent_reading import find_agent_reading, find_claude_files
from cub.project.project import Project, find_home
from cub.project.targets import is_nested_target, list_reading_agents

_NAMED_TITLES = frozenset(profile.title for profile in NAMED_PROFILES)
_OWN_TEXTS = (CONSTITUTION, MAP)
_SECTION_NAME = "cub's managed section"
_CLAUDE_TITLE = CLAUDE_PROFILE.title


def list_reader_names(state: ProjectState, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the agents that load each of the files at `paths`, the constitution, and the map.

    Of agents that cub has no settings for, it knows only the files that they read by their names.
    """
    names = list_loading_agents(state.project)
    # In a directory, Claude Code reads an AGENTS.md only without a CLAUDE.md.
    is_for_claude = _CLAUDE_TITLE in names[AGENTS] and not find_claude_files(state.tree)
    others: dict[str, tuple[str, ...]] = {}
    for path in paths:
        by_name = list_reading_agents(path) if state.files[path].exists else ()
        others[path] = tuple(title for title in by_name if title not in _NAMED_TITLES)
        if is_nested_target(path):
            is_claudes = bool(by_name) and is_for_claude and posixpath.basename(path) == AGENTS
            names[path] = (_CLAUDE_TITLE,) * is_claudes
            others[path] = by_name
    inlined = {CONSTITUTION: state.available.constitution_text, MAP: state.available.map_text}
    others |= {path: others.get(AGENTS, ()) for path, text in inlined.items() if text}
    return {path: (*names.get(path, ()), *others.get(path, ())) for path in (*paths, *inlined)}


def warn_missed_texts(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield the user's texts that agents do not load because of another file."""
    agents, claude = state.files[AGENTS], state.files[CLAUDE]
    readers = list_loading_agents(state.project)
    is_missed = bool(agents.user_bytes) and _CLAUDE_TITLE not in readers[AGENTS]
    if is_missed and not contains_text(claude.user_bytes, agents.user_bytes):
        yield _warn_hidden_text(state.tree)
    spec = state.specs.get(AGENTS)
    is_own = bool(claude.user_bytes) and not contains_text(agents.user_bytes, claude.user_bytes)
    if is_own and agents.is_present and (is_missed or (spec and spec.read_first)):
        verb = "reads" if len(readers[CLAUDE]) == 1 else "read"
        names = " and ".join(readers[CLAUDE])
        message = f"only {names} {verb} this file, because there is an AGENTS.md"
        hint = "move what all agents should know to AGENTS.md, and import it here: `@AGENTS.md`"
        yield PlanWarning(message, CLAUDE, hint=hint if agents.user_bytes else ONE_FILE_HINT)


def _warn_hidden_text(tree: FileTree) -> PlanWarning:
    hiding = find_claude_files(tree)
    if hiding:
        message = f"{_CLAUDE_TITLE} does not read this file, because there is a {hiding[0]}"
        return PlanWarning(message, AGENTS, hint=_suggest_import(hiding[0]))
    message = f"{_CLAUDE_TITLE} does not read this file, because a parent directory has one"
    return PlanWarning(message, AGENTS, hint="run `cub init` to create a CLAUDE.md that imports it")


def _suggest_import(path: str) -> str:
    line = posixpath.relpath(AGENTS, posixpath.dirname(path) or ".")
    return f"add the line `@{line}` to {path}"


def suggest_reading_fix(
    project: Project, agent: str, sources: Sequence[ContextSource], version: tuple[int, ...] = ()
) -> str:
    """Return what lets one of cub's own agents load each text once; "" if nothing is needed.

    `sources` are those of the agent, in this `version`; an empty one is the newest.
    """
    faulty = [source for source in sources if source.missing or source.times > 1]
    if not faulty:
        return ""
    if any(source.is_cut for source in faulty):
        return UNREAD_HINT
    users = [one for one in faulty if one.label != SECTION_LABEL and one.path not in _OWN_TEXTS]
    if users == faulty and all(source.times > 1 for source in faulty):
        return _suggest_removal(faulty[0])
    if agent == "claude" and (fix := _suggest_settings_fix(project, faulty)):
        return fix
    # No command changes who reads rules, imported files, and the file of another agent.
    known = (AGENTS, CLAUDE, *_OWN_TEXTS)
    faulty = [one for one in faulty if one.label == SECTION_LABEL or one.path in known]
    return _suggest_command(project, agent, sources, faulty, version) if faulty else ""


def _suggest_settings_fix(project: Project, faulty: Sequence[ContextSource]) -> str:
    """Return what lets Claude Code read a file that its settings exclude, or import from a link."""
    home = find_home()
    files = open_agent_files(project, {"HOME": home.as_posix()} if home else {})
    is_loaded = find_agent_reading(CLAUDE_PROFILE.name).make_filter(files)
    paths = {name: f"{files.root}/{name}" for name in (CLAUDE, AGENTS)}
    present = {name: path for name, path in paths.items() if files.read(path)}
    if names := [name for name, path in present.items() if not is_loaded(path)]:
        return f"remove {' and '.join(names)} from `claudeMdExcludes` in Claude Code's settings"
    for name, path in present.items():
        target = files.resolve(path)
        is_moved = posixpath.dirname(target) != files.root
        if is_moved and any(one.path in _OWN_TEXTS for one in faulty):
            return f"replace the link {name} with {files.shorten(target)}, so imports are found"
    return ""


def _suggest_command(
    project: Project,
    agent: str,
    sources: Sequence[ContextSource],
    faulty: Sequence[ContextSource],
    version: tuple[int, ...],
) -> str:
    is_claude, hiding = agent == "claude", find_claude_files(project.tree)
    # A text of the user that `init` leaves where it is.
    hidden = AGENTS if is_claude and hiding else CLAUDE
    has_section = any(source.label == SECTION_LABEL for source in sources)
    others = [s for s in faulty if s.path != hidden or s.label == SECTION_LABEL]
    if others and is_claude and () < version < CLAUDE_READS_AGENTS_SINCE:
        return f"cub init --targets {','.join(dict.fromkeys((*project.config.targets, CLAUDE)))}"
    if others or not (has_section or is_claude):
        return f"cub init --agent {agent}"
    if is_claude:
        return _suggest_import(hiding[0]) if hiding else ""
    has_own_text = any(s.path == AGENTS and s.label != SECTION_LABEL for s in sources)
    move = f"move the text for this agent from {CLAUDE} to {AGENTS}"
    return move if has_own_text else ONE_FILE_HINT


def describe_cut_sources(sources: Sequence[ContextSource], agent: str) -> Iterator[str]:
    """Yield a sentence for each file that the agent of a run does not load to its end."""
    for path in dict.fromkeys(source.path for source in sources if source.is_cut):
        title = find_profile(agent).title
        message = f"{title} does not read {path} to its end, and no AGENTS.md in a subdirectory"
        yield f"{message}: the run adds the rest of {path} to the prompt; {UNREAD_HINT}"


def describe_repeated_sources(sources: Sequence[ContextSource], agent: str) -> Iterator[str]:
    """Yield a sentence for each text that the agent loads more than once, whatever cub does."""
    for source in sources:
        if source.times > 1:
            name = _SECTION_NAME if source.label == SECTION_LABEL else source.path
            names = dict.fromkeys(source.loaded_from)
            title = find_profile(agent).title
            fix = _suggest_removal(source)
            yield f"{title} loads {name} {source.times} times, from {' and '.join(names)}: {fix}"


def _suggest_removal(source: ContextSource) -> str:
    names = list(dict.fromkeys(source.loaded_from))
    if len(names) < 2:
        return f"import {names[0]} once"
    name = _SECTION_NAME if source.label == SECTION_LABEL else f"the text of {source.path}"
    return f"remove {name} from {names[-1] if names[0] == source.path else names[0]}"
