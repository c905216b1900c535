"""The members of a workspace: the folders that its globs name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from cub.repomap.stack.facts import Manifest

MOST_MEMBERS = 300
MOST_GLOBS = 100
MOST_WILD = 4  # a glob with more takes a long time to fit nothing


def members(manifest: Manifest, globs: Sequence[str], *names: str) -> list[str]:
    """The folders below the manifest's that the globs name and that have a file of these names.

    `*` stands for one folder, `**` for any depth; a glob that begins with "!" takes out again.
    """
    start = f"{manifest.folder}/" if manifest.folder else ""
    few = [glob for glob in globs[:MOST_GLOBS] if _is_sensible(glob)]
    wanted = [_pattern(glob) for glob in few if glob[:1] != "!"]
    unwanted = [_pattern(glob[1:]) for glob in few if glob[:1] == "!"]
    if not wanted:
        return []
    folders = (folder for folder in _folders(manifest.paths, names) if folder.startswith(start))
    kept = [
        folder
        for folder in folders
        if any(one.fullmatch(folder, len(start)) for one in wanted)
        and not any(one.fullmatch(folder, len(start)) for one in unwanted)
    ]
    return sorted(kept, key=lambda folder: folder.count("/"))[:MOST_MEMBERS]


def _is_sensible(glob: str) -> bool:
    return len(glob) <= 200 and glob.count("*") + glob.count("?") <= MOST_WILD


# One project is looked at after another, so its paths have to be searched only once.
@lru_cache(maxsize=4)
def _folders(paths: frozenset[str], names: tuple[str, ...]) -> list[str]:
    """All folders that have a file of these names."""
    ends = tuple(f"/{name}" for name in names)
    return sorted({path.rpartition("/")[0] for path in paths if path.endswith(ends)})


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """A glob as a regular expression; braces and brackets stand for themselves."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob.removeprefix("./").rstrip("/"))
    kinds = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(kinds.get(part) or re.escape(part) for part in parts))
