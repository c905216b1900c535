"""Find the keys of config.yaml and the files of a repository that run something."""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import Any, Literal, NamedTuple

from cub.agent_profiles.profiles import NAMED_PROFILES, PROFILES
from cub.config_edit.config_text import JSON, parse_config_text
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.errors import CubError
from cub.git.tool_artifacts import TOOL_FOLDERS
from cub.git.worktree import find_toplevel
from cub.project.config import CONFIG_FILE

ExecutableKind = Literal["command", "hook", "bootstrap", "agent file", "agent setting"]

# Of `run`; the last ones say what those commands may see, and whether checks have to decide.
_RUN_KEYS = ("checks", "harness", "permissions", "wrap", "notify", "hide_env", "accept_unverified",
         "known_failures", "allow_removed_tests", "protect", "place", "share", "setup",
         "writable")  # fmt: skip
# Of `code`: where keys and texts are sent (a script as the model is commands), what needs no
# approval, and when sessions of all projects are deleted.
_CODE_KEYS = ("model", "small_model", "base_url", "api_key", "search_url", "permissions", "allow",
              "session_days")  # fmt: skip
_SCRIPTED = "scripted/"  # the replies of a file, which may call Bash
_NAMED_SECTIONS = ("harnesses", "context_commands")

_FOLDERS = [re.escape(profile.folder) for profile in PROFILES if profile.folder]
# In any folder: agents look for these from where they are started.
_FILES: tuple[tuple[ExecutableKind, Sequence[str]], ...] = (
    ("bootstrap", [r"\.[^/]+/.*-bootstrap"]),
    ("hook", [r"\.cub/hooks/.*", *(rf"{folder}/hooks(?:/.*|\.json)" for folder in _FOLDERS)]),
    ("hook", [r"\.github/hooks(?:/.*|\.json)", r"\.githooks/.*|\.husky/.*"]),
    ("hook", [r"\.pre-commit-config\.yaml|\.?lefthook\.ya?ml"]),
    ("agent setting", [one for profile in PROFILES for one in profile.settings]),
    ("agent file", [r"\.cub/agents/.*|\.agents/(?!rules/).*"]),
    ("agent file", [one for profile in PROFILES for one in profile.executables]),
)
# Some disks ignore case: there, `.Claude/settings.json` is read as well.
_FLAGS = re.DOTALL | re.IGNORECASE
_PATTERNS = [
    (kind, re.compile(rf"(?:.*/)?(?:{'|'.join(patterns)})", _FLAGS)) for kind, patterns in _FILES
]
# A link or a submodule under one of these names is a whole folder of such files.
_FOLDER = rf"(?:\.(?:agents|cub|githooks|github|husky|vscode)|{'|'.join(_FOLDERS)})/"
_FOLDER_PATTERN = re.compile(rf"(?:.*/)?{_FOLDER}", _FLAGS)
# All but text in the folders of agents: their own tools and plugins are in there, and more with
# each version. opencode writes some of these files at its start.
_OWN = (
    rf"(?:(?:\.github|{'|'.join(_FOLDERS)})/hooks(?:/.*|\.json)"
    rf"|(?:{'|'.join(re.escape(one.folder) for one in NAMED_PROFILES if one.folder)})/"
    r"(?!rules/$|.*(?:\.md|-bootstrap)$|(?:.*/)?(?:\.gitignore|package-lock\.json|bun\.lockb?)$).*)"
)
_OWN_FILE = re.compile(rf"(?:.*/)?{_OWN}", _FLAGS)
# Most paths are none of these: one look tells.
_NAMES = [_FOLDER, _OWN, *chain.from_iterable(patterns for _, patterns in _FILES)]
_ANY_PATTERN = re.compile(rf"(?:\A|/)(?:{'|'.join(_NAMES)})\Z", _FLAGS)
_MAX_VALUE_CHARS = 10_000  # aliases of YAML can make a small file a huge value

