"""A repository for runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.run.shop import Shop, shop


@pytest.fixture
def bakery(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Runs in this process and in others keep their state in the same place."""
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
    return shop(project, home)
