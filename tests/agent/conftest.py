"""What all tests of the agent have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent.doubles import close_stops
from tests.agent.services import OPEN_MODELS


@pytest.fixture(autouse=True, scope="session")
def _no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spare each HTTP client the 50 ms to read all certificates: the servers speak plain HTTP."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_stops()
    while OPEN_MODELS:
        OPEN_MODELS.pop().close()
