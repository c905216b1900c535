"""Times as people read them, in zones and at moments that the tests choose."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cub.actions.run.run_folders import STATUS_FILE, RunFolder, write_json
from cub.cli.time_format import (
    format_age,
    format_local_time,
    format_time_with_age,
    localize_timestamps,
)
from tests.cli.tasks import MINE, UNTIL
from tests.conftest import Cub

KOLKATA = ZoneInfo("Asia/Kolkata")  # 5:30 before UTC, the whole year
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [
        ("2026-01-01T20:00:00.000Z", "2026-01-02 01:30"),
        ("2026-01-01T20:00:00Z", "2026-01-02 01:30"),
        ("2026-01-01T20:00:00", "2026-01-02 01:30"),
        ("2026-01-01T20:00:00+01:00", "2026-01-02 00:30"),
        ("2026-01-01", "2026-01-01"),
        ("yesterday at noon", "yesterday at noon"),
        ("9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z"),
        ("", ""),
        (12, "12"),
        (None, "None"),
    ],
)
def test_a_stamp_is_shown_in_the_zone_of_the_person(stamp: object, shown: str) -> None:
    assert format_local_time(stamp, zone=KOLKATA) == shown


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [
        ("2026-01-02T03:04:05.000Z", "just now"),
        ("2026-01-02T03:03:06.000Z", "just now"),
        ("2026-01-02T03:04:35.000Z", "in less than a minute"),
        ("2026-01-02T03:02:05.000Z", "2 min ago"),
        ("2026-01-02T05:34:05.000Z", "in 2 h"),
        ("2026-01-01T03:04:05.000Z", "1 day ago"),
        ("2026-01-12T03:04:05.000Z", "in 10 days"),
        ("2025-11-12T03:04:05.000Z", ""),
        ("soon", ""),
    ],
)
def test_how_far_away_it_is(stamp: str, shown: str) -> None:
    assert format_age(stamp, NOW) == shown


def test_both_are_shown_where_there_is_room() -> None:
    shown = format_time_with_age("2026-01-02T01:04:05.000Z", NOW, KOLKATA)
    assert shown == "2026-01-02 06:34 (2 h ago)"
    assert format_time_with_age("soon", NOW, KOLKATA) == "soon"


def test_moments_in_what_cub_says_are_local_too() -> None:
    text = "b-1 is ida's until 2026-01-01T20:00:00.000Z, not 12026-01-01T20:00Z or 2026-01-01"
    assert localize_timestamps(text, KOLKATA) == (
        "b-1 is ida's until 2026-01-02 01:30, not 12026-01-01T20:00Z or 2026-01-01"
    )


ZONE = {"TZ": "IST-5:30"}  # needs no table of zones
DAY = "2026-01-01T20:00:00.000Z"
LOCAL = "2026-01-02 01:30"


@pytest.fixture
def stamped(project: Path, home: Path) -> Path:  # noqa: ARG001 - where the run is
    """A project with one moment in each of its files."""
    (project / ".cub").mkdir()
    run = RunFolder(project, "20260101-200000-1a2b3c")
    run.write_run_facts({"ended": True})
    write_json(run.state / STATUS_FILE, {"started": DAY, "at": DAY, "ended": "done"})
    files = {
        "tasks.jsonl": {**MINE, "created_at": DAY, "updated_at": "once"},
        "ledger.jsonl": {"ts": DAY, "ev": "attempt_end", "task": MINE["id"], "n": 1, "ok": True},
    }
    for name, tree in files.items():
        (project / ".cub" / name).write_text(json.dumps(tree) + "\n", encoding="utf-8")
    return project


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            f"task show {MINE['id']}",
            [f"created   {LOCAL}", "changed   once", "2026-01-01 13:30 ida"],
        ),
        (f"ledger show {MINE['id']}", [LOCAL]),
        ("ledger list", [LOCAL]),
        ("ledger tail", [LOCAL]),
        ("run status", [f"ended {LOCAL}"]),
        (f"task claim {MINE['id']}", [f"until {UNTIL} 05:30"]),
    ],
)
def test_people_see_their_own_time(
    stamped: Path, cub: Cub, command: str, expected: list[str]
) -> None:
    done = cub(*command.split(), cwd=stamped, **ZONE)
    assert [words for words in expected if words not in done.out + done.err] == []
    assert "Z" not in done.out


@pytest.mark.parametrize("command", [f"task show {MINE['id']}", "ledger list"])
def test_programs_get_utc(stamped: Path, cub: Cub, command: str) -> None:
    assert f'"{DAY}"' in cub(*command.split(), "--json", cwd=stamped, **ZONE).out
