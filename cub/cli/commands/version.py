"""Print the version, as `--version` does: `cub version`."""

from __future__ import annotations

import typer

from cub import __version__
from cub.cli import output

app = typer.Typer(add_completion=False)


@app.command()
def version() -> None:
    """Print the version.

    Example: cub version
    """
    output.print_line(f"cub {__version__}")
