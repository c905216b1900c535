"""What all tests of the agent have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spare each HTTP client the 50 ms to read all certificates: the servers speak plain HTTP."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield
