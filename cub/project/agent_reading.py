"""Model what each agent reads by itself at the root of a project: files, imports, and limits.

Observed with Claude Code 2.1.197 and 2.1.330, Codex 0.169, Gemini CLI 0.61, opencode 1.18 and
aider 0.86.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cub.agent_profiles.agent_profile import ReadingList
from cub.agent_profiles.aider import AIDER, AIDER_LIST
from cub.agent_profiles.claude import CLAUDE
from cub.agent_profiles.codex import CODEX, CODEX_MAX_BYTES, CODEX_OVERRIDE
from cub.agent_profiles.gemini import GEMINI, GEMINI_LIST, get_gemini_file_names
from cub.agent_profiles.opencode import OPENCODE, OPENCODE_LIST
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.edit.document import Document
from cub.edit.file_imports import find_imports
from cub.errors import CubError
from cub.files import FileTree
from cub.project.targets import AGENTS_MD, CLAUDE_MD, DEFAULT_TARGETS

_AGENTS, _CLAUDE = AGENTS_MD.path, CLAUDE_MD.path
CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE = ".claude/CLAUDE.md", "CLAUDE.local.md"
_CLAUDE_FILES = (_CLAUDE, CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE)
_CLAUDE_RULES = ".claude/rules"
CLAUDE_READS_AGENTS_SINCE = (2, 1, 277)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_CODEX_CONFIG = ".codex/config.toml"
_OPENCODE_FOLDER = ".config/opencode"


class AgentFiles(NamedTuple):
    """Hold what an agent can read: a project, and the settings below the user's `home` folder.

    `paths` are the files that are asked for, as a setting may match them by a pattern. An empty
    `version` is the newest one. `has_claude_above`: a folder above the project has instructions
    of Claude's.
    """

    tree: FileTree
    paths: Collection[str]
    home: FileTree | None = None
    version: tuple[int, ...] = ()
    has_claude_above: bool = False

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; b"" if there is none, or no agent can read it."""
        return _read_if_possible(self.tree, path)

    def identify(self, path: str) -> Hashable:
        """Return a value that all names of a file share."""
        identity = self.tree.get_identity(path)
        return path if identity is None else identity


class LoadedFile(NamedTuple):
    """Name a file that an agent loads, and how many of its bytes; `max_bytes` None for all."""

    path: str
    max_bytes: int | None = None


class AgentReading(NamedTuple):
    """Describe how an agent reads instructions: which files, and how many imports in a row.

    Without imports, it sees the words `@path`. `repeats_imports`: a file that is imported twice is
    loaded twice. `matches_paths`: its settings may name any file of a project.
    """

    name: str
    title: str
    list_entries: Callable[[AgentFiles], Iterator[LoadedFile]]
    import_depth: int = 0
    repeats_imports: bool = False
    matches_paths: bool = False


def find_agent_reading(name: str) -> AgentReading:
    """Return the row of an agent; LookupError for a name that is not in the table."""
    return {row.name: row for row in _ROWS}[name]


def list_loaded_files(reading: AgentReading, files: AgentFiles) -> list[LoadedFile]:
    """Return the files that an agent loads at its start, with what they import.

    A file is listed as often as it is loaded.
    """
    entries: dict[Hashable, LoadedFile] = {}
    for entry in reading.list_entries(files):
        entries.setdefault(files.identify(entry.path), entry)
    loaded: list[LoadedFile] = []
    passed: set[Hashable] = set()
    for entry in entries.values():
        seen = set() if reading.repeats_imports else passed
        loaded += _load(reading, entry, files, seen, reading.import_depth)
    return loaded


def find_claude_above(root: Path, home: Path | None) -> Path | None:
    """Return instructions of Claude's in a folder above `root`, which hide AGENTS.md from it.

    None if there are none. In a work tree below `.cub/`, it skips the checkout that this is in.
    """
    folders = list(root.parents)
    for number, folder in enumerate(folders):
        if folder.name == "worktrees" and folder.parent.name == ".cub":
            del folders[number : number + 3]
            break
    user_file = home / CLAUDE_FOLDER_FILE if home else None  # it belongs to all projects
    paths = (folder / name for folder in folders for name in _CLAUDE_FILES)
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
    texts = ((path, _read_if_possible(tree, path)) for path in _CLAUDE_FILES)
    return [path for path, data in texts if _COMMENT.sub(b"", data).strip()]


def _read_if_possible(tree: FileTree, path: str) -> bytes:
    """Return the bytes of a file in a tree; b"" if there is none, or it can't be read."""
    folder, name = posixpath.split(path)
    try:
        # The listing comes first: of a file that is not there, a tree asks git.
        return (tree.read(path) if name in tree.list_names(folder) else None) or b""
    except CubError:
        return b""


