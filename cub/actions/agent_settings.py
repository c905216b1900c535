"""Plan the settings with which more agents read the instructions; only if the user asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from cub.actions.managed_files import CONSTITUTION, MAP
from cub.actions.project_state import ProjectState
from cub.actions.section_specs import AGENTS, CLAUDE
from cub.config_edit.string_list import edit_string_list, read_string_list
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files import FileTree
from cub.project.agent_settings import (
    AGENT_SETTINGS,
    AgentSettings,
    RequiredFiles,
    find_agent_settings,
)
from cub.project.instruction_files import InstructionFile
from cub.project.targets import GEMINI_MD, normalize_target


def plan_agent_settings(state: ProjectState, agents: Sequence[str]) -> Plan:
    """Plan an edit for each settings file that lacks something; raise all faults at once."""
    edits, faults = [], []
    for name in dict.fromkeys(agents):
        try:
            edits += _plan_edit(state, find_agent_settings(name))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return Plan(tuple(edits))


def warn_dangling_settings(tree: FileTree, gone: Collection[str]) -> Iterator[PlanWarning]:
    """Warn of settings that name files which are `gone`; settings are the user's, and stay."""
    for agent in AGENT_SETTINGS:
        location = agent.locate(tree)
        try:
            data = tree.read(location.path)
            listed = read_string_list(data, location) or () if data else ()
        except CubError:
            continue
        for name in listed:
            if normalize_target(name) in gone:
                hint = f"take it out of `{location.dotted_key}`, or write a new {name}"
                message = f"this still names {name}, which will be gone"
                yield PlanWarning(message, location.path, hint=hint)


def _plan_edit(state: ProjectState, agent: AgentSettings) -> list[FileEdit]:
    location = agent.locate(state.tree)
    before = state.tree.read(location.path)
    data = agent.new_file if before is None else before
    required = agent.select_files(_find_required_files(state))
    after = edit_string_list(data, location, required, default=agent.default)
    if after == data:
        return []
    listed = {normalize_target(text) for text in read_string_list(data, location) or ()}
    added = ", ".join(path for path in required if path not in listed)
    path = state.tree.resolve_path(location.path)
    return [FileEdit(path, before, after, f"let {agent.title} read {added}")]


def _find_required_files(state: ProjectState) -> RequiredFiles:
    paths = [path for path in (AGENTS, CLAUDE) if path in state.specs]
    paths = paths or [path for path in (AGENTS, CLAUDE) if state.files[path].exists]
    entry, available = tuple(_find_open_name(state, path) for path in paths[:1]), state.available
    in_own_file = {  # in a file of its own, and not in the section itself
        CONSTITUTION: available.constitution and not available.constitution_text,
        MAP: available.map and not available.map_text,
    }
    references = tuple(path for path in in_own_file if in_own_file[path])
    gemini, whole = state.files[GEMINI_MD.path], _list_redirect_files(state) or entry
    is_imported = any(_is_imported(gemini, state.files[path]) for path in paths[:1])
    return RequiredFiles(() if is_imported else entry, whole, references)


def _find_open_name(state: ProjectState, path: str) -> str:
    """Return the name to open for the text of `path`: of a flattened link, that of its target."""
    return state.files[path].real_path if state.tree.resolve_path(path) == path else path


def _is_imported(gemini: InstructionFile, entry: InstructionFile) -> bool:
    """Return whether GEMINI.md imports the other file, or is that file."""
    same = gemini.exists and gemini.identity == entry.identity
    return same or entry.path in gemini.imported_paths


def _list_redirect_files(state: ProjectState) -> tuple[str, ...]:
    """Return the files to read where AGENTS.md sends its readers to CLAUDE.md; else none.

    AGENTS.md is one of them if it has text of the user.
    """
    need = state.specs.get(AGENTS)
    if need is None or not need.read_first:
        return ()
    return (AGENTS, CLAUDE) if state.files[AGENTS].user_bytes else (CLAUDE,)
