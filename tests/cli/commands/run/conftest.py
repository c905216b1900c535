"""A repository with tasks, for `cub run` as a process."""

from __future__ import annotations

from tests.actions.run.conftest import bakery, copy_shop, prepare_once

__all__ = ["bakery", "copy_shop", "prepare_once"]
