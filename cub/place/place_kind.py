"""Find which walls work on this system, by trying them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cub.errors import CubError
from cub.place.walls import SEATBELT, PlaceKind, View, confine_command, find_bwrap
from cub.processes.command import CommandSpec

_STATUS_LINE = re.compile(r"^(?:NoNewPrivs|Seccomp):.*", re.MULTILINE)
_SETTINGS = (
    "sys/kernel/random/boot_id",
    "sys/kernel/apparmor_restrict_unprivileged_userns",
    "sys/kernel/unprivileged_userns_clone",
    "sys/user/max_user_namespaces",
    "self/attr/current",
)
_TRY_SECONDS = 20


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
    words = [sys.executable, str(find_bwrap()), str(getattr(os, "geteuid", lambda: 0)())]
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
        failure = try_kind(kind, state) if Path(SEATBELT).exists() else "no Seatbelt"
        return replace(kind, means="none") if failure else kind
    kinds = [PlaceKind("bound", "launcher", ""), PlaceKind("bound", "bwrap", "")]
    for kind in () if reason else kinds[: 2 if find_bwrap() else 1]:
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
