"""`cub run`: its options, and its group of commands."""

from __future__ import annotations

from cub.cli.run.command import app

__all__ = ["app"]
