"""Commands behind walls, with a person's checkout, home and state that must not change."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cub.place.place_kind import try_kind
from cub.place.walls import PlaceKind, View, confine_command
from cub.processes.command import CommandSpec

KINDS = {
    "launcher": PlaceKind("bound", "launcher", ""),
    "bwrap": PlaceKind("bound", "bwrap", ""),
    "landlock": PlaceKind("aside", "landlock", ""),
    "none": PlaceKind("aside", "none", ""),
}


@dataclass(frozen=True, slots=True)
class Walled:
    """Runs shell lines behind the walls of one kind."""

    base: Path
    kind: PlaceKind

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def view(self) -> View:
        base = self.base
        hidden, writable = (base / "state",), (self.home / ".cache", base / "missing")
        return View(base / "tree", base / "checkout", hidden, (), writable)

    @property
    def folder(self) -> Path:
        """The tree, as a path that is seen inside."""
        return self.view.toplevel if self.kind.name == "bound" else self.view.tree

    def make(self, line: str, view: View | None = None, **variables: str) -> CommandSpec:
        environ = {"PATH": os.environ["PATH"], "HOME": os.fspath(self.home)}
        environ |= {"BASE": os.fspath(self.base), "TMPDIR": os.fspath(self.base / "temporary")}
        command = CommandSpec(("/bin/sh", "-c", line), self.folder, environ | variables)
        return confine_command(command, view or self.view, self.kind)

    def run(self, line: str, view: View | None = None, **variables: str) -> str:
        """What the line prints; stderr, too."""
        return self.start(line, view, **variables).stdout

    def start(
        self, line: str, view: View | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        command = self.make(line, view, **variables)
        return subprocess.run(
            command.argv,
            cwd=command.folder,
            env=command.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def with_means(self, means: str) -> Walled:
        return replace(self, kind=KINDS[means])

    def list_files(self) -> dict[str, str]:
        """All that is outside of the tree, with its mode, time and text."""
        return {
            path.relative_to(self.base).as_posix(): _describe(path)
            for path in sorted(self.base.rglob("*"))
            if path.parts[len(self.base.parts)] not in ("tree", "temporary", "scratch")
            and ".cache" not in path.parts
        }


def _describe(path: Path) -> str:
    status = path.lstat()
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return f"{status.st_mode:o} {status.st_mtime_ns} {status.st_nlink} {text}"


def make_walled(base: Path, means: str) -> Walled:
    for name in ("tree", "checkout", "state", "temporary", "home/.cache"):
        (base / name).mkdir(parents=True)
    (base / "checkout" / "code.py").write_text("the person's\n", encoding="utf-8")
    (base / "state" / "key").write_text("secret\n", encoding="utf-8")
    (base / "home" / ".gitconfig").write_text("[user]\n", encoding="utf-8")
    skip_without(means, base / "state")
    return Walled(base, KINDS[means])


def skip_without(means: str, state: Path) -> None:
    if means != "none" and (reason := try_kind(KINDS[means], state)):
        pytest.skip(f"{means}: {reason}")
