"""Apply a patch to what HEAD has, in an index and an object store that are thrown away.

Neither the repository nor the work tree changes: the result is the bytes that files would have.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError, raise_all
from cub.git.objects import SUBMODULE_MODE
from cub.git.process import (
    GitResult,
    decode_output,
    join_nul,
    make_git_error,
    run_git,
    split_nul,
    try_git,
)
from cub.git.worktree import read_head

PROGRAM_MODE = 0o100755
# A person's settings that would change bytes, or accept a patch that fits only about.
_EXACT = ("-c", "apply.whitespace=nowarn", "-c", "apply.ignoreWhitespace=no")
_FAILURE = re.compile(r"error: (?:patch failed: (?P<failed>.+):(?P<line>\d+)|(?P<path>.+): .+)")


class PatchedFile(NamedTuple):
    """Hold a file of a patch: its path from the top, and what it is before and after.

    The modes are git's, 0 for no file; `before` and `after` are what a checkout would have, with
    its line endings, None for no file; of a link, its text.
    """

    path: str
    old_mode: int
    new_mode: int
    before: bytes | None
    after: bytes | None


def read_patched_files(toplevel: Path, patch: bytes, *, hint: str = "") -> list[PatchedFile]:
    """Return the files that a patch changes, as they are in HEAD and with the patch.

    Raises CubError, with a place and the `hint` for each file that the patch does not fit.
    """
    with tempfile.TemporaryDirectory(prefix="cub-patch-") as name:
        folder = Path(name)
        environ = _make_environment(toplevel, folder)
        if head := read_head(toplevel).commit:
            run_git(toplevel, "read-tree", head, environ=environ)
        numbers = run_git(toplevel, "apply", "--numstat", "-z", "-", stdin=patch)
        touched = [line.split("\t", 2)[2] for line in split_nul(numbers)]
        old_modes = _list_modes(toplevel, touched, environ)
        before = _check_out(toplevel, folder / "before", old_modes, environ)
        result = try_git(toplevel, *_EXACT, "apply", "--cached", "-", stdin=patch, environ=environ)
        if result.exit_code:
            raise_all(_make_errors(result, touched, hint))
        new_modes = _list_modes(toplevel, touched, environ)
        after = _check_out(toplevel, folder / "after", new_modes, environ)
        return [
            PatchedFile(
                path, old_modes.get(path, 0), new_modes.get(path, 0), before.get(path),
                after.get(path),
            )
            for path in touched
        ]  # fmt: skip


def _make_environment(toplevel: Path, folder: Path) -> dict[str, str]:
    objects = toplevel / decode_output(
        run_git(toplevel, "rev-parse", "--git-path", "objects")
    ).removesuffix("\n")
    (folder / "objects").mkdir()
    quoted = str(objects).replace("\\", "\\\\").replace('"', '\\"')
    return {
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"',
    }


def _list_modes(toplevel: Path, paths: Iterable[str], environ: Mapping[str, str]) -> dict[str, int]:
    """Return the modes of those of the paths that are in the index."""
    wanted = set(paths)
    lines = split_nul(run_git(toplevel, "ls-files", "--stage", "-z", environ=environ))
    entries = (line.partition("\t") for line in lines)
    return {path: int(about[:6], 8) for about, _, path in entries if path in wanted}


def _check_out(
    toplevel: Path, folder: Path, modes: Mapping[str, int], environ: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the content of files of the index, by git's own rules for line endings and filters."""
    paths = [path for path, mode in modes.items() if mode != SUBMODULE_MODE]
    words = ("checkout-index", f"--prefix={folder.as_posix()}/", "-z", "--stdin")
    run_git(toplevel, *words, stdin=join_nul(paths), environ=environ)
    return {path: _read(folder / path) for path in paths}


def _read(path: Path) -> bytes:
    return os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()


def _make_errors(result: GitResult, touched: list[str], hint: str) -> list[CubError]:
    """Return an error for each file that git's messages name, with the line if they have one."""
    places: dict[str, str] = {}
    for line in decode_output(result.stderr).splitlines():
        if not (found := _FAILURE.match(line)):
            continue
        if found["failed"] in touched:
            places[found["failed"]] = f"{found['failed']}:{found['line']}"
        elif found["path"] in touched:
            places.setdefault(found["path"], found["path"])
    message = "the patch does not fit: the file has changed since that attempt"
    errors = [CubError(message, where=place, hint=hint) for place in places.values()]
    return errors or [make_git_error("apply", result)]
