"""`--show-completion` and `--install-completion`, whose SHELL may be left out."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from cub.cli import output

SHOW, INSTALL = "--show-completion", "--install-completion"


def with_shell(arguments: Sequence[str]) -> list[str]:
    """A command line in which either option has a value: an empty one stands for this shell."""
    found: list[str] = []
    for number, word in enumerate(arguments):
        found.append(word)
        after = next(iter(arguments[number + 1 :]), "-")
        if word in (SHOW, INSTALL) and after.startswith("-"):
            found.append("")
    return found


def show(name: str | None) -> None:
    """Print the script of a shell."""
    if name is None:
        return
    from cub.cli.completion.install import shell_named
    from cub.cli.completion.scripts import SCRIPTS

    output.text(SCRIPTS[shell_named(name)].encode())
    raise typer.Exit


def install(name: str | None) -> None:
    """Write the script of a shell, and have the shell load it."""
    if name is None:
        return
    from cub.cli.completion.install import Places, install_script, shell_named
    from cub.project.user_config import shown

    shell = shell_named(name)
    script, loader = install_script(shell, Places.of_user())
    output.line(f"The completion for {shell} is in {shown(script)}.")
    if loader is not None:
        output.line(f"One line behind all others in {shown(loader)} loads it.")
    output.talk("It works in the next shell that you start.")
    raise typer.Exit
