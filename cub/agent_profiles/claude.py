"""Describe Claude Code."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ServerSettings, SessionSteps
from cub.agent_profiles.user_folders import AGENT_SETTINGS, UserFolder
from cub.edit.document import Document
from cub.edit.file_imports import find_imports
from cub.files.glob_patterns import compile_glob
from cub.json_values import get_object, parse_object

CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE = ".claude/CLAUDE.md", "CLAUDE.local.md"
CLAUDE_READS_AGENTS_SINCE = (2, 1, 277)
_EXCLUDES = ("claudeMdExcludes",)  # of its settings
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_RULE_FOR_PATHS = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---).*\n)*?paths:")
# It imports no files of other types; it has a list of some eighty that it does.
_NO_TEXT = re.compile(
    r"\.(?:png|jpe?g|gif|webp|svg|ico|pdf|zip|gz|mdc|mdx|docx?|exe|so|bin)$", re.IGNORECASE
)
_SPECIAL = re.compile(r"[*?\[\]{}()!+@\\]")  # in patterns
_READ_ONLY = (*AGENT_SETTINGS, "output-styles", "workflows", "local", "statusline*", "*.sh")
_SETTING_SOURCES = {"project": "settings.json", "local": "settings.local.json"}
# Claude Code refuses to skip permissions for root without it.
_AS_ROOT = {"IS_SANDBOX": "1"} if hasattr(os, "geteuid") and os.geteuid() == 0 else {}
_OFFLINE = {
    **_AS_ROOT,
    "ANTHROPIC_BASE_URL": "{url}",
    "ANTHROPIC_MODEL": "{model}",
    "ANTHROPIC_API_KEY": DUMMY_KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_GROWTHBOOK": "1",
    "CLAUDE_CODE_USE_BEDROCK": "0",
    "CLAUDE_CODE_USE_VERTEX": "0",
    "CLAUDE_CODE_USE_FOUNDRY": "0",
}


def _list_claude_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    variables = ("CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_DISABLE_CLAUDE_MDS")
    if "--bare" in files.arguments or any(files.environ.get(name) for name in variables):
        return
    sources, is_loaded = _get_claude_sources(files), _make_claude_filter(files)
    user = files.find_user_folder("CLAUDE_CONFIG_DIR", ".claude")
    if user and "user" in sources:
        yield LoadedFile(f"{user}/CLAUDE.md")
        yield from map(LoadedFile, list_rules(files, f"{user}/rules"))
    folders = files.list_folders() if files.outside else files.list_folders(files.root)
    limit = "" if _may_import_all(files, user) else files.start
    shared = ("CLAUDE.md", CLAUDE_FOLDER_FILE) if "project" in sources else ()
    local = (CLAUDE_LOCAL_FILE,) if "local" in sources else ()
    paths = [posixpath.join(folder, name) for folder in folders for name in (*shared, *local)]
    own = [path for path in paths if posixpath.dirname(path) != user and is_loaded(path)]
    own = [path for path in own if _COMMENT.sub(b"", files.read(path)).strip()]
    is_old = bool(files.version) and files.version < CLAUDE_READS_AGENTS_SINCE
    if not own and not is_old and "project" in sources:
        own = [posixpath.join(folder, "AGENTS.md") for folder in folders]
    yield from (LoadedFile(path, limit=limit) for path in own)
    for folder in folders if "project" in sources else ():
        rules = list_rules(files, posixpath.join(folder, ".claude/rules"))
        yield from (LoadedFile(path, limit=limit) for path in rules)


def _get_claude_sources(files: AgentFiles) -> set[str]:
    named = files.find_arguments("--setting-sources")
    return {*named[-1].split(",")} if named else {"user", *_SETTING_SOURCES}


def _may_import_all(files: AgentFiles, user: str) -> bool:
    """Return whether the user has allowed imports from outside of the project."""
    text = files.read(f"{posixpath.dirname(user)}/.claude.json") if user else b""
    project = get_object(parse_object(text), "projects", files.start)
    return bool(project.get("hasClaudeMdExternalIncludesApproved"))


def _make_claude_filter(files: AgentFiles) -> Callable[[str], bool]:
    """Return whether Claude Code loads a path: not what `claudeMdExcludes` names, nor an image."""
    sources = _get_claude_sources(files)
    user = files.find_user_folder("CLAUDE_CONFIG_DIR", ".claude")
    settings = [f"{user}/settings.json"] if user and "user" in sources else []
    names = (name for source, name in _SETTING_SOURCES.items() if source in sources)
    settings += [f"{files.start}/.claude/{name}" for name in names]
    given = files.find_arguments("--settings")[-1:]  # the name of a file, or JSON
    lists = [files.read_list(path, _EXCLUDES) for path in settings]
    lists += [
        files.read_list(files.join(files.start, text), _EXCLUDES, data=inline)
        for text in given
        for inline in [text.encode() if text.lstrip().startswith("{") else b""]
    ]
    tests = [compile_glob(pattern) for patterns in lists for pattern in patterns or ()]
    return lambda path: not _NO_TEXT.search(path) and not any(test(path) for test in tests)


def _exclude_from_claude(files: AgentFiles, paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return the settings with files to exclude; None if a file has settings already.

    Claude Code reads only the last of several.
    """
    settings = files.find_arguments("--settings")
    names = {name: None for path in paths for name in (path, files.resolve(path))}
    try:
        tree = json.loads(settings[-1]) if settings else {}
        given = tree.get(*_EXCLUDES, [])
        tree[_EXCLUDES[0]] = [*given, *(_SPECIAL.sub(r"\\\g<0>", name) for name in names)]
    except (ValueError, TypeError, AttributeError):
        return None
    return ("--settings", json.dumps(tree))


