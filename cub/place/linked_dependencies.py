"""Find what leads from an environment to the person's checkout, for trees that are elsewhere.

Checks in such a tree judge the attempt only if what they load is in it. An editable install, a
workspace package in node_modules, or a path in a variable leads them to the person's files instead.
Where the tree's own folders can come first, variables see to that; other links are refused by name.
No program is started to find out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError
from cub.git.tracked_files import filter_tracked_files
from cub.git.worktree import find_toplevel
from cub.processes.command import iter_candidates, read_interpreter

_MAX_NAMED = 5
_MAX_BYTES = 1 << 20  # of a file in site-packages
_PYTHON = "PYTHONPATH"  # it counts before site-packages, and before finders that are appended
_VARIABLES = ("PATH", _PYTHON, "NODE_PATH")
_PROGRAMS = ("python", "python3", "pytest")
_SITE_FOLDERS = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages")
_VERSION_FOLDERS = ("versions/*", "installs/python/*")  # of pyenv; of asdf and mise
_SYSTEM_PACKAGES = re.compile(r"(?mi)^include-system-site-packages *= *true")
_WORD = re.compile(r"[^\s'\"`;&|()<>=:,]+")
_ABSOLUTE_PATH = re.compile(r"(?<![\w.~$}*/-])/[^\s'\"`;&|()<>=:,]+")
_ISOLATED_PYTHON = re.compile(r"\bpython[\d.]*\s+(?:-\w+\s+)*-[a-zA-Z]*[IE]")  # no PYTHONPATH
_IMPORT = re.compile(r"import\s+([\w.-]+)")
# With the name that an editable install gives it: {'bread': '/…'}, map_module('bread', '/…').
_NAMED_PATH = re.compile(r"""(?:['"]([\w.]+)['"]\s*[:,]\s*\[?\s*)?['"](/[^'"\n]+)['"]""")
# Finders and paths that come before PYTHONPATH: of meson-python, scikit-build-core, old setuptools.
_FIRST = re.compile(r"meta_path\.insert\(\s*0|__egginsert")


class CheckoutLink(NamedTuple):
    """Say what leads to the checkout, and where in it.

    If `variable` is not "", a program doesn't use it while that variable has the tree's copy of
    `folder` first. `is_import_hook`: it comes before all variables, and may lead to the sources by
    way of a build folder.
    """

    source: str
    target: Path
    variable: str = ""
    folder: Path = Path()
    is_import_hook: bool = False

    def to_text(self) -> str:
        """Return both as one clause."""
        return f"{self.source} leads to {self.target.as_posix()}"


def require_own_dependencies(links: Sequence[CheckoutLink]) -> None:
    """Raise CubError if checks in a tree elsewhere would use files of the checkout all the same."""
    if not (rest := [link.to_text() for link in links if not link.variable]):
        return
    first, *others = rest
    more = [f"and {len(others) - _MAX_NAMED} more"] if len(others) > _MAX_NAMED else []
    raise CubError(
        f"{first}, so checks would test your files instead of the attempt's",
        hint="this system keeps cub from binding the attempt to your project's path "
        "(`run.place`): use an environment without this link, or let a check or `run.setup` make "
        "one",
        details=[*others[:_MAX_NAMED], *more],
    )


def make_tree_variables(
    toplevel: Path, tree: Path, links: Sequence[CheckoutLink], environ: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables with which programs load what is in the tree, and not the checkout."""
    top, changed = os.path.realpath(toplevel), dict[str, str]()
    for name in dict.fromkeys(link.variable for link in links if link.variable):
        folders = [folder for folder in environ.get(name, "").split(os.pathsep) if folder]
        mine = [os.fspath(link.folder) for link in links if link.variable == name]
        leading = {
            folder: os.fspath(tree / os.path.relpath(os.path.realpath(folder), top))
            for folder in dict.fromkeys(mine)
        }
        replaced = [leading.get(folder, folder) for folder in folders]
        added = [path for folder, path in leading.items() if folder not in folders]
        changed[name] = os.pathsep.join(dict.fromkeys([*added, *replaced]))
    return changed


def find_links_to_checkout(
    root: Path, checks: Sequence[str], environ: Mapping[str, str], shared: Sequence[str] = ()
) -> list[CheckoutLink]:
    """Return what leads from the environment, the text of a check, or a shared folder to files
    that git tracks in the checkout around `root`: a tree elsewhere has its own copy of these.

    Left out are links of a shared node_modules: see `cub.place.shared_links`.
    """
    toplevel = Path(os.path.realpath(find_toplevel(root) or root))
    folders = [toplevel / path for path in shared]
    links = dict.fromkeys(_iter_links(root, checks, environ, folders))
    inside: dict[CheckoutLink, str] = {}
    for link in links:
        with suppress(ValueError):
            path = Path(os.path.realpath(link.target)).relative_to(toplevel).as_posix()
            if not {"node_modules", "site-packages"} & set(path.split("/")):
                inside[link] = path
    tracked = filter_tracked_files(toplevel, sorted(set(inside.values())))
    is_isolated = any(map(_ISOLATED_PYTHON.search, checks))
    return [
        link._replace(variable="") if is_isolated and link.variable == _PYTHON else link
        for link, path in inside.items()
        if _has_files(path, tracked) or link.is_import_hook
    ]


def _has_files(path: str, tracked: Sequence[str]) -> bool:
    """Return whether a path is a tracked file, or a folder with one in it."""
    return any(path in (".", name) or name.startswith(f"{path}/") for name in tracked)


def _iter_links(
    root: Path, checks: Sequence[str], environ: Mapping[str, str], folders: Sequence[Path]
) -> Iterator[CheckoutLink]:
    """Yield what leads anywhere."""
    for name in _VARIABLES:
        values = environ.get(name, "").split(os.pathsep)
        yield from (CheckoutLink(name, Path(one), name, Path(one)) for one in values
                    if os.path.isabs(one))  # noqa: PTH117  # fmt: skip
    for check in checks:
        for path in _ABSOLUTE_PATH.findall(check):
            yield CheckoutLink(f"the check `{check}`", Path(path))
    words = [word for check in checks for word in _WORD.findall(check)]
    for folder in _list_site_folders((*_PROGRAMS, *words), environ, folders):
        yield from _iter_site_links(folder)
    # Node.js looks for modules in each folder above.
    for folder in (one / "node_modules" for one in (root, *root.parents)):
        if folder not in folders:  # those are linked into the tree entry by entry
            for entry in [*_glob(folder, "*"), *_glob(folder, "@*/*")]:
                if entry.is_symlink():
                    yield CheckoutLink(entry.as_posix(), Path(os.path.realpath(entry)))


def _list_site_folders(
    names: Sequence[str], environ: Mapping[str, str], environments: Sequence[Path]
) -> list[Path]:
    """Return the folders from which programs of these names, and those of the environments, would
    import Python packages.
    """
    programs = [Path(folder, "bin/python") for key in ("VIRTUAL_ENV", "CONDA_PREFIX")
                if (folder := environ.get(key))]  # fmt: skip
    for name in dict.fromkeys(names):
        if "/" not in name or os.path.isabs(name):  # noqa: PTH117
            found = (path for path in iter_candidates(name, Path("/"), environ) if path.is_file())
            programs += [path for path in [next(found, None)] if path]
    prefixes = dict.fromkeys(environments)
    for program in programs:
        prefixes.update(dict.fromkeys(_iter_prefixes(program, environ)))
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
            own = environ.get("PYTHONUSERBASE") or Path(environ.get("HOME", "/"), ".local")
            yield from (path.parent.parent, Path("/usr/local"), Path(own))


def _iter_site_links(folder: Path) -> Iterator[CheckoutLink]:
    """Yield where .pth files, the modules that these import, and symbolic links lead."""
    for entry in _glob(folder, "*"):
        if entry.is_symlink():
            yield _make_module_link(entry.as_posix(), entry.name, Path(os.path.realpath(entry)))
        text = _read_text(entry) if entry.suffix == ".pth" else ""
        is_first = _FIRST.search(text) is not None
        for line in text.splitlines():
            if module := _IMPORT.match(line):
                yield from _iter_import_links(entry, line)
                # That of an editable install has names and paths as strings.
                finder = folder / f"{module[1]}.py"
                yield from _iter_import_links(finder, _read_text(finder))
            elif line.strip() and not line.startswith("#"):
                target = folder / line.strip()
                yield CheckoutLink(entry.as_posix(), target, "" if is_first else _PYTHON, target)


def _iter_import_links(file: Path, text: str) -> Iterator[CheckoutLink]:
    """Yield where the paths in a module's text lead."""
    is_hook = _FIRST.search(text) is not None
    for name, path in _NAMED_PATH.findall(text):
        link = _make_module_link(file.as_posix(), name, Path(path))
        yield link._replace(variable="", is_import_hook=True) if is_hook else link


def _make_module_link(source: str, name: str, target: Path) -> CheckoutLink:
    """Make the link of a module; its name decides which folder has to be on PYTHONPATH."""
    module = target.parent if target.name == "__init__.py" else target
    parts = name.removesuffix(".py").split(".") if name else []
    if not parts or [*module.parts[-len(parts) : -1], module.stem] != parts:
        return CheckoutLink(source, target)
    return CheckoutLink(source, target, _PYTHON, module.parents[len(parts) - 1])


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
