"""Provide `cub run` and its group of commands."""

from __future__ import annotations

from cub.cli.commands.run.attempt_commands import apply, logs, show
from cub.cli.commands.run.run_command import app

for command in (logs, show, apply):
    app.command()(command)

__all__ = ["app"]