# Their commands are approved one by one, as only `cub context` runs them.
_TASK_FILE = re.compile(r"(?:.*/)?\.agents/tasks/.*", _FLAGS)
_PLUGIN_API = re.compile(  # which opencode writes into package.json
    rb'\s*{\s*"dependencies":\s*{\s*"@opencode-ai/plugin":\s*"[\w.^~-]+"\s*}\s*}\s*'
)
_EXCLUDES = ("claudeMdExcludes",)
_OTHER_FILE = re.compile(r"[/~\\]|\w+:|(?:.*[/\\])?\.\.(?:[/\\]|$)", re.DOTALL)  # or an address
READING_LISTS = {
    path: ListLocation(path, keys, kind)
    for paths, keys, kind in (
        ((".claude/settings.json", ".claude/settings.local.json"), _EXCLUDES, JSON),
        *(one.reading_list[:3] for one in NAMED_PROFILES if one.reading_list),
    )
    for path in paths
}
_MAX_FILES = 200_000  # of a project; those of the upper folders come first
_MAX_BYTES = 64 << 20  # of a file, and of a folder that is a link
_MAX_LINKS = 3  # from one linked folder into the next
# Worktrees are checkouts of their own.
_STATE_FOLDERS = {".cub/": ("runs", "backups", "logs"), ".claude/": ("worktrees",)}


class AgentFile(NamedTuple):
    """Hold a file that agents execute or obey; of a linked folder, the list of its files.

    `data` is None if it can't be read.
    """

    path: str
    data: bytes | None

    @property
    def digest(self) -> str:
        """Return the digest of what it contains; "" if it can't be read."""
        return "" if self.data is None else "sha256-" + sha256(self.data).hexdigest()

    @property
    def text(self) -> str:
        """Return what it contains; "" if that is no text."""
        return "" if b"\0" in (self.data or b"") else (self.data or b"").decode("utf-8", "replace")


def classify_executable_path(path: str) -> ExecutableKind | None:
    """Return the kind of a file that runs, or makes something run; None for all others.

    A path with `/` at its end is a folder that is taken from elsewhere as a whole.
    """
    if not _ANY_PATTERN.search(path):
        return None
    kind = next((row_kind for row_kind, pattern in _PATTERNS if pattern.fullmatch(path)), None)
    return kind or ("agent setting" if _FOLDER_PATTERN.fullmatch(path) else None)


def list_config_commands(
    data: bytes | None, path: str = CONFIG_FILE, omit: Collection[str] = ()
) -> dict[str, str]:
    """Return the dotted keys of a config.yaml that hold commands, with their values as JSON.

    The keys of `omit` are left out, those of profiles, too: here, as an agent or a profile may have
    any name, also that of a key. Raises CubError for a file that can't be read.
    """
    tree = parse_config_text(data or b"", path).python_value
    try:
        commands = dict(_list_overlay_commands(tree, "", omit))
        for name, overlay in _iter_entries(_get_value(tree, "profiles")):
            commands |= _list_overlay_commands(overlay, f"profiles.{name}.", omit)
    except (TypeError, ValueError, RecursionError) as error:
        raise CubError("cannot show a value of this file", where=path) from error
    return commands


def _list_overlay_commands(
    tree: Any, prefix: str, omit: Collection[str]
) -> Iterator[tuple[str, str]]:
    for section, keys in (("run", _RUN_KEYS), ("code", _CODE_KEYS)):
        values = _get_value(tree, section)
        for key in keys:
            if f"{section}.{key}" not in omit and _get_value(values, key) is not None:
                yield f"{prefix}{section}.{key}", _to_json(values[key])
    model = _get_value(_get_value(tree, "run"), "model")
    if "run.model" not in omit and isinstance(model, str) and model.startswith(_SCRIPTED):
        yield f"{prefix}run.model", _to_json(model)
    for key in (key for key in _NAMED_SECTIONS if key not in omit):
        for name, value in _iter_entries(_get_value(tree, key)):
            yield f"{prefix}{key}.{name}", _to_json(value)


def _iter_entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a mapping by key, of a list by number; a scalar is one entry."""
    if isinstance(value, dict):
        yield from ((str(key), entry) for key, entry in value.items())
    elif isinstance(value, list):
        yield from ((str(number), entry) for number, entry in enumerate(value))
    elif value is not None:
        yield "", value


def _get_value(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, dict) else None


def _to_json(value: Any) -> str:
    """Return JSON on one line; ValueError for too much of it."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
        text += piece
        if len(text) > _MAX_VALUE_CHARS:
            raise ValueError(len(text))
    return text


