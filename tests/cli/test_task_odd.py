"""Texts and arguments that a person would not think of, and terminals of all kinds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tasks import ALL, add, put, put_events
from tests.cli.terminal import in_terminal
from tests.conftest import Cub, environment
from tests.fork_server import get_cub_command

ODD = "Red \x1b[31m and \u202e back \u200b"
SHOWN = r"Red \x1b[31m and \u202e back \u200b"
BOLD, YELLOW, DIM, PLAIN = "\x1b[1m", "\x1b[33m", "\x1b[2m", "\x1b[0m"
TERMINAL = (
    ("task", "list"), ("task", "list", "--tree"), ("task", "ready"), ("task", "stats"),
    ("task", "show", "b-clean"), ("ledger", "tail"), ("ledger", "show", "b-clean"),
    ("ledger", "list"), ("ledger", "stats"), ("doctor", "--select", "D6"),
)  # fmt: skip
EVENT = {"ev": "attempt_end", "ts": "2026-01-02T08:00:00.000Z", "task": "b-clean", "n": 1,
         "harness": "claude", "ok": True}  # fmt: skip


def test_what_moves_a_terminal_is_written_out(cub: Cub, project: Path) -> None:
    key = add(cub, ODD, "--label", ODD, "--accept", ODD, "-d", ODD)
    cub("task", "claim", key, "--as", ODD)
    cub("task", "park", key, "-m", ODD)
    for command in (f"task show {key}", "task list", "task list --tree", f"task reopen {key}",
                    f"ledger show {key}", "ledger tail"):  # fmt: skip
        done = cub(*command.split())
        assert (done.code, done.err) == (0, ""), command
        assert SHOWN in done.out, command
        assert not re.search("[\x1b\u202e\u200b]", done.out), command
    tasks = json.loads(cub("task", "list", "--json").out)["tasks"]
    assert (tasks[0]["title"], tasks[0]["labels"]) == (ODD.strip(), [ODD.strip()])
    assert (project / ".cub").is_dir()


def test_ids_and_words_of_others_are_written_out_too(cub: Cub, project: Path) -> None:
    key = "\x1b[31mx"
    put(project, {"id": key, "title": "t", "issue_type": "\x1b[0m", "status": "\u202eodd",
                  "depends_on": ["\x1b]0;x"], "priority": "\x1b[2J"})  # fmt: skip
    put_events(project, {"ev": "\x1b[2J", "ts": "\x1b[2J", "task": key, "status": "\x1b"})
    for command in ("task list", "task list --tree", "task stats", "task ready", "doctor",
                    "ledger tail", "ledger list"):  # fmt: skip
        done = cub(*command.split())
        assert not re.search("[\x1b\u202e]", done.out + done.err), command
    commands = ["show", "claim", "reopen", "close", "close", "park", "add x --parent", "dep add"]
    for words in ([*f"task {command}".split(), key] for command in commands):
        done = cub(*words, *([key] if "dep" in words else []))
        assert not re.search("[\x1b\u202e]", done.out + done.err), words
    for words in (["task", "show", key + "zzz"], ["ledger", "show", key]):
        done = cub(*words)
        assert not re.search("[\x1b\u202e]", done.out + done.err), words


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="needs arguments of any bytes")
def test_bytes_that_are_no_text_are_kept(cub: Cub, project: Path, home: Path) -> None:
    def run(*arguments: bytes) -> subprocess.CompletedProcess[bytes]:
        command = [*map(os.fsencode, get_cub_command()), *arguments]
        return subprocess.run(
            command, cwd=project, env=environment(home), capture_output=True, check=True
        )

    key = run(b"task", b"add", b"Caf\xe9", b"--label", b"\xff", b"-d", b"\xfe").stdout.strip()
    run(b"task", b"claim", key, b"--as", b"\xe9va")
    run(b"task", b"close", key, b"-m", b"no \xe9")
    shown = run(b"task", b"show", key).stdout.decode()
    assert all(text in shown for text in (r"Caf\udce9", r"\udcff", r"\udcfe", r"\udce9va"))
    (found,) = json.loads(cub("task", "list", "--json").out)["tasks"]
    assert (found["title"], found["labels"]) == ("Caf\udce9", ["\udcff"])
    assert r"closed (done) by" in cub("ledger", "show", key.decode()).out
    assert r"no \udce9" in cub("ledger", "show", key.decode()).out


@pytest.mark.parametrize("command", TERMINAL, ids=" ".join)
def test_a_terminal_gets_the_same_words_and_no_color_is_kept_to(
    cub: Cub, project: Path, home: Path, command: tuple[str, ...]
) -> None:
    put(project, *ALL)
    put_events(project, EVENT)
    plain = cub(*command)
    colored = in_terminal(*command, cwd=project, home=home)
    assert colored.code == plain.code == 0
    bare, legend, _ = re.sub("\x1b[^m]*m", "", colored.text).partition("\nn: ")
    assert bool(legend) == (command == ("ledger", "list"))  # only a terminal gets one
    assert [line.split() for line in bare.splitlines() if line.strip()] == [
        line.split() for line in (plain.out + plain.err).splitlines() if line.strip()
    ]
    for off in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        screen = in_terminal(*command, cwd=project, home=home, **off)
        assert screen.text.partition("\nn: ")[0].rstrip("\n") == (plain.out + plain.err).rstrip(
            "\n"
        )


def test_colors_say_how_a_task_stands(project: Path, home: Path) -> None:
    put(project, *ALL)
    screen = in_terminal("task", "list", "--status", "all", cwd=project, home=home)
    head, mine, oven, *_, closed = screen.text.splitlines()
    assert head.startswith(BOLD)
    assert mine.startswith(f"{YELLOW}b-clean")
    assert oven.startswith("b-shop1.1")
    assert closed.startswith(f"{DIM}b-flour")
    assert PLAIN in closed
    assert "[bold]bread[/bold] :key:" in screen.text
    assert in_terminal("task", "show", "clean", cwd=project, home=home).text.startswith(BOLD)
