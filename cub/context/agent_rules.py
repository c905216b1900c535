"""Find the rules that one agent would read by itself."""

from __future__ import annotations

from pathlib import Path

from cub.context.rules import RuleSearch
from cub.context.text_reader import TextReader
from cub.errors import UsageError
from cub.files import DiskTree
from cub.project.agent_reading import (
    NAMED_READINGS,
    AgentFiles,
    find_agent_reading,
    find_claude_above,
    list_loaded_files,
)
from cub.project.rule_locations import (
    RuleLocation,
    is_read_by,
    list_rule_agents,
    list_rule_locations,
)
from cub.text import suggest_similar


def find_agent_rules(reader: TextReader, agent: str) -> tuple[RuleSearch, int]:
    """Return what an agent reads by itself, and how many imports in a row it follows.

    Agents that cub knows are asked by `agent_reading`, others by the table of locations. Raises
    UsageError for a name that neither has.
    """
    search = RuleSearch(reader)
    known = {row.name for row in NAMED_READINGS}
    names = sorted({*known, *list_rule_agents()})
    if agent not in names:
        near = suggest_similar(agent, names)
        hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"
        raise UsageError(f"no agent {agent!r}", where="--agent", hint=hint)
    if agent in known:
        depth = _add_loaded_files(search, agent)
    else:
        depth = 0
        for folder in reader.project_folders:
            _add_locations(search, list_rule_locations("project"), agent, folder)
    for folder in reader.folders_above:
        _add_locations(search, list_rule_locations("parent"), agent, folder)
    if reader.home:
        _add_locations(search, list_rule_locations("user"), agent, reader.home)
    return search, depth


def _add_loaded_files(search: RuleSearch, agent: str) -> int:
    reading, reader = find_agent_reading(agent), search.reader
    files = AgentFiles(
        DiskTree(reader.root),
        _list_candidates(reader) if reading.matches_paths else (),
        DiskTree(reader.home) if reader.home else None,
        has_claude_above=find_claude_above(reader.root, reader.home) is not None,
    )
    for loaded in list_loaded_files(reading, files):
        location = RuleLocation("project", loaded.path, (reading.title,))
        search.find_at(location, reader.root, loaded.max_bytes)
    return reading.import_depth


def _list_candidates(reader: TextReader) -> list[str]:
    """Return the files that settings may name: those at the root, and all that git tracks."""
    from cub.repomap.listing.file_listing import list_files

    return [*sorted(path.name for path in reader.root.iterdir()), *list_files(reader.root).paths]


def _add_locations(
    search: RuleSearch, locations: list[RuleLocation], agent: str, folder: Path
) -> None:
    for location in locations:
        if is_read_by(location, agent):
            search.find_at(location, folder)
