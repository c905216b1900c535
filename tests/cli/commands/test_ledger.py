"""`cub ledger`: the story of a task, lists and counts, and following what happens."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE
from tests.cli.processes import open_cub
from tests.cli.tasks import ALL, add, put, put_events
from tests.conftest import Cub, tree


def at(day: int) -> str:
    return f"2026-01-{day:02}T08:00:00.000Z"


WON = {
    "v": 1, "ev": "attempt_end", "ts": at(3), "run": "r", "task": "b-clean", "n": 2,
    "harness": "claude", "model": "opus", "dur_s": 3725.4, "ok": True, "usd": 1.5,
    "usd_src": "reported", "tok": {"in": 1000, "out": 200, "cache_read": 34},
    "git": {"head": "0123456789abcdef", "files": ["a", "b"], "ins": 3, "del": 1},
    "checks": [{"cmd": "make", "exit": 0}], "trailer": {"summary": "Clean now"}, "log": "runs/2",
}  # fmt: skip
LOST = {
    "v": 1, "ev": "attempt_end", "ts": at(2), "run": "r", "task": "b-clean", "n": 1,
    "harness": "codex", "dur_s": 61, "ok": False, "usd": 0.25, "usd_src": "computed",
    "fail": {"class": "checks_failed", "reason": "One test \x1b[31m fails"}, "stuck": "Broom",
    "checks": [{"cmd": "make", "exit": 2, "n": 3, "new": 1}],
}  # fmt: skip
STATE = {"v": 1, "ev": "task_state", "ts": at(1), "task": "b-clean", "status": "in_progress",
         "by": "ida", "note": "Now"}  # fmt: skip
BEGUN = {"v": 1, "ev": "attempt_start", "ts": at(2), "run": "r", "task": "b-clean", "n": 1}
NEXT = {"v": 1, "ev": "attempt_start", "ts": at(4), "run": "r", "task": "b-clean", "n": 3}
RUN = {"v": 1, "ev": "run_end", "ts": at(5), "run": "r"}
EVENTS = (STATE, BEGUN, LOST, WON, NEXT, RUN)

STORY = r"""b-clean  Clean
2026-01-01 08:00  in_progress by ida: Now
2026-01-02 08:00  attempt 1: checks_failed
    codex · 1m 1s · tokens not reported, ≈ $0.25
    reason  One test \x1b[31m fails
    stuck   Broom
    check   make: exit 2, 3 failing, 1 new
2026-01-03 08:00  attempt 2: ok
    claude, opus · 1h 2m · 1,200 tokens, $1.50
    check   make: exit 0
    commit  0123456789 (2 files, +3 -1)
    says    Clean now
    log     runs/2
2026-01-04 08:00  attempt 3 starts
"""
LIST = """\
when              task     n  agent         time   tokens        cost     outcome
2026-01-03 08:00  b-clean  2  claude, opus  1h 2m  1,200         $1.50    ok
2026-01-02 08:00  b-clean  1  codex         1m 1s  not reported  ≈ $0.25  checks_failed
"""
ONE = """\
when              task     n  agent         time   tokens  cost   outcome
2026-01-03 08:00  b-clean  2  claude, opus  1h 2m  1,200   $1.50  ok
"""
STATS = """\
agent         attempts  succeeded  time   tokens                  cost
claude, opus  1         1          1h 2m  1,200                   $1.50
codex         1         0          1m 1s  not reported            ≈ $0.25
in all        2         1          1h 3m  1,200 (1 not reported)  ≈ $1.75

outcome        attempts
checks_failed  1
ok             1
"""
TAIL = """\
2026-01-04 08:00  b-clean  attempt 3 starts
2026-01-05 08:00  run end
"""


@pytest.fixture
def told(project: Path) -> Path:
    put(project, *ALL)
    put_events(project, *EVENTS)
    return project


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("show clean", STORY),
        ("show flour", "b-flour  Buy flour\nNo events yet.\n"),
        ("list", LIST),
        ("list --limit 1", ONE),
        ("stats", STATS),
        ("tail -n 2", TAIL),
        ("tail --lines 0", ""),
    ],
)
def test_text(cub: Cub, told: Path, command: str, out: str) -> None:
    before = tree(told)
    done = cub("ledger", *command.split())
    assert (done.code, done.err, tree(told)) == (0, "", before)
    assert done.out == out


def test_json(cub: Cub, told: Path) -> None:
    def found(*command: str) -> dict[str, object]:
        tree: dict[str, object] = json.loads(cub("ledger", *command, "--json").out)
        assert (tree.pop("v"), tree.pop("root")) == (1, told.as_posix())
        return tree

    assert found("show", "clean") == {"task": "b-clean", "events": [STATE, LOST, WON, NEXT]}
    assert found("list") == {"events": [WON, LOST]}
    assert found("list", "-n", "1") == {"events": [WON]}
    counts = found("stats")
    assert (counts["attempts"], counts["ok"], counts["usd"]) == (2, 1, 1.75)
    assert counts["outcomes"] == {"checks_failed": 1, "ok": 1}
    assert counts["tokens"] == {"in": 1000, "out": 200, "cache_read": 34, "cache_write": 0}
    lines = cub("ledger", "tail", "--json").out.splitlines()
    assert [json.loads(line) for line in lines] == [*EVENTS]


def test_nothing_happened_yet(cub: Cub, project: Path) -> None:
    done = cub("ledger", "list")
    assert (done.code, done.out, done.err) == (0, "", "No attempts yet.\n")
    assert cub("ledger", "tail").out == ""
    assert cub("ledger", "stats").out.splitlines()[1].split()[:4] == ["in", "all", "0", "0"]
    unknown = cub("ledger", "show", "zzz")
    assert (unknown.code, unknown.err) == (
        1,
        "error: there is no task 'zzz'\nhint: `cub task list` names all tasks\n",
    )
    assert cub("ledger", "archive", "--before", "2026-01-01").out == (
        "Moved 0 events to the archive.\n"
    )
    assert tree(project) == {}


def test_what_was_done_by_hand_is_told(cub: Cub, project: Path) -> None:
    key = add(cub)
    cub("task", "claim", key, "--as", "codex")
    cub("task", "close", key, "-m", "Brown", CUB_AGENT="codex")
    first, *lines = cub("ledger", "show", key).out.splitlines()
    assert first == f"{key}  Bake"
    assert [line.partition("  ")[2] for line in lines] == [
        "in_progress by codex",
        "closed (done) by codex: Brown",
    ]
    assert (project / LEDGER_FILE).exists()


def test_a_task_without_a_title_is_not_gone_and_a_gone_one_has_its_story(
    cub: Cub, project: Path
) -> None:
    put(project, {"id": "here-1"})
    put_events(project, {**STATE, "task": "here-1"}, {**STATE, "task": "gone-1"})
    for key, first in (("here-1", "here-1"), ("gone-1", "gone-1  (deleted)")):
        told = "2026-01-01 08:00  in_progress by ida: Now"
        assert cub("ledger", "show", key).out.splitlines() == [first, told]


def test_archiving_moves_what_is_over(cub: Cub, told: Path) -> None:
    done = cub("ledger", "archive", "--before", "2026-01-05T09:00")
    assert (done.code, done.out) == (0, "Moved 1 event to the archive.\n")
    assert done.err == "5 older events stay: their tasks are not closed.\n"
    assert json.loads((told / ARCHIVE_FILE).read_text()) == RUN
    cub("task", "close", "clean")
    done = cub("ledger", "archive", "--before", "2026-01-04")
    assert (done.out, done.err) == ("Moved 4 events to the archive.\n", "")
    assert len((told / LEDGER_FILE).read_text().splitlines()) == 2
    for arguments in (("--before", "soon"), ("--before",), ()):
        wrong = cub("ledger", "archive", *arguments)
        assert (wrong.code, wrong.out) == (2, "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_who_follows_is_told_at_once_and_ends_with_an_interrupt(
    cub: Cub, project: Path, home: Path
) -> None:
    put_events(project, *EVENTS)
    follow = ("ledger", "tail", "-f", "-n", "1")
    with open_cub(*follow, cwd=project, home=home) as running:
        assert running.out.readline() == "2026-01-05 08:00  run end\n"
        key = add(cub)
        for command, said in (("claim", "in_progress"), ("park", "parked"), ("close", "closed")):
            assert cub("task", command, key).code == 0
            assert f"  {key}  {said} " in running.out.readline()
        assert cub("ledger", "archive", "--before", "2026-02-01").code == 0
        assert cub("task", "reopen", key).code == 0
        assert f"  {key}  open by " in running.out.readline()
        running.process.send_signal(signal.SIGINT)
        assert running.finish() == (130, "", "")
