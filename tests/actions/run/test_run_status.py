"""How a run stands, as `cub run status` and the live view read it while the run works."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_status import (
    MAX_LAST_LINE,
    LastLine,
    PlaceRoots,
    RunStatus,
    read_status,
)
from cub.cli.commands.run.live_view import list_status_rows
from cub.store.events import Event
from tests.actions.run.shop import Shop

AT = "2026-01-01T08:00:00.000Z"
START = {"ev": "attempt_start", "ts": AT, "task": "s-1", "n": 1, "harness": "mine"}
SLOW = """printf '\\033[31mI look\\033[0m at '; printf 'the shop\\n\\n'"""
MUCH = "yes more | head -n 6000; echo I look at the shop"
UNTIL_SEEN = 'while ! test -e "$HOME/seen"; do sleep 0.05; done; echo x > x'


def client(kind: str, **facts: Any) -> Event:
    return {"ev": "client", "ts": AT, "task": "s-1", "n": 1, "type": kind, **facts}


def shown(*events: Event) -> dict[str, str]:
    standing = RunStatus()
    for event in (START, *events):
        standing.apply_event(event)
    return dict(list_status_rows(standing, datetime(2026, 1, 1, 8, tzinfo=UTC)))


def test_the_files_that_edits_name_and_that_have_changed_are_shown(tmp_path: Path) -> None:
    for name in ("a.py", "src/b c.py", "read.py", "old.py", "c.md", "d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    os.utime(tmp_path / "old.py", (0, 0))
    told = [
        f"Edit {tmp_path / 'a.py'}", "write_file src/b c.py", "Read read.py", "edit old.py",
        "Write gone.py", "edit c.md, d.md", "Edit ../../etc/passwd", "Edit /etc/passwd",
        "Edit a.py",
    ]  # fmt: skip
    status = RunStatus(places=(PlaceRoots(tmp_path, tmp_path),))
    status.apply_event(START)
    for text in told:
        status.apply_event(client("tool", text=text))
    rows = dict(list_status_rows(status, datetime(2026, 1, 1, 8, tzinfo=UTC)))
    assert rows["files"] == "4 changed: a.py, d.md, c.md, src/b c.py"
    assert not {"place", "places", "named_files"} & status.to_json().keys()
    status.apply_event({**START, "n": 2})
    assert status.current.list_changed_files() == []


@pytest.mark.parametrize(
    ("events", "now", "said"),
    [
        ([], "beginning", None),
        ([{"ev": "tick"}], "at work", None),
        ([client("session", id="s")], "at work", None),
        ([client("text", text="I look.\n")], "at work", "I look."),
        ([client("text", text="I "), client("text", text="look")], "at work", "I look"),
        ([client("text", text="Now:\n"), client("tool", text="edit a\nb")], "edit a", "Now:"),
        ([client("tool", text="edit a"), client("text", text="Done.\n")], "at work", "Done."),
        ([client("result", text="All good.\n\nStatus: done\n")], "at work", "Status: done"),
        ([client("text", text="a\x1b]0;t\x07\u202eb\n")], "at work", "a\u202eb"),
        (
            [{"ev": "check_start", "cmd": "make", "base": True}, {"ev": "check_end", "base": True}],
            "beginning",
            None,
        ),
    ],
)
def test_what_is_done_and_what_was_said_last(
    events: list[Event], now: str, said: str | None
) -> None:
    found = shown(*events)
    assert (found["now"], found.get("said")) == (now, said)


SOME = client("usage", input=1200, output=300, cache_read=9000, cache_write=0)
END = {"ev": "attempt_end", "task": "s-1", "ok": True}


@pytest.mark.parametrize(
    ("events", "run"),
    [
        ([], "0 more ready"),
        ([client("text", text="I look")], "0 more ready"),
        ([SOME, SOME], "0 more ready; 3,000 tokens, cost not reported"),
        ([client("cost", usd=0.5)], "0 more ready; tokens not reported, $0.50"),
        ([END], "0 more ready; 1 ok; usage not reported"),
        ([SOME, client("cost", usd=0.5), {**END, "usd": 0.5, "usd_src": "reported"}],
         "0 more ready; 1 ok; 1,500 tokens, $0.50"),
        ([client("cost", usd=0.5), END, START, SOME, {**END, "usd": 0.25, "usd_src": "computed"}],
         "0 more ready; 2 ok; 1,500 tokens, ≈ $0.75"),
    ],
)  # fmt: skip
def test_what_was_used_and_that_it_is_not_known(events: list[Event], run: str) -> None:
    assert shown(*events)["run"] == run


def test_the_last_words_are_in_the_file_when_the_client_has_ended(bakery: Shop) -> None:
    found = []

    def each(event: Event) -> None:
        (folder,) = RunFolder.list_all(bakery.root)
        found.append((event["ev"], read_status(folder).current.said))

    bakery.run_agent("echo I look; echo I am done; echo x > x", each=each)
    assert [said for kind, said in found if kind in ("client", "tick")][-1] == "I am done"


def test_the_next_attempt_begins_with_nothing_said() -> None:
    assert "said" not in shown(client("text", text="I look"), END)
    assert shown(client("text", text="I look"), START, client("text", text="s"))["said"] == "s"


@pytest.mark.parametrize("says", [SLOW, MUCH])
def test_it_is_in_the_file_while_the_client_works(bakery: Shop, says: str) -> None:
    found = []

    def each(event: Event) -> None:
        if event["ev"] == "tick":
            (folder,) = RunFolder.list_all(bakery.root)
            found.append(read_status(folder).current)
            if found[-1].said not in ("", "more"):
                (Path(bakery.environ["HOME"]) / "seen").touch()

    done = bakery.run_agent(f"{says}; {UNTIL_SEEN}", each=each)
    assert done.outcomes == ["ok"]
    assert (found[-1].said, found[-1].doing) == ("I look at the shop", "at work")


def test_each_of_several_attempts_has_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    status = RunStatus(
        places=(PlaceRoots(tmp_path / "1", tmp_path), PlaceRoots(tmp_path, tmp_path))
    )
    other = {"task": "s-2", "n": 2, "slot": 2}
    events = [
        START, {**START, **other}, {**client("tool", text=f"Edit {tmp_path / 'a.py'}"), **other},
        {"ev": "check_start", "task": "s-1", "cmd": "make", "base": True},
        {**client("cost", usd=0.5), **other}, client("cost", usd=0.25),
    ]  # fmt: skip
    for event in events:
        status.apply_event(event)
    now = datetime(2026, 1, 1, 8, 1, 5, tzinfo=UTC)
    assert [*list_status_rows(status, now)] == [
        ("s-1", "65 s: check on the files as they were: make"),
        ("s-2", f"65 s, attempt 2: 1 file changed: Edit {tmp_path / 'a.py'}"),
        ("run", "0 more ready; tokens not reported, $0.75"),
    ]
    stored = RunStatus.from_json(status.to_json())
    assert [row.task for row in stored.running.values()] == ["s-1", "s-2"]
    assert (stored.current.task, stored.to_json()) == ("s-1", status.to_json())
    status.apply_event({**END, "usd": 0.3, "usd_src": "computed"})
    assert dict(list_status_rows(status, now))["task"] == "s-2:  (attempt 2)"
    assert (status.usd, status.to_json()["task"]) == (0.8, "s-2")


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([], ""),
        (["I look first.\n"], "I look first."),
        (["I ", "look", " first"], "I look first"),
        (["one\n", "two\nthree ", "four\n"], "three four"),
        (["one\n\n```\n", "\n", "---\n"], "one"),
        (["  two\t  words \r\n"], "two words"),
        (["\x1b[31mred\x1b[0m \x1b]0;title\x07alert\x07\n"], "red alert"),
        (["10 %\r20 %\r"], "20 %"),
        (["x" * 1_000_000], "x" * (MAX_LAST_LINE - 1) + "…"),
        (["x" * 300 + "\n", "after\n"], "after"),
    ],
)
def test_the_last_line_that_says_something_is_shown(pieces: list[str], text: str) -> None:
    line = LastLine()
    for piece in pieces:
        line.add_text(piece)
    assert line.text == text
