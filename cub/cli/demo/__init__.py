"""`cub demo`: what cub does, shown on a scratch repository, without a key or a server."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cub.cli import output

app = typer.Typer(add_completion=False)

Keep = Annotated[bool, typer.Option("--keep", help="Keep the scratch folder, and print its path.")]


@app.command()
def demo(keep: Keep = False) -> None:
    """Show a managed section come and go, and a run that checks for itself.

    Both on a scratch repository that has its own AGENTS.md. The agent of the run plays a script.

    Example: cub demo
    """
    from cub.cli.demo.section import play_section
    from cub.cli.demo.work import play_run

    folder = Path(tempfile.mkdtemp(prefix="cub-demo-")).resolve()
    try:
        play_section(folder)
        play_run(folder)
    finally:
        if keep:
            output.talk(f"The scratch repository is in {folder.as_posix()}")
        else:
            shutil.rmtree(folder)
