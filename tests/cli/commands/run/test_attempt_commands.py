"""`cub run logs`, `show` and `apply` as a person types them."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.store.ledger import Ledger
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.cli.commands.run.started import WAIT, started
from tests.cli.processes import open_cub
from tests.conftest import Cub, tree

KEY = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
EVENTS: list[dict[str, object]] = [
    {"type": "text", "text": "I look."},
    {"type": "tool", "text": "edit kept.txt"},
    {"type": "usage", "input": 1200, "output": 300},
    {"type": "denied", "text": "rm -r"},
    {"type": "result", "text": f"Status: done\nSummary: {KEY} is old\nTried: a mock\nNext: sleep"},
]
TOLD = "\n".join(map(json.dumps, EVENTS))
SAYS = f"cat > /dev/null; echo new >> kept.txt; echo '{KEY}' > key; printf '%s\\n' '{TOLD}'; exit 1"


def fail(bakery: Shop) -> None:
    bakery.client(SAYS)
    bakery.task()
    bakery.commit()
    bakery.run(iterations=2, no_checks=True)


@pytest.fixture
def failed(copy_shop: CopyShop) -> Shop:
    """Two attempts have failed."""
    return copy_shop(fail)


def run_of(shop: Shop) -> str:
    return str(shop.ledger("run_start")[-1]["run"])


def log_of(number: int) -> str:
    return (
        f"s-1: attempt {number}, mine, …\nI look.\n> edit kept.txt\nnot allowed: rm -r\n"
        "Status: done\nSummary: [masked] is old\nTried: a mock\nNext: sleep\n"
    )


def without_times(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "…", text)


def test_logs_of_the_last_attempt_of_one_and_of_a_run(failed: Shop, cub: Cub) -> None:
    before = tree(failed.root)
    for words in ((), ("s-1",), ("s",), ("-f",), ("s-1", "-f")):
        done = cub("run", "logs", *words)
        assert (done.code, done.err, without_times(done.out)) == (0, "", log_of(2)), words
    assert without_times(cub("run", "logs", "s-1", "--attempt", "1").out) == log_of(1)
    for words in ((run_of(failed),), (run_of(failed), "-f")):
        assert without_times(cub("run", "logs", *words).out) == f"{log_of(1)}\n{log_of(2)}"
    assert tree(failed.root) == before


def test_logs_as_events(failed: Shop, cub: Cub) -> None:
    lines = cub("run", "logs", "--json").out.splitlines()
    found = [json.loads(line) for line in lines]
    identity = {"v": 1, "run": run_of(failed), "task": "s-1", "n": 2}
    assert all(one.items() >= identity.items() for one in found)
    assert [one["type"] for one in found] == [one["type"] for one in EVENTS]
    assert found[1] == {**identity, "type": "tool", "text": "edit kept.txt"}
    assert KEY not in "".join(lines)


@pytest.mark.usefixtures("failed")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("logs", "zebra"), 1, "there is no task 'zebra'"),
        (("logs", "s-1", "--attempt", "9"), 1, "s-1 has no attempt 9\nhint: choose from 1, 2"),
        (("logs", "--attempt", "1"), 2, "--attempt needs a task"),
        (("logs", "s-1", "--attempt", "1", "-f"), 2, "--attempt cannot be used with --follow"),
        (("show", "zebra"), 1, "there is no task 'zebra'"),
        (("show", "s-1", "--patch", "--json"), 2, "--patch cannot be used with --json"),
        (("apply", "s-1", "--attempt", "9"), 1, "s-1 has no attempt 9"),
    ],
)
def test_what_can_not_be_shown(cub: Cub, words: tuple[str, ...], code: int, message: str) -> None:
    done = cub("run", *words)
    assert done.code == code
    assert done.err.startswith(f"error: {message}")


def test_before_the_first_attempt(bakery: Shop, cub: Cub) -> None:
    bakery.task()
    assert cub("run", "logs").err.startswith("error: no attempts here yet\nhint: ")
    assert cub("run", "logs", "s-1").err.startswith("error: there was no attempt at s-1 yet\n")
    assert cub("run", "show", "s-1").out == "s-1  Do s-1\nNo attempts yet.\n"
    assert cub("run", "apply", "s-1").err.startswith("error: no attempt at s-1 has left a patch")


def test_a_log_that_is_elsewhere(failed: Shop, cub: Cub) -> None:
    (failed.attempt(run_of(failed), 1) / "events.jsonl").unlink()
    done = cub("run", "logs", "s-1", "--attempt", "1")
    folder = f".cub/runs/{run_of(failed)}/s-1/1"
    assert (done.code, done.err) == (0, f"{folder} is not in this checkout, or has no output.\n")


def test_what_was_tried_said_and_left(failed: Shop, cub: Cub) -> None:
    done = cub("run", "show", "s-1")
    _, first, second = without_times(done.out).split("\n…  ")
    assert re.sub(r"· \d+s ·", "· 1s ·", first).splitlines() == [
        "attempt 1: permission_denied",
        "    mine · 1s · 1,500 tokens, cost not reported",
        "    reason  rm -r; the agent said: [masked] is old",
        "    says    [masked] is old",
        "    tried   a mock",
        "    next    sleep",
        "    denied  rm -r",
        f"    patch   .cub/runs/{run_of(failed)}/s-1/1/changes.patch",
        "    log     `cub run logs s-1 --attempt 1`",
    ]
    assert second.startswith("attempt 2: permission_denied\n")
    assert "`cub run apply s-1` writes the newest patch into your files" in done.err
    (failed.attempt(run_of(failed), 1) / "changes.patch").unlink()
    assert cub("run", "show", "s-1").out.count("changes.patch") == 1
    rows = json.loads(cub("run", "show", "s-1", "--json").out)["attempts"]
    assert [row["patch"] is None for row in rows] == [True, False]
    assert [row["event"]["n"] for row in rows] == [1, 2]


@pytest.mark.usefixtures("failed")
def test_the_patch_is_shown_without_secrets(cub: Cub) -> None:
    patch = cub("run", "show", "s-1", "--patch").out
    assert "+++ b/kept.txt\n@@ -1 +1,2 @@\n kept\n+new\n" in patch
    assert "+[masked]" in patch
    assert KEY not in patch


def test_the_patch_is_applied_and_only_shown_before(failed: Shop, cub: Cub) -> None:
    before = tree(failed.root)
    summary = "update  kept.txt  +1\ncreate  key       +1\n"
    preview = "would update  kept.txt  +1\nwould create  key       +1\n"
    dry = cub("run", "apply", "s-1", "--dry-run")
    assert (dry.code, dry.out, dry.err) == (
        0, preview, "Dry run: nothing was written.\n",
    )  # fmt: skip
    diff = cub("run", "apply", "s-1", "--diff")
    assert f"+++ b/key\n@@ -0,0 +1 @@\n+{KEY}\n" in diff.out
    assert json.loads(cub("run", "apply", "s-1", "--json").out)["changes"][1]["path"] == "key"
    assert tree(failed.root) == before
    done = cub("run", "apply", "s-1", "--attempt", "1")
    assert (done.code, done.out) == (0, summary)
    assert done.err == "Applied attempt 1 at s-1. Review it with git, then commit.\n"
    assert (failed.root / "kept.txt").read_text() == "kept\nnew\n"
    again = cub("run", "apply", "s-1")
    assert (again.code, again.out) == (1, "")
    assert "error: kept.txt: this has changes that are not committed\nhint: commit it" in again.err


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_run_that_is_alive_is_followed_until_it_ends(bakery: Shop) -> None:
    bakery.client(f"echo I start; {WAIT}")
    bakery.task()
    run = started(bakery)
    home = bakery.root.parent / "home"
    with open_cub("run", "logs", "-f", cwd=bakery.root, home=home) as following:
        assert following.out.readline().startswith("s-1: attempt 1, mine, ")
        assert following.out.readline() == "I start\n"
        assert following.out.readline() == "begun\n"
        run.send_signal(signal.SIGINT)
        run.communicate()
        assert following.finish() == (0, "", "")


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude", "claude --resume 019a-7f"),
        ("codex", "codex resume 019a-7f"),
        ("gemini", "gemini --resume 019a-7f"),
        ("opencode", "opencode -s 019a-7f"),
        ("pi", "pi --session 019a-7f"),
        ("aider", ""),
        ("acp:agent", ""),
        ("mine", ""),
    ],
)
def test_a_session_is_named_with_the_command_that_resumes_it(
    bakery: Shop, cub: Cub, agent: str, command: str
) -> None:
    bakery.task()
    end = {"ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "run": "r", "task": "s-1"}
    Ledger(bakery.root).append_events(
        {**end, "n": 1, "harness": agent, "session": "019a-7f", "ok": False},
        {**end, "n": 2, "harness": agent, "session": "--x; rm", "ok": False},
        {**end, "n": 3, "harness": agent, "ok": False},
    )
    shown = cub("run", "show", "s-1").out
    assert "session 019a-7f" in shown
    assert re.findall("resume  (.*)", shown) == [command] * bool(command)
    tree = json.loads(cub("run", "show", "s-1", "--json").out)
    found = [attempt["resume"] for attempt in tree["attempts"]]
    root = bakery.root.resolve().as_posix()
    expected = {"command": command, "directory": root} if command else None
    assert found == [expected, None, None]


def test_a_session_beside_the_project_cannot_be_resumed(bakery: Shop, cub: Cub) -> None:
    bakery.task()
    RunFolder(bakery.root, "r").write_run_facts({"place": "aside", "ended": True})
    end = {"ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "run": "r", "task": "s-1"}
    claude = {"harness": "claude", "session": "019a", "ok": False}
    Ledger(bakery.root).append_events({**end, "n": 1, **claude})
    shown = cub("run", "show", "s-1").out
    assert "session 019a" in shown
    assert "resume" not in shown
