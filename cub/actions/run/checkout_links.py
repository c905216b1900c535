"""Find what leads from a run's environment to the checkout that its linked worktree is made of.

Checks in a worktree judge the attempt only if what they load is in it. An editable install, a
workspace package in node_modules, or a path in a variable leads them to the user's files instead.
No program is started to find out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cub.actions.run.command_trust import iter_task_checks
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git import filter_tracked_files, find_toplevel
from cub.processes.command import iter_candidates, read_interpreter

_MAX_NAMED = 5
_MAX_BYTES = 1 << 20  # of a file in site-packages
_VARIABLES = ("PATH", "PYTHONPATH", "NODE_PATH")
_PROGRAMS = ("python", "python3", "pytest")
_SITE_FOLDERS = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages")
_VERSION_FOLDERS = ("versions/*", "installs/python/*")  # of pyenv; of asdf and mise
_SYSTEM_PACKAGES = re.compile(r"(?mi)^include-system-site-packages *= *true")
_WORD = re.compile(r"[^\s'\"`;&|()<>=:,]+")
_ABSOLUTE_PATH = re.compile(r"(?<![\w.~$}*/-])/[^\s'\"`;&|()<>=:,]+")
_IMPORT = re.compile(r"import\s+([\w.-]+)")
_QUOTED_PATH = re.compile(r"""['"](/[^'"\n]+)['"]""")


class CheckoutLink(NamedTuple):
    """Say what leads to the checkout, and where in it."""

    source: str
    target: Path

    def to_text(self) -> str:
        """Return both as one clause."""
        return f"{self.source} leads to {self.target}"


def require_separate_checkout(
    stores: Stores, settings: RunSettings, environ: Mapping[str, str]
) -> None:
    """Raise CubError if checks in a worktree of the project's checkout would use its files."""
    checks = [*settings.checks]
    if settings.uses_task_checks:
        checks += chain.from_iterable(dict(iter_task_checks(stores.backend.read_tasks())).values())
    links = find_checkout_links(stores.project.root, checks, environ)
    if not links:
        return
    first, *others = [link.to_text() for link in links]
    more = [f"and {len(others) - _MAX_NAMED} more"] if len(others) > _MAX_NAMED else []
    raise CubError(
        f"{first}, so checks in a worktree would test your files instead of the attempt's",
        hint="run without `--worktree`, or from an environment without this link: "
        "`deactivate` leaves a virtual environment",
        details=[*others[:_MAX_NAMED], *more],
    )


def find_checkout_links(
    root: Path, checks: Sequence[str], environ: Mapping[str, str]
) -> list[CheckoutLink]:
    """Return what leads from the environment, or the text of a check, to files that git tracks in
    the checkout around `root`: a worktree has its own copy of these.
    """
    toplevel = Path(os.path.realpath(find_toplevel(root) or root))
    links = dict.fromkeys(_iter_links(root, checks, environ))
    inside: dict[CheckoutLink, str] = {}
    for link in links:
        with suppress(ValueError):
            path = Path(os.path.realpath(link.target)).relative_to(toplevel).as_posix()
            if "node_modules" not in path.split("/"):
                inside[link] = path
    tracked = filter_tracked_files(toplevel, sorted(set(inside.values())))
    return [link for link, path in inside.items() if _has_files(path, tracked)]


def _has_files(path: str, tracked: Sequence[str]) -> bool:
    """Return whether a path is a tracked file, or a folder with one in it."""
    return any(path in (".", name) or name.startswith(f"{path}/") for name in tracked)


def _iter_links(
    root: Path, checks: Sequence[str], environ: Mapping[str, str]
) -> Iterator[CheckoutLink]:
    """Yield what leads anywhere."""
    for name in _VARIABLES:
        folders = environ.get(name, "").split(os.pathsep)
        yield from (CheckoutLink(name, Path(one)) for one in folders if os.path.isabs(one))  # noqa: PTH117
    for check in checks:
        for path in _ABSOLUTE_PATH.findall(check):
            yield CheckoutLink(f"the check `{check}`", Path(path))
    words = [word for check in checks for word in _WORD.findall(check)]
    for folder in _list_site_folders((*_PROGRAMS, *words), environ):
        yield from _iter_site_links(folder)
    for folder in (root, *root.parents):  # Node.js looks for modules in each one
        for entry in [*_glob(folder, "node_modules/*"), *_glob(folder, "node_modules/@*/*")]:
            if entry.is_symlink():
                yield CheckoutLink(str(entry), Path(os.path.realpath(entry)))


def _list_site_folders(names: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Return the folders from which programs of these names would import Python packages."""
    programs = [Path(folder, "bin/python") for key in ("VIRTUAL_ENV", "CONDA_PREFIX")
                if (folder := environ.get(key))]  # fmt: skip
    for name in dict.fromkeys(names):
        if "/" not in name or os.path.isabs(name):  # noqa: PTH117
            found = (path for path in iter_candidates(name, Path("/"), environ) if path.is_file())
            programs += [path for path in [next(found, None)] if path]
    prefixes = dict.fromkeys(
        prefix for program in programs for prefix in _iter_prefixes(program, environ)
    )
    folders = [path for prefix in prefixes for one in _SITE_FOLDERS for path in _glob(prefix, one)]
    return [Path(one) for one in dict.fromkeys(map(os.path.realpath, folders))]


def _iter_prefixes(program: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the Python installations whose packages a program may import."""
    if program.parent.name == "shims":  # the version is chosen at each start
        for pattern in _VERSION_FOLDERS:
            yield from _glob(program.parent.parent, pattern)
        return
    interpreter = read_interpreter(program)
    for path in dict.fromkeys([program, Path(os.path.realpath(program)), Path(interpreter)]):
        config = path.parent.parent / "pyvenv.cfg"
        if config.is_file():
            yield config.parent
            if not _SYSTEM_PACKAGES.search(_read_text(config)):
                return
        elif "python" in (interpreter or path.name) and path.is_absolute():
            yield path.parent.parent
            yield from (Path("/usr/local"), _find_user_base(environ))


def _find_user_base(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("PYTHONUSERBASE") or Path(environ.get("HOME", "/"), ".local"))


def _iter_site_links(folder: Path) -> Iterator[CheckoutLink]:
    """Yield where .pth files, the modules that these import, and symbolic links lead."""
    for entry in _glob(folder, "*"):
        if entry.is_symlink():
            yield CheckoutLink(str(entry), entry)
        for line in _read_text(entry).splitlines() if entry.suffix == ".pth" else ():
            if module := _IMPORT.match(line):
                # That of an editable install maps names to paths, which it has as strings.
                finder = folder / f"{module[1]}.py"
                for path in _QUOTED_PATH.findall(_read_text(finder)):
                    yield CheckoutLink(str(finder), Path(path))
            elif line.strip() and not line.startswith("#"):
                yield CheckoutLink(str(entry), folder / line.strip())


def _read_text(file: Path) -> str:
    """Read a file; "" where it can't be read."""
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return what matches, in order; [] where it can't be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
