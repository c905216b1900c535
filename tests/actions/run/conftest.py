"""A repository for runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.run.shop import Shop, shop


@pytest.fixture
def bakery(project: Path, home: Path) -> Shop:
    return shop(project, home)