def _load(
    reading: AgentReading, file: LoadedFile, files: AgentFiles, passed: set[Hashable], depth: int
) -> Iterator[LoadedFile]:
    data, identity = files.read(file.path), files.identify(file.path)
    if not data or identity in passed:
        return
    passed.add(identity)
    yield file
    folder = posixpath.dirname(file.path)
    for name in sorted(find_imports(Document(data).text)) if depth and b"@" in data else ():
        path = posixpath.normpath(posixpath.join(folder, name))
        if not path.startswith(("/", "~", "../")):
            seen = {*passed} if reading.repeats_imports else passed
            yield from _load(reading, LoadedFile(path), files, seen, depth - 1)


def _list_claude_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    own = find_claude_files(files.tree)
    is_old = bool(files.version) and files.version < CLAUDE_READS_AGENTS_SINCE
    if not (own or is_old or files.has_claude_above):
        own = [_AGENTS]
    yield from map(LoadedFile, own)
    yield from map(LoadedFile, _list_rules(files.tree, _CLAUDE_RULES))


def _list_rules(tree: FileTree, folder: str) -> Iterator[str]:
    for name in sorted(tree.list_names(folder)):
        path = f"{folder}/{name}"
        if name.endswith(".md"):
            yield path
        elif "." not in name:
            yield from _list_rules(tree, path)


def _list_codex_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    settings = _read_codex_settings(files.home)
    fallbacks = settings.get("project_doc_fallback_filenames")
    names = (CODEX_OVERRIDE, _AGENTS, *(fallbacks if isinstance(fallbacks, list) else ()))
    limit = settings.get("project_doc_max_bytes")
    max_bytes = limit if isinstance(limit, int) else CODEX_MAX_BYTES
    yield from (LoadedFile(path, max_bytes) for path in _find_first(files, names))


def _read_codex_settings(home: FileTree | None) -> dict[str, Any]:
    # Codex reads those of a project too, but only once the user trusts it.
    data = _read_if_possible(home, _CODEX_CONFIG) if home else b""
    try:
        return tomllib.loads(data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}


def _list_gemini_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    path = GEMINI_LIST.files[0]
    is_set = _read_setting(files.tree, GEMINI_LIST, path) is not None
    tree = files.tree if is_set or files.home is None else files.home
    yield from map(LoadedFile, get_gemini_file_names(tree))


def _list_opencode_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    yield from map(LoadedFile, _find_first(files, (_AGENTS, _CLAUDE)))
    names: list[str] = []
    for tree, folder in ((files.home, _OPENCODE_FOLDER), (files.tree, "")):
        for name in OPENCODE_LIST.files if tree else ():
            path = posixpath.join(folder, name)
            names += (_read_setting(tree, OPENCODE_LIST, path) if tree else None) or ()
    yield from _match_paths(files, names)


def _list_aider_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    path = AIDER_LIST.files[0]
    names = _read_setting(files.tree, AIDER_LIST, path)
    if names is None and files.home:  # the project's list replaces the user's
        names = _read_setting(files.home, AIDER_LIST, path)
    yield from _match_paths(files, names or ())


def _find_first(files: AgentFiles, names: Iterable[str]) -> list[str]:
    there = files.tree.list_names("")
    return [name for name in names if name in there][:1]


def _read_setting(tree: FileTree, settings: ReadingList, path: str) -> tuple[str, ...] | None:
    """Return the files that a settings file lists; None if it lists none, or can't be read."""
    data = _read_if_possible(tree, path)
    try:
        location = ListLocation(path, settings.keys, settings.format)
        return read_string_list(data, location) if data else None
    except CubError:
        return None


def _match_paths(files: AgentFiles, names: Collection[str]) -> Iterator[LoadedFile]:
    """Yield those of the `paths` that a list of files, folders and patterns names."""
    listed = [posixpath.normpath(name) for name in names]
    for path in files.paths:
        if any(fnmatchcase(path, name) or path.startswith(f"{name}/") for name in listed):
            yield LoadedFile(path)


NAMED_READINGS = (
    AgentReading("claude", CLAUDE.title, _list_claude_entries, import_depth=4),
    AgentReading("codex", CODEX.title, _list_codex_entries),
    AgentReading("gemini", GEMINI.title, _list_gemini_entries, 5, repeats_imports=True),
    AgentReading("opencode", OPENCODE.title, _list_opencode_entries, matches_paths=True),
    AgentReading("aider", AIDER.title, _list_aider_entries, matches_paths=True),
)
_ROWS = (
    *NAMED_READINGS,
    # Agents that are not known well: most read AGENTS.md, and take imports for words.
    AgentReading("agents_md", "", lambda files: map(LoadedFile, _find_first(files, (_AGENTS,)))),
    AgentReading("nothing", "", lambda _: iter(())),
)
