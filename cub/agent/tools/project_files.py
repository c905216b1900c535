"""List the files that a search looks at, and choose those that match a glob pattern."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.files.glob_patterns import compile_glob, expand_braces
from cub.git.process import query_git, split_nul, strip_git_variables
from cub.git.worktree import find_toplevel, is_ignored
from cub.repomap.listing.file_listing import ListedFile, stat_files

_GIT_TIMEOUT = 60.0
_MAX_WALKED_FILES = 200_000
_MAX_ALTERNATIVES = 200


def resolve_search_path(text: str, context: ToolContext) -> Path:
    """Return the real path of what a search begins at; ToolError if there is nothing."""
    path = context.resolve_path(text)
    if ".git" in {part.casefold() for part in path.parts}:
        raise ToolError(f"{text} belongs to git and is not searched", hint="use Bash to run git")
    if not path.exists():
        raise ToolError(f"{text} does not exist")
    return path


def list_searched_files(folder: Path, context: ToolContext) -> list[ListedFile]:
    """List the regular files below a folder, by their paths relative to it.

    These are the files that git tracks or does not ignore, without those of nested repositories.
    Outside git, and below an ignored folder, all files count. Links are left out, and so are files
    that no call may read.
    """
    paths = set(_list_paths(folder, context))
    shown = (path for path in paths if not context.hides_file(folder / path))
    return [*stat_files(folder, sorted(shown), [])]


def _list_paths(folder: Path, context: ToolContext) -> Sequence[str]:
    top = find_toplevel(folder)
    if top is None:
        return [*_walk_files(folder, context)]
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    environ = strip_git_variables(context.environ)
    result = query_git(folder, *words, environ=environ, timeout=_GIT_TIMEOUT)
    if result is None or result.exit_code:
        return [*_walk_files(folder, context)]
    paths = split_nul(result.stdout)
    if not paths and folder != top and is_ignored(top, folder.relative_to(top).as_posix()):
        return [*_walk_files(folder, context)]
    return paths


def _walk_files(folder: Path, context: ToolContext) -> Iterator[str]:
    base, count = os.fsencode(folder), 0
    for place, folders, names in os.walk(base):
        if context.stop.is_requested:
            raise ToolError("the search was stopped")
        folders[:] = [name for name in folders if name != b".git"]
        count += len(names)
        if count > _MAX_WALKED_FILES:
            raise ToolError(
                f"there are more than {_MAX_WALKED_FILES:,} files",
                hint="pass a smaller directory as path",
            )
        prefix = place[len(base) :].lstrip(b"/") + b"/" if place != base else b""
        yield from ((prefix + name).decode("utf-8", "surrogateescape") for name in names)


def name_found_files(folder: Path, context: ToolContext) -> Callable[[str], str]:
    """Return a function that names a file below a folder so that Read takes the name."""
    inside = folder.is_relative_to(context.folder)
    place = folder.relative_to(context.folder).as_posix() if inside else folder.as_posix()
    prefix = "" if place == "." else f"{place}/"
    return lambda path: f"./{prefix}{path}" if (prefix or path).startswith("~") else prefix + path


def compile_search_glob(pattern: str, folder: Path) -> Callable[[str], bool]:
    """Return a test of paths relative to `folder`; the pattern may begin with the folder.

    Raises ToolError for a pattern that leads elsewhere, or stands for too many.
    """
    pattern = pattern.removeprefix("./").removeprefix(f"{folder.as_posix()}/")
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise ToolError("a glob pattern is relative", hint="pass the directory as path")
    if len(expand_braces([pattern])) > _MAX_ALTERNATIVES:
        raise ToolError(f"the pattern has more than {_MAX_ALTERNATIVES} alternatives")
    return compile_glob(pattern)
