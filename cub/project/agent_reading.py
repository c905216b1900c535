"""Load what each agent reads by itself where it starts, by the description in its profile."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterator
from pathlib import Path

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.claude import CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.files.file_tree import FileTree
from cub.project.targets import AGENTS_MD, CLAUDE_MD, DEFAULT_TARGETS

_AGENTS, _CLAUDE = AGENTS_MD.path, CLAUDE_MD.path
_CLAUDE_FILES = (_CLAUDE, CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_OTHERS = {
    # Agents that are not known well: most read AGENTS.md, and take imports for words.
    "agents_md": AgentReading(lambda files: iter([LoadedFile(f"{files.start}/{_AGENTS}")])),
    "nothing": AgentReading(lambda _: iter(())),
}


def find_agent_reading(name: str) -> AgentReading:
    """Return how an agent reads; LookupError for a name that cub does not know."""
    readings = {profile.name: profile.reading for profile in NAMED_PROFILES if profile.reading}
    return {**readings, **_OTHERS}[name]


def list_loaded_files(reading: AgentReading, files: AgentFiles) -> list[LoadedFile]:
    """Return the files that an agent loads at its start, with what they import.

    A file is listed as often as it is loaded.
    """
    entries: dict[Hashable, LoadedFile] = {}
    for entry in reading.list_entries(files):
        entries.setdefault(files.identify(entry.path), entry)
    is_loaded, passed = reading.make_filter(files), set[Hashable]()

    def load(file: LoadedFile, depth: int, above: frozenset[str]) -> Iterator[LoadedFile]:
        """Yield a file and its imports; `above` are the imports that lead to it."""
        path, data, identity = file.path, files.read(file.path), files.identify(file.path)
        if not data or not is_loaded(path) or identity in passed:
            return
        passed.update(() if reading.repeats_imports else (identity,))
        yield file._replace(data=data)
        folder = posixpath.dirname(path if reading.repeats_imports else files.resolve(path))
        for name in reading.find_imports(data) if depth and b"@" in data else ():
            target, limit = files.join(folder, name), file.limit
            is_allowed = not limit or files.is_below(files.resolve(target), limit)
            if is_allowed and target not in above:
                yield from load(LoadedFile(target, None, limit), depth - 1, above | {target})

    depth = reading.import_depth
    return [one for entry in entries.values() for one in load(entry, depth, frozenset())]


def find_claude_above(root: Path, home: Path | None) -> Path | None:
    """Return instructions of Claude's in a folder above `root`, which hide AGENTS.md from it.

    None if there are none.
    """
    user_file = home / CLAUDE_FOLDER_FILE if home else None  # it belongs to all projects
    paths = (folder / name for folder in root.parents for name in _CLAUDE_FILES)
    return next((path for path in paths if path != user_file and path.is_file()), None)


def list_default_targets(tree: FileTree, *, is_hidden: bool = False) -> tuple[str, ...]:
    """Return AGENTS.md and CLAUDE.md; AGENTS.md alone if Claude Code reads that by itself.

    A new CLAUDE.md would stop it from loading the AGENTS.md files of folders. `is_hidden`: files
    outside of commits hide AGENTS.md from it.
    """
    needs_both = _AGENTS not in tree.list_names("") or needs_claude_md(tree, is_hidden=is_hidden)
    return DEFAULT_TARGETS if needs_both else (_AGENTS,)


def needs_claude_md(tree: FileTree, *, is_hidden: bool = False) -> bool:
    """Tell whether Claude Code does not load an AGENTS.md by itself, but only by a CLAUDE.md.

    `is_hidden`: files outside of commits hide AGENTS.md from it.
    """
    has_claude = any(name.casefold() == _CLAUDE.casefold() for name in tree.list_names(""))
    if is_hidden or has_claude or CLAUDE_FOLDER_FILE in find_claude_files(tree):
        return True
    missing = tree.find_missing(_CLAUDE)
    return bool(missing and missing.is_outside_checkout)


def find_claude_files(tree: FileTree) -> list[str]:
    """Return the project's files that hide AGENTS.md from Claude Code, as they have a text."""
    files = AgentFiles(tree)
    texts = ((path, files.read(f"{files.root}/{path}")) for path in _CLAUDE_FILES)
    return [path for path, data in texts if _COMMENT.sub(b"", data).strip()]
