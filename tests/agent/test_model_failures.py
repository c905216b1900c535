"""When a service wants to be asked again."""

from __future__ import annotations

import pytest

from cub.agent.model_failures import parse_retry_after

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("7", 7), ("1.5", 1.5), ("-3", 0), ("", None), ("soon", None), ("inf", None),
     ("nan", None), ("Tue, 14 Nov 2023 22:14:00 GMT", 40), ("Tue, 14 Nov 2023 22:13:00 GMT", 0),
     ("Tue, 99 Nov 2023 22:14:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": value}, NOW) == seconds


def test_a_service_may_not_say_when() -> None:
    assert parse_retry_after({}, NOW) is None
