"""List what tools leave behind and people do not write: caches, packages, builds."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

# Never part of a snapshot, while git does not track it; docs/reference/run.md lists them.
TOOL_ARTIFACT_PATTERNS = (
    "__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/",
    ".aider*", "node_modules/", ".DS_Store",
)  # fmt: skip
_FILE_PATTERNS = tuple(name for name in TOOL_ARTIFACT_PATTERNS if not name.endswith("/"))
_FOLDER_PATTERNS = tuple(name.rstrip("/") for name in TOOL_ARTIFACT_PATTERNS)
# Folders with names that sources do not have.
TOOL_FOLDERS = frozenset((
    *(name.rstrip("/") for name in TOOL_ARTIFACT_PATTERNS if name.endswith("/")),
    ".venv", "venv", ".tox", ".nox", ".eggs", ".gradle", ".next", ".nuxt", ".terraform", "htmlcov",
    "bower_components",
))  # fmt: skip
# Folders that tools fill again, if git ignores them: sources may have these names, too.
REBUILDABLE_FOLDERS = TOOL_FOLDERS | {"env", "target", "build", "dist", "out", "vendor", "coverage"}
# Files of running processes and editors.
TRANSIENT_PATTERNS = (
    "*.pyc", "*.lock", "*.pid", "*.sock", "*.tmp", "*.swp", "*-wal", "*-shm", "*-journal",
    ".DS_Store", ".aider*",
)  # fmt: skip
# Files that tools write whenever they run.
OFTEN_WRITTEN_PATTERNS = (
    "*.log", "*.db", "*.sqlite", "*.sqlite3", ".coverage*", "coverage.xml", "*.tsbuildinfo",
    ".eslintcache", "*.tfstate*", "*.egg-info/*", "*cache*",
)  # fmt: skip

# Of sources that a build turns into files beside them.
COMPILED_SUFFIXES = frozenset((
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".pyx", ".pxd", ".pxi", ".rs", ".f",
    ".f90", ".f95", ".m", ".mm", ".cu", ".go", ".zig", ".s", ".asm", ".i", ".gyp", ".gypi",
))  # fmt: skip


def is_tool_artifact(path: str) -> bool:
    """Return whether a path, or a folder on the way to it, is one that tools leave behind."""
    *folders, name = path.split("/")
    return matches_any(name, _FILE_PATTERNS) or any(
        matches_any(folder, _FOLDER_PATTERNS) for folder in folders
    )


def is_rebuildable(path: str) -> bool:
    """Return whether tools fill a folder again, by its name, if git ignores it."""
    name = path.rpartition("/")[2]
    return name in REBUILDABLE_FOLDERS or "cache" in name.lower()


def is_often_written(path: str) -> bool:
    """Return whether tools write a file whenever they run."""
    names = (path.rpartition("/")[2], path)
    return any(matches_any(name, OFTEN_WRITTEN_PATTERNS) for name in names)


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches one of the shell patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
