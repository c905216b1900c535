"""Fixtures of the command line's tests."""

from __future__ import annotations

from tests.files.conftest import unprivileged

__all__ = ["unprivileged"]
