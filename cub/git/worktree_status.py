"""Ask git which tracked files have changes that nobody has committed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from cub.git.process import run_git, split_nul

_FIELDS = {"1": 8, "2": 9, "u": 10}  # before the path, by the first word of a line


def list_dirty_paths(
    toplevel: Path, environ: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """List the tracked files that are not what HEAD says, staged or not. Raises CubError."""
    words = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no")
    lines = split_nul(
        run_git(
            toplevel,
            *words,
            "--ignore-submodules=untracked",
            environ={"GIT_OPTIONAL_LOCKS": "0", **environ},
        )
    )
    return sorted({line.split(" ", _FIELDS[line[0]])[-1] for line in lines if line})