def iter_project_files(
    root: Path, limit: int = _MAX_FILES, folder_names: re.Pattern[str] = re.compile("")
) -> Iterator[str]:
    """Yield the files and links of a project, folder by folder, the root first.

    Folders that tools fill are left out, and those of the root with other names than asked for. A
    link to a folder ends with `/`.
    """
    folders, count = deque([""]), 0
    while folders and count < limit:
        folder = folders.popleft()
        with suppress(OSError):
            for entry in sorted(os.scandir(root / folder), key=lambda entry: entry.name):
                path = f"{folder}{entry.name}"
                if not entry.is_dir(follow_symlinks=False):
                    count += 1
                    yield f"{path}/" if entry.is_dir() else path
                elif folder_names.match(f"{path}/") and not _is_skipped(folder, entry.name):
                    folders.append(f"{path}/")


def _is_skipped(folder: str, name: str) -> bool:
    return name == ".git" or name in TOOL_FOLDERS or name in _STATE_FOLDERS.get(folder, ())


def find_agent_files(root: Path) -> list[AgentFile]:
    """Return the files of a project that an agent may execute or obey, or what links lead to.

    So are those in folders above it, up to the top of its repository, where agents look as well.
    Settings that only list files to read, as cub writes them, are left out.
    """
    paths = filter(_is_agent_file, chain(iter_project_files(root), _iter_files_above(root)))
    files = (AgentFile(path.rstrip("/"), _read_entry(root / path)) for path in paths)
    return [file for file in files if not _is_harmless(file)]


def _iter_files_above(root: Path) -> Iterator[str]:
    toplevel = find_toplevel(root)
    for number, folder in enumerate(root.parents if toplevel else (), 1):
        if folder.is_relative_to(toplevel or root):
            found = iter_project_files(folder, folder_names=_FOLDER_PATTERN)
            yield from (f"{'../' * number}{path}" for path in found)


def _is_agent_file(path: str) -> bool:
    if not _ANY_PATTERN.search(path):
        return False
    is_named = classify_executable_path(path) in ("agent file", "agent setting")
    return bool(_OWN_FILE.fullmatch(path) or (is_named and not _TASK_FILE.fullmatch(path)))


def _read_entry(path: Path, links: int = _MAX_LINKS) -> bytes | None:
    """Return the bytes of a file, or the digests of a folder's files; None for all others."""
    try:
        if path.is_symlink() and not path.exists():
            return os.fsencode(path.readlink())
        if not path.is_dir():
            state = path.stat()
            is_fit = S_ISREG(state.st_mode) and state.st_size <= _MAX_BYTES
            return path.read_bytes() if is_fit else None
        lines, rest = [], _MAX_BYTES
        for name in iter_project_files(path):
            data = _read_entry(path / name, links - 1) if links else None
            rest -= len(data or b"")
            if data is None or rest < 0:
                return None
            lines.append(f"{sha256(data).hexdigest()} {name}\n")
    except OSError:
        return None
    return "".join(lines).encode("utf-8", "surrogatepass")


def _is_harmless(file: AgentFile) -> bool:
    """Return whether settings only name files of the project to read, or files to leave out.

    So does a package.json with nothing but the API that opencode adds itself.
    """
    if f"/{file.path}".endswith("/.opencode/package.json"):
        return _PLUGIN_API.fullmatch(file.data or b"") is not None
    lists = read_file_lists(file)
    if lists is None or file.data is None:
        return False
    location = READING_LISTS[file.path]
    names = read_string_list(file.data, location) or ()
    if location.keys != _EXCLUDES and any(map(_OTHER_FILE.match, names)):
        return False
    settings = parse_config_text(file.data, file.path, location.format).python_value
    return {key: value for key, value in settings.items() if key != "$schema"} == lists


def read_file_lists(file: AgentFile) -> dict[str, Any] | None:
    """Return the part of an agent's settings that lists files to read, or to leave out.

    None for other files, and for settings without such a list or that can't be read.
    """
    location = READING_LISTS.get(file.path)
    names = None
    with suppress(CubError):
        names = read_string_list(file.data, location) if location and file.data else None
    if location is None or names is None:
        return None
    tree: Any = list(names)
    for key in reversed(location.keys):
        tree = {key: tree}
    return dict(tree)
