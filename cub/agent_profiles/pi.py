"""Describe pi."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ServerSettings, SessionSteps
from cub.agent_profiles.user_folders import AGENT_SETTINGS, UserFolder

PI_FOLDER_VARIABLE, PI_FOLDER = "PI_CODING_AGENT_DIR", ".pi/agent"
APPENDED_FILE = "APPEND_SYSTEM.md"
_NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
_ASKS_FOR_TRUST_SINCE, _KNOWS_WORKTREES_SINCE, _READS_OVERRIDE_SINCE = (0, 79), (0, 83), (0, 84)
_PROVIDER, _MODEL = "local", "scripted"
_READ_ONLY = (*AGENT_SETTINGS, "models.json", "keybindings.json", "git", "npm", "themes", "tools")
_SERVICE = {
    "baseUrl": "{url}/v1",
    "api": "openai-completions",
    "apiKey": DUMMY_KEY,
    "models": [{"id": _MODEL, "contextWindow": 200_000, "maxTokens": 8_000}],
}


def _list_pi_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    user = files.find_user_folder(PI_FOLDER_VARIABLE, PI_FOLDER)
    is_trusted = not {"-a", "--approve"}.isdisjoint(files.arguments)
    is_trusted |= _is_older(files, _ASKS_FOR_TRUST_SINCE)
    for name in ("SYSTEM.md", APPENDED_FILE):
        paths = [f"{files.start}/.pi/{name}"] * is_trusted + [f"{user}/{name}"] * bool(user)
        yield from map(LoadedFile, [path for path in paths if files.read(path)][:1])
    if not {"-nc", "--no-context-files"}.isdisjoint(files.arguments):
        return
    shadowed = "" if _is_older(files, _KNOWS_WORKTREES_SINCE) else _find_shadowed_file(files)
    folders = files.list_folders() if files.outside else files.list_folders(files.root)
    for folder in (*([user] if user else ()), *folders):
        path = _find_context_file(files, folder)
        if path and path != shadowed:
            yield LoadedFile(path)


def _is_older(files: AgentFiles, version: tuple[int, ...]) -> bool:
    return bool(files.version) and files.version < version


def _find_context_file(files: AgentFiles, folder: str) -> str:
    """Return the one file of a folder that pi loads, "" if it has none."""
    return files.find_first(folder, _NAMES[_is_older(files, _READS_OVERRIDE_SINCE) :])


def _find_shadowed_file(files: AgentFiles) -> str:
    """Return the file of a checkout that pi skips in a worktree inside it, "" if none."""
    folders = [one for one in files.list_folders()[::-1] if ".git" in files.list_names(one)]
    own = _find_context_file(files, folders[0]) if folders else ""
    for checkout in folders[1:] if own else ():
        # git names a worktree like its folder.
        if posixpath.basename(folders[0]) in files.list_names(f"{checkout}/.git/worktrees"):
            return posixpath.join(checkout, posixpath.basename(own))
    return ""


def _exclude_from_pi(files: AgentFiles, paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return what keeps pi from all context files; None if it would miss one of the user's."""
    others = (file.path for file in _list_pi_entries(files) if file.path not in paths)
    is_own = all(files.is_below(path, files.root) for path in others)
    return ("--no-context-files",) if is_own else None


PI = AgentProfile(
    name="pi",
    title="pi",
    program="pi",
    oldest_version="0.74.2",
    installation="npm install -g --ignore-scripts @earendil-works/pi-coding-agent",
    resume=("pi", "--session"),
    login="run `pi` and log in with /login, or set the key of your provider",
    reports_cost=True,
    project_files=("AGENTS.md",),
    parent_files=("AGENTS.md",),
    user_files=(f"{PI_FOLDER}/AGENTS.md",),
    folder=".pi",
    trusts_paths=True,
    own_folders=(UserFolder(f"~/{PI_FOLDER}", (PI_FOLDER_VARIABLE,), read_only=_READ_ONLY),),
    settings=(r"\.pi/(?:settings|mcp)\.json", r"\.pi/(?:extensions|npm|git)(?:/.*)?"),
    executables=(r"\.pi/(?:skills|prompts)/.*", r"\.pi/(?:APPEND_)?SYSTEM\.md"),
    server=ServerSettings(
        f"{_PROVIDER}/{_MODEL}",
        {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"},
        {
            f"{PI_FOLDER}/models.json": {"providers": {_PROVIDER: _SERVICE}},
            f"{PI_FOLDER}/settings.json": {
                "defaultProvider": _PROVIDER,
                "defaultModel": _MODEL,
                "enabledModels": ["{model}"],
            },
        },
        ("--model", "{model}"),
    ),
    steps=SessionSteps(("--continue",), full_tokens=199_000),
    reading=AgentReading(_list_pi_entries, prevent_load=_exclude_from_pi),
)
