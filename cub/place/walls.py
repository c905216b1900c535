"""Build the walls around a command in a place: what it sees of the host, and what it can write."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from cub.place.launcher import make_launcher_argv
from cub.place.mounts import CACHES, Mount, list_devices, list_proc_covers
from cub.processes.command import CommandSpec

_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each command gets its own of these
_PATH_VARIABLE = re.compile(r"(PATH|HOME|PREFIX|VIRTUAL_ENV|ROOT|CONFIG_GLOBAL)$")
_MAX_LINE = 10_000  # a longer word is a prompt
SEATBELT = "/usr/bin/sandbox-exec"  # of macOS
_ROOT = Path(__file__).parents[2]


class Bind(NamedTuple):
    """Make something of the host visible at a path inside.

    `is_layered`: what is written there goes to a layer that is thrown away, if the kernel can.
    """

    source: str
    target: str
    is_writable: bool = False
    is_layered: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """Hold what a command in a place sees.

    `tree` is at `toplevel` inside, the person's checkout; the aside kind works in `tree` itself.
    `hidden` folders are empty inside. `binds` come after these, parents before what is in them.
    `writable` paths of the host stay writable; missing ones are skipped. `readable` ones stay
    visible even in /tmp, which is otherwise empty.
    """

    tree: Path
    toplevel: Path
    hidden: tuple[Path, ...] = ()
    binds: tuple[Bind, ...] = ()
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """Name the kind of a place, by which means it has walls, and why it is not a stronger one.

    `bound`: the tree is at the path of the person's checkout. `aside`: it is where cub keeps it.
    """

    name: Literal["bound", "aside"]
    means: Literal["bwrap", "launcher", "landlock", "seatbelt", "none"]
    reason: str

    @property
    def can_nest(self) -> bool:
        """Return whether a command inside can start a sandbox of its own."""
        return self.means not in ("landlock", "seatbelt")


def confine_command(command: CommandSpec, view: View, kind: PlaceKind) -> CommandSpec:
    """Return a command as one that runs behind the walls; its folder is a path as it is inside."""
    folder = os.fspath(command.folder)
    match kind.means:
        case "none":
            return command
        case "landlock" | "seatbelt":
            return _restrict_command(command, view, kind.means)
        case "launcher":
            words = make_launcher_argv("bound", _list_mounts(view, command), folder)
        case "bwrap":
            words = _make_bwrap_argv(_list_mounts(view, command), folder)
    return command._replace(argv=(*words, *command.argv), folder=Path("/"))


def _restrict_command(command: CommandSpec, view: View, means: str) -> CommandSpec:
    """Return a command that can only write to its tree, what is writable, and scratch folders.

    A folder that the checkout or cub's state is in stays read-only, since these can't be left out.
    The command gets another scratch folder then.
    """
    environ = dict(command.environ)
    home = os.path.realpath(environ.get("HOME") or view.toplevel)
    scratch = [path for path in _list_scratch(environ) if not _is_below(home, [path])]
    scratch = _list_apart(scratch, view)
    if os.path.realpath(environ.get("TMPDIR") or _SCRATCH[0]) not in scratch:
        own = view.tree.parent / "scratch"
        own.mkdir(exist_ok=True)
        environ["TMPDIR"] = os.fspath(own)
        scratch.append(environ["TMPDIR"])
    writable = _list_apart(map(os.fspath, view.writable), view)
    mounted = [bind.source for bind in view.binds if bind.is_writable]
    paths = [os.fspath(view.tree), *mounted, *writable, *scratch, *list_devices(os.geteuid() == 0)]
    paths = [os.path.realpath(path) for path in paths]
    if means == "seatbelt":
        words = [SEATBELT, "-p", _make_seatbelt_profile(paths)]
        return command._replace(argv=(*words, *command.argv), environ=environ)
    mounts = [("write", "", path) for path in paths]
    words = make_launcher_argv("landlock", mounts, os.fspath(command.folder))
    return command._replace(argv=(*words, *command.argv), folder=Path("/"), environ=environ)


def _list_apart(paths: Iterable[str], view: View) -> list[str]:
    """Return the paths that neither are in the checkout or cub's state, nor have these in them."""
    protected = [os.path.realpath(path) for path in (view.toplevel, *view.hidden)]
    return [
        path
        for path in map(os.path.realpath, paths)
        if not _is_below(path, protected) and not any(_is_below(one, [path]) for one in protected)
    ]


def _make_seatbelt_profile(writable: Iterable[str]) -> str:
    """Return what Landlock does as a profile for macOS. Nobody has tried it there yet."""
    quoted = [json.dumps(path, ensure_ascii=False) for path in writable]
    rules = "".join(f"(allow file-write* (subpath {path}))" for path in quoted)
    signals = "(deny signal)(allow signal (target same-sandbox))"
    return f"(version 1)(allow default){signals}(deny file-write*){rules}"


