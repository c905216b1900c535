"""The settings with which more agents read what the others read; made only where asked for."""

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
    """An edit for the settings file of each agent that lacks something; or every fault of all."""
    edits, faults = [], []
    for name in dict.fromkeys(agents):
        try:
            edits += _edit(state, find_agent_settings(name))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return Plan(tuple(edits))


def warn_dangling_settings(tree: FileTree, gone: Collection[str]) -> Iterator[PlanWarning]:
    """Settings that name files which are `gone`; the settings are the user's, and stay."""
    for agent in AGENT_SETTINGS:
        place = agent.locate(tree)
        try:
            data = tree.read(place.path)
            named = read_string_list(data, place) or () if data else ()
        except CubError:
            continue
        for name in named:
            if normalize_target(name) in gone:
                hint = f"take it out of `{place.dotted_key}`, or write a new {name}"
                yield PlanWarning(
                    f"this still names {name}, which will be gone", place.path, hint=hint
                )


def _edit(state: ProjectState, agent: AgentSettings) -> list[FileEdit]:
    place = agent.locate(state.tree)
    before = state.tree.read(place.path)
    data = agent.new_file if before is None else before
    wanted = agent.select_files(_reading(state))
    after = edit_string_list(data, place, wanted, default=agent.default)
    if after == data:
        return []
    there = {normalize_target(text) for text in read_string_list(data, place) or ()}
    new = ", ".join(path for path in wanted if path not in there)
    return [
        FileEdit(
            state.tree.resolve_path(place.path), before, after, f"let {agent.title} read {new}"
        )
    ]


def _reading(state: ProjectState) -> RequiredFiles:
    there = [path for path in (AGENTS, CLAUDE) if path in state.specs]
    there = there or [path for path in (AGENTS, CLAUDE) if state.files[path].exists]
    entry, known = tuple(_find_open_name(state, path) for path in there[:1]), state.available
    apart = {  # in a file of its own, and not in the section itself
        CONSTITUTION: known.constitution and not known.constitution_text,
        MAP: known.map and not known.map_text,
    }
    references = tuple(path for path in apart if apart[path])
    brought = any(
        _is_imported(state.files[GEMINI_MD.path], state.files[path]) for path in there[:1]
    )
    return RequiredFiles(() if brought else entry, _list_redirect_files(state) or entry, references)


def _find_open_name(state: ProjectState, path: str) -> str:
    """The name to open for the text of `path`: of a link that git flattened, the other's."""
    return state.files[path].real_path if state.tree.resolve_path(path) == path else path


def _is_imported(gemini: InstructionFile, entry: InstructionFile) -> bool:
    """Whether GEMINI.md imports the other file, or is that file."""
    same = gemini.exists and gemini.identity == entry.identity
    return same or entry.path in gemini.imported_paths


def _list_redirect_files(state: ProjectState) -> tuple[str, ...]:
    """Where AGENTS.md sends its readers to CLAUDE.md: that file, and AGENTS.md for what a person
    wrote in it.
    """
    need = state.specs.get(AGENTS)
    if need is None or not need.read_first:
        return ()
    return (AGENTS, CLAUDE) if state.files[AGENTS].user_bytes else (CLAUDE,)
