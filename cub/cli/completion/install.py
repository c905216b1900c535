"""Installing completion: a script of cub's own, and at most one line in a person's file.

`--show-completion` and `--install-completion`, whose SHELL may be left out.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import typer

from cub.cli import output
from cub.cli.completion.shells import SHELL_SCRIPTS
from cub.errors import UsageError
from cub.files.single_file import read_single_file, replace_single_file
from cub.project.config_layers import abbreviate_home


class ShellPaths(NamedTuple):
    """Where a person keeps things: `data` is cub's own folder, `fish` that of fish, and the files
    are those that an interactive shell reads when it starts.
    """

    data: Path
    fish: Path
    bashrc: Path
    zshrc: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> ShellPaths:
        """As the environment says."""
        from platformdirs import user_data_path

        home = Path.home()
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        zsh = Path(environ.get("ZDOTDIR") or home)
        return cls(user_data_path("cub"), config / "fish", home / ".bashrc", zsh / ".zshrc")


class InstallResult(NamedTuple):
    """Where the script is, and the file that got a line to load it; None where none was needed."""

    script: Path
    loader: Path | None


def install_completion_script(shell: str, places: ShellPaths) -> InstallResult:
    """Write the script, and have the shell load it. Twice does what once does.

    typer's own way reads a person's file as text and writes it anew, with other line ends, without
    blanks at its ends, and with a style for all menus of zsh.
    """
    if shell == "fish":  # it looks there by itself
        script = places.fish / "completions" / "cub.fish"
        _write(script, SHELL_SCRIPTS[shell].encode())
        return InstallResult(script, None)
    script = places.data / f"completion.{shell}"
    _write(script, SHELL_SCRIPTS[shell].encode())
    quoted = shlex.quote(script.as_posix())
    line = f"[ -r {quoted} ] && . {quoted}".encode()
    loader = places.bashrc if shell == "bash" else places.zshrc
    before = read_single_file(loader, abbreviate_home(loader)) or b""
    if line in before.split(b"\n"):
        return InstallResult(script, None)
    gap = b"\n" if before and not before.endswith(b"\n") else b""
    _write(loader, before + gap + line + b"\n")
    return InstallResult(script, loader)


def resolve_shell(name: str) -> str:
    """A shell that cub completes in; for "", the one that this process was started from."""
    found = name or _current()
    if found not in SHELL_SCRIPTS:
        what = f"no completion for {name!r}" if name else "this shell is not one that cub knows"
        *others, last = SHELL_SCRIPTS
        raise UsageError(what, hint=f"name one: {', '.join(others)} or {last}")
    return found


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; links and modes stay."""
    before = read_single_file(path, abbreviate_home(path))
    if before != data:
        replace_single_file(path, before, data, abbreviate_home(path))


def _current() -> str:
    """The nearest shell among the processes above; else what the person's account has."""
    import psutil

    names = []
    with suppress(psutil.Error):  # a parent ended meanwhile, or belongs to somebody else
        names = [process.name().removeprefix("-") for process in psutil.Process().parents()]
    login = Path(os.environ.get("SHELL", "")).name
    return next((name for name in (*names, login) if name in SHELL_SCRIPTS), login)


SHOW_OPTION, INSTALL_OPTION = "--show-completion", "--install-completion"


def add_missing_shell(arguments: Sequence[str]) -> list[str]:
    """A command line in which either option has a value: an empty one stands for this shell."""
    found: list[str] = []
    for number, word in enumerate(arguments):
        found.append(word)
        after = next(iter(arguments[number + 1 :]), "-")
        if word in (SHOW_OPTION, INSTALL_OPTION) and after.startswith("-"):
            found.append("")
    return found


def show_completion(name: str | None) -> None:
    """Print the script of a shell."""
    if name is None:
        return
    from cub.cli.completion.shells import SHELL_SCRIPTS

    output.print_bytes(SHELL_SCRIPTS[resolve_shell(name)].encode())
    raise typer.Exit


def install_completion(name: str | None) -> None:
    """Write the script of a shell, and have the shell load it."""
    if name is None:
        return
    from cub.project.config_layers import abbreviate_home

    shell = resolve_shell(name)
    script, loader = install_completion_script(shell, ShellPaths.from_environment())
    output.print_line(f"The completion for {shell} is in {abbreviate_home(script)}.")
    if loader is not None:
        output.print_line(f"One line behind all others in {abbreviate_home(loader)} loads it.")
    output.print_message("It works in the next shell that you start.")
    raise typer.Exit