def _list_mounts(view: View, command: CommandSpec) -> list[Mount]:
    """Return what to mount over the host, which is read-only: parents before what is in them."""
    toplevel = os.path.realpath(view.toplevel)
    hidden = [os.path.realpath(path) for path in view.hidden if path.is_dir()]
    scratch = [path for path in _list_scratch(command.environ) if not _is_below(path, [toplevel])]
    mounts: list[Mount] = [("tmpfs", "1777", path) for path in scratch]
    mounts += [("read", path, path) for path in _list_visible_entries(scratch, view, command)]
    if os.path.isdir("/run/user"):
        mounts.append(("tmpfs", "755", "/run/user"))
    for path in map(os.path.realpath, view.writable):
        if os.path.exists(path) and not _is_below(path, [toplevel, *hidden]):
            mounts.append(("write", path, path))
    mounts.append(("write", os.fspath(view.tree), toplevel))
    mounts += [("tmpfs", "755", path) for path in hidden]
    for bind in view.binds:
        action = "layer" if bind.is_layered else "write" if bind.is_writable else "read"
        if os.path.exists(bind.source):
            mounts.append((action, bind.source, _resolve_target(bind.target, view.toplevel)))
    return sorted(mounts, key=lambda mount: mount[2].rstrip("/").count("/"))


def _list_scratch(environ: Mapping[str, str]) -> list[str]:
    """Return the folders for temporary files, without symbolic links in their paths."""
    paths = [*_SCRATCH, environ.get("TMPDIR") or _SCRATCH[0]]
    resolved = dict.fromkeys(map(os.path.realpath, paths))
    return [path for path in resolved if path != "/" and os.path.isdir(path)]


def _list_visible_entries(scratch: Sequence[str], view: View, command: CommandSpec) -> list[str]:
    """Return the entries of scratch folders that stay visible, read-only, for what is in them."""
    folders = (view.toplevel, view.tree, *view.readable, *view.writable, _ROOT)
    paths = [*map(os.fspath, folders), sys.prefix, sys.base_prefix]
    paths += [bind.source for bind in view.binds]
    paths += [*_list_paths_of_environ(command.environ), *_list_paths_of_words(command.argv)]
    entries = set()
    for path in {*paths, *map(os.path.realpath, paths)}:
        for folder in scratch:
            if path.startswith(f"{folder}/"):
                entries.add(f"{folder}/{path[len(folder) + 1 :].partition('/')[0]}")
    return sorted(path for path in entries - {*scratch} if os.path.exists(path))


def _list_paths_of_environ(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the absolute paths in variables that name programs, libraries and settings."""
    for name, value in environ.items():
        if _PATH_VARIABLE.search(name):
            yield from (path for path in value.split(os.pathsep) if path.startswith("/"))


def _list_paths_of_words(argv: Sequence[str]) -> Iterator[str]:
    """Yield the absolute paths among the words of a command, and the files in a line of shell.

    A file right in /tmp may be one that the line writes, so it has to be a program.
    """
    for word in argv:
        if word.startswith("/"):
            yield word
        elif len(word) < _MAX_LINE:
            for part in filter(os.path.isfile, word.split()):
                if os.path.dirname(part) not in _SCRATCH or os.access(part, os.X_OK):
                    yield part


def _resolve_target(target: str, toplevel: Path) -> str:
    """Return where to mount: the folder in it is resolved, but not what is in the tree."""
    above = os.fspath(toplevel)
    if _is_below(target, [above]):
        return os.path.realpath(above) + target[len(above) :]
    return f"{os.path.realpath(os.path.dirname(target))}/{os.path.basename(target)}"


def _is_below(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of these folders, or in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


@cache
def find_bwrap() -> str:
    """Return bwrap's path; "" if there is none that is not setuid."""
    program = shutil.which("bwrap")
    return program if program and not Path(program).stat().st_mode & stat.S_ISUID else ""


def _make_bwrap_argv(mounts: Sequence[Mount], folder: str) -> list[str]:
    """Return what to put before a command so that bwrap does what the launcher would."""
    root = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--dev", "/dev"]
    words = [find_bwrap(), "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc"]
    covers = [word for path in list_proc_covers() for word in ("--ro-bind", path, path)]
    words += [*root, *covers] if os.geteuid() == 0 else ["--dev-bind", "/dev", "/dev"]
    for action, source, target in mounts:
        match action:
            case "tmpfs":
                words += ["--tmpfs", target]
            case "write":
                words += ["--bind", source, target]
            case "layer" if _has_layers():
                words += ["--overlay-src", source, "--tmp-overlay", target]
            case _:
                words += ["--ro-bind", source, target]
                for name in CACHES if action == "layer" else ():
                    if os.path.isdir(f"{source}/{name}"):
                        words += ["--tmpfs", f"{target}/{name}"]
    return [*words, "--chdir", folder, "--"]


@cache
def _has_layers() -> bool:
    """Return whether this bwrap (0.11 or newer) and kernel can have writes go to memory."""
    layer = ["--ro-bind", "/", "/", "--overlay-src", "/usr", "--tmp-overlay", "/usr"]
    words = [find_bwrap(), *layer, "/bin/sh", "-c", ":"]
    return not subprocess.run(words, capture_output=True, check=False).returncode  # noqa: S603