def list_rules(files: AgentFiles, folder: str) -> Iterator[str]:
    """Yield the rules in a folder that it loads at its start."""
    for name in sorted(files.list_names(folder)):
        path = f"{folder}/{name}"
        if not name.endswith(".md"):
            yield from list_rules(files, path) if "." not in name else ()
        elif files.has_path_rules or not _RULE_FOR_PATHS.match(files.read(path)):
            yield path


def _find_claude_imports(data: bytes) -> list[str]:
    """Return what Claude Code imports: not in code or comments, and without `#` parts."""
    return sorted(name.partition("#")[0] for name in find_imports(Document(data).text))


CLAUDE = AgentProfile(
    name="claude",
    title="Claude Code",
    program="claude",
    resume=("claude", "--resume"),
    oldest_version="2.1.197",
    installation="npm install -g @anthropic-ai/claude-code",
    login="run `claude` and log in with /login, or set ANTHROPIC_API_KEY",
    reports_cost=True,
    project_files=(".claude/rules/", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    parent_files=("CLAUDE.md",),
    user_files=(".claude/CLAUDE.md", ".claude/rules/"),
    outside=(
        "$CLAUDE_CONFIG_DIR",
        "~/.claude/settings.json",
        "/etc/claude-code",
        "/Library/Application Support/ClaudeCode",
    ),
    folder=".claude",
    trusts_paths=True,
    own_folders=(
        # It also writes ~/.claude.json, which it replaces, and does without.
        UserFolder("~/.claude", ("CLAUDE_CONFIG_DIR",), read_only=_READ_ONLY),
    ),
    settings=(r"\.claude/settings(?:\.local)?\.json", r"\.mcp\.json"),
    executables=(r"\.claude/(?:agents|commands|skills)/.*",),
    server=ServerSettings("claude-sonnet-4-5", _OFFLINE, argv=("--settings", '{"env": {environ}}')),
    steps=SessionSteps(
        ("--continue",),
        ("Agent", {"description": "Test", "subagent_type": "general-purpose"}),
        compact=("/compact", "Go on."),
    ),
    reading=AgentReading(
        _list_claude_entries,
        _find_claude_imports,
        import_depth=4,
        make_filter=_make_claude_filter,
        prevent_load=_exclude_from_claude,
    ),
)
