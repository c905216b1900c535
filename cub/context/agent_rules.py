"""Find the rules that one agent would read by itself."""

from __future__ import annotations

from pathlib import Path

from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.profiles import NAMED_PROFILES, find_profile
from cub.context.rules import RuleSearch
from cub.context.text_reader import TextReader
from cub.errors import UsageError
from cub.files.file_tree import DiskTree
from cub.project.agent_reading import find_agent_reading, list_loaded_files
from cub.project.rule_locations import RULE_LOCATIONS, RuleLocation, list_rule_locations
from cub.text import suggest_similar


def find_agent_rules(reader: TextReader, agent: str) -> tuple[RuleSearch, int]:
    """Return what an agent reads by itself, and how many imports in a row it follows.

    Agents that cub knows are asked by `agent_reading`, others by the table of locations. Raises
    UsageError for a name that neither has.
    """
    search = RuleSearch(reader)
    known = {profile.name for profile in NAMED_PROFILES}
    names = sorted(known.union(*(row.readers for row in RULE_LOCATIONS)))
    if agent not in names:
        near = suggest_similar(agent, names)
        hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"
        raise UsageError(f"no agent {agent!r}", where="--agent", hint=hint)
    if agent not in known:
        search.find_all(agent=agent)
        return search, 0
    depth = _add_loaded_files(search, agent)
    search.find_all(("parent", "user"), agent)
    return search, depth


def _add_loaded_files(search: RuleSearch, agent: str) -> int:
    reading, reader = find_agent_reading(agent), search.reader
    root, anchor = reader.root.as_posix(), DiskTree(Path(reader.root.anchor))
    environ = {"HOME": reader.home.as_posix()} if reader.home else {}
    files = AgentFiles(
        DiskTree(reader.root), root, outside=anchor, environ=environ, has_path_rules=True
    )
    for loaded in list_loaded_files(reading, files):
        if files.is_below(loaded.path, root):
            path = files.shorten(loaded.path)
            location = RuleLocation("project", path, (find_profile(agent).title,))
            search.find_at(location, reader.root, loaded.max_bytes)
    for folder in reader.project_folders:  # `list_loaded_files` knows only files that can be read
        for location in list_rule_locations("project", agent):
            search.warn_of_broken_files(location, folder)
    return reading.import_depth
