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
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from cub.errors import CubError
from cub.place.launcher import make_launcher_argv
from cub.place.mounts import CACHES, Mount, list_devices, list_proc_covers
from cub.processes.command import CommandSpec

_SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each command gets its own of these
_PATH_VARIABLE = re.compile(r"(PATH|HOME|PREFIX|VIRTUAL_ENV|ROOT|CONFIG_GLOBAL)$")
_MAX_LINE = 10_000  # a longer word is a prompt
_STATUS_LINE = re.compile(r"^(?:NoNewPrivs|Seccomp):.*", re.MULTILINE)
_SETTINGS = (
    "sys/kernel/random/boot_id",
    "sys/kernel/apparmor_restrict_unprivileged_userns",
    "sys/kernel/unprivileged_userns_clone",
    "sys/user/max_user_namespaces",
    "self/attr/current",
)
_TRY_SECONDS = 20
_SEATBELT = "/usr/bin/sandbox-exec"  # of macOS
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


def find_place_kind(setting: str, state: Path) -> PlaceKind:
    """Return the strongest kind that works here, found by doing it in the folder `state`.

    `setting` is auto, bound or aside. The answer is kept until the system starts anew, or allows
    something else. Raises CubError if bound is asked for and does not work.
    """
    kept, key = state / "place-kind.json", f"{setting} {_describe_system()}"
    kind = _read_kind(kept, key)
    if not kind or setting not in ("auto", kind.name):
        state.mkdir(parents=True, exist_ok=True)
        kind = _try_kinds(setting, state)
        text = json.dumps([key, kind.name, kind.means, kind.reason])
        with suppress(OSError):
            kept.write_text(text, encoding="utf-8")
    if setting == "bound" and kind.name != "bound":
        raise CubError(
            f"run.place is bound, but {kind.reason}",
            hint="set run.place to auto, or allow unprivileged user namespaces",
        )
    return kind


def _describe_system() -> str:
    """Return what decides on the walls that work: another container has other namespaces."""
    words = [sys.executable, str(_find_bwrap()), str(getattr(os, "geteuid", lambda: 0)())]
    for name in (*_SETTINGS, "self/status"):
        with suppress(OSError):
            text = Path("/proc", name).read_text(encoding="ascii", errors="replace")
            words += _STATUS_LINE.findall(text) if name.endswith("status") else [text.strip()]
    for name in ("user", "pid"):
        with suppress(OSError):
            words.append(Path("/proc/self/ns", name).readlink().name)
    return " ".join(words)


def _read_kind(file: Path, key: str) -> PlaceKind | None:
    try:
        found, *fields = json.loads(file.read_text(encoding="utf-8"))
        return PlaceKind(*fields) if found == key else None
    except (OSError, ValueError, TypeError):
        return None


def _try_kinds(setting: str, state: Path) -> PlaceKind:
    """Return the first kind of which a try works, and why a stronger one does not."""
    reason = "run.place is aside" if setting == "aside" else ""
    if sys.platform != "linux":
        kind = PlaceKind("aside", "seatbelt", reason or "only Linux has namespaces")
        failure = try_kind(kind, state) if os.path.exists(_SEATBELT) else "no Seatbelt"
        return replace(kind, means="none") if failure else kind
    kinds = [PlaceKind("bound", "launcher", ""), PlaceKind("bound", "bwrap", "")]
    for kind in () if reason else kinds[: 2 if _find_bwrap() else 1]:
        if not (failure := try_kind(kind, state)):
            return kind
        reason = reason or f"namespaces do not work here ({failure})"
    kind = PlaceKind("aside", "landlock", reason)
    if failure := try_kind(kind, state):
        return PlaceKind("aside", "none", f"{reason}, nor does Landlock ({failure})")
    return kind


def try_kind(kind: PlaceKind, state: Path) -> str:
    """Try the walls in a new folder of `state`; return why they don't hold, "" if they do."""
    with TemporaryDirectory(prefix="walls-", dir=state) as name:
        base = Path(os.path.realpath(name))
        view = View(base / "tree", base / "checkout", hidden=(base / "hidden",))
        for folder in (view.tree, view.toplevel, *view.hidden):
            folder.mkdir()
        inside = view.toplevel if kind.name == "bound" else view.tree
        script = 'echo inside > file; echo outside > "$1"; exit 0'
        words = ("/bin/sh", "-c", script, "sh", os.fspath(base / "outside"))
        command = confine_command(CommandSpec(words, inside, {"PATH": os.defpath}), view, kind)
        try:
            done = subprocess.run(  # noqa: S603 - the walls, and a shell
                command.argv, cwd=command.folder, env=command.environ, capture_output=True,
                timeout=_TRY_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode or not (view.tree / "file").exists():
            lines = done.stderr.decode(errors="replace").splitlines() or ["no reason is known"]
            return lines[-1].removeprefix("cub: ").removeprefix("the walls can't be built: ")
        left = [*view.toplevel.iterdir(), base / "outside"]
        return "it writes outside" if any(path.exists() for path in left) else ""


@cache
def _find_bwrap() -> str:
    """Return bwrap's path; "" if there is none that is not setuid."""
    program = shutil.which("bwrap")
    return program if program and not Path(program).stat().st_mode & stat.S_ISUID else ""


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

    A scratch folder that the checkout is in stays read-only: the command gets another one then.
    """
    environ = dict(command.environ)
    folders = [view.toplevel, *view.hidden, Path(environ.get("HOME") or view.toplevel)]
    protected = [os.path.realpath(folder) for folder in folders]
    scratch = [
        folder
        for folder in _list_scratch(environ)
        if not any(_is_below(path, [folder]) for path in protected)
    ]
    if os.path.realpath(environ.get("TMPDIR") or _SCRATCH[0]) not in scratch:
        own = view.tree.parent / "scratch"
        own.mkdir(exist_ok=True)
        environ["TMPDIR"] = os.fspath(own)
        scratch.append(environ["TMPDIR"])
    mounted = [bind.source for bind in view.binds if bind.is_writable]
    devices = list_devices(os.geteuid() == 0)
    folders = [view.tree, *view.writable, *map(Path, (*mounted, *scratch, *devices))]
    paths = [os.path.realpath(folder) for folder in folders]
    if means == "seatbelt":
        words = [_SEATBELT, "-p", _make_seatbelt_profile(paths)]
        return command._replace(argv=(*words, *command.argv), environ=environ)
    mounts = [("write", "", path) for path in paths]
    words = make_launcher_argv("landlock", mounts, os.fspath(command.folder))
    return command._replace(argv=(*words, *command.argv), folder=Path("/"), environ=environ)


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
    return os.path.join(os.path.realpath(os.path.dirname(target)), os.path.basename(target))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of these folders, or in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _make_bwrap_argv(mounts: Sequence[Mount], folder: str) -> list[str]:
    """Return what to put before a command so that bwrap does what the launcher would."""
    root = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--dev", "/dev"]
    words = [_find_bwrap(), "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc"]
    covers = [word for path in list_proc_covers() for word in ("--ro-bind", path, path)]
    words += [*root, *covers] if os.geteuid() == 0 else ["--dev-bind", "/dev", "/dev"]
    for action, source, target in mounts:
        match action:
            case "tmpfs":
                words += ["--tmpfs", target]
            case "write":
                words += ["--bind", source, target]
            case _:
                words += ["--ro-bind", source, target]
                for name in CACHES if action == "layer" else ():
                    if os.path.isdir(f"{source}/{name}"):
                        words += ["--tmpfs", f"{target}/{name}"]
    return [*words, "--chdir", folder, "--"]
