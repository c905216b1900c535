"""Fixtures of the stores' tests: a fast disk, and an empty project."""

from __future__ import annotations

from tests.files.conftest import scratch

__all__ = ["scratch"]
