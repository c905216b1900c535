"""Provide `cub run` and its group of commands."""

from __future__ import annotations

from cub.cli.commands.run.run_command import app

__all__ = ["app"]
