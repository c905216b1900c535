"""What all tests of the map have in common."""

from __future__ import annotations

import pytest

# It makes tests, whose failures are to show both sides.
pytest.register_assert_rewrite("tests.repomap.stack.told")
