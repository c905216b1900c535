"""Installing completion: a script of cub's own, and at most one line in a person's file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cub.cli.completion.scripts import SCRIPTS
from cub.errors import UsageError
from cub.files.single import read_single, replace_single
from cub.project.user_config import shown


class Places(NamedTuple):
    """Where a person keeps things: `data` is cub's own folder, `fish` that of fish, and the files
    are those that an interactive shell reads when it starts.
    """

    data: Path
    fish: Path
    bashrc: Path
    zshrc: Path

    @classmethod
    def of_user(cls, environ: Mapping[str, str] = os.environ) -> Places:
        """As the environment says."""
        from platformdirs import user_data_path

        home = Path.home()
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        zsh = Path(environ.get("ZDOTDIR") or home)
        return cls(user_data_path("cub"), config / "fish", home / ".bashrc", zsh / ".zshrc")


class Installed(NamedTuple):
    """Where the script is, and the file that got a line to load it; None where none was needed."""

    script: Path
    loader: Path | None


def install_script(shell: str, places: Places) -> Installed:
    """Write the script, and have the shell load it. Twice does what once does.

    typer's own way reads a person's file as text and writes it anew, with other line ends, without
    blanks at its ends, and with a style for all menus of zsh.
    """
    if shell == "fish":  # it looks there by itself
        script = places.fish / "completions" / "cub.fish"
        _write(script, SCRIPTS[shell].encode())
        return Installed(script, None)
    script = places.data / f"completion.{shell}"
    _write(script, SCRIPTS[shell].encode())
    quoted = shlex.quote(script.as_posix())
    line = f"[ -r {quoted} ] && . {quoted}".encode()
    loader = places.bashrc if shell == "bash" else places.zshrc
    before = read_single(loader, shown(loader)) or b""
    if line in before.split(b"\n"):
        return Installed(script, None)
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    _write(loader, before + gap + line + b"\n")
    return Installed(script, loader)


def shell_named(name: str) -> str:
    """A shell that cub completes in; for "", the one that this process was started from."""
    found = name or _current()
    if found not in SCRIPTS:
        what = f"no completion for {name!r}" if name else "this shell is not one that cub knows"
        *others, last = SCRIPTS
        raise UsageError(what, hint=f"name one: {', '.join(others)} or {last}")
    return found


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; links and modes stay."""
    before = read_single(path, shown(path))
    if before != data:
        replace_single(path, before, data, shown(path))


def _current() -> str:
    """The nearest shell among the processes above; else what the person's account has."""
    import psutil

    names = []
    with suppress(psutil.Error):  # a parent ended meanwhile, or belongs to somebody else
        names = [process.name().removeprefix("-") for process in psutil.Process().parents()]
    login = Path(os.environ.get("SHELL", "")).name
    return next((name for name in (*names, login) if name in SCRIPTS), login)
