"""The two cheap ways to call cub from a test: both leave what a process leaves, and no more."""

from __future__ import annotations

import locale
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from psutil import pid_exists

from tests.command_line import preserve_process
from tests.conftest import Cub, environment, tree
from tests.fork_server import start_cub

CALLS = [
    ["init"],
    ["status"],
    ["status", "--json"],
    ["update", "--check"],
    ["task", "add", "Brot \u00e4\udcff"],
    ["no-such-command"],
    ["--version"],
    ["-C", "no-such-folder", "status"],
    [],
]


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_a_call_in_this_process_leaves_what_a_process_leaves(
    project: Path, cub: Cub, cub_process: Cub, words: list[str]
) -> None:
    (project / "AGENTS.md").write_bytes(b"# Mine\r\n")
    other = project.with_name("other")
    shutil.copytree(project, other)
    here, there = cub(*words), cub_process(*words, cwd=other)
    if words[:2] != ["task", "add"]:  # an id is random
        assert there.out.replace(str(other), str(project)) == here.out
        assert tree(other) == tree(project)
    assert (here.code, here.err) == (there.code, there.err.replace(str(other), str(project)))


def test_a_call_in_this_process_reads_its_stdin(cub: Cub) -> None:
    text = "Knead\nand wait"
    done = cub("task", "add", "Bread", "--description", "-", "--json", stdin=text)
    assert (done.code, '"description": "Knead\\nand wait"' in done.out) == (0, True), done


def change_signal() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def change_stream() -> None:
    sys.stdout = sys.stderr


CHANGES: list[Any] = [
    lambda: os.chdir("/"),
    lambda: os.environ.update(CUB_X="1"),
    lambda: os.environ.pop("PATH"),
    lambda: locale.setlocale(locale.LC_CTYPE, "C.UTF-8"),
    lambda: os.umask(0o077),
    change_signal,
    change_stream,
]


def state() -> tuple[object, ...]:
    mask = os.umask(0)
    os.umask(mask)
    spoken, handler = locale.setlocale(locale.LC_ALL), signal.getsignal(signal.SIGTERM)
    return Path.cwd(), dict(os.environ), spoken, mask, handler, sys.stdout, time.tzname


@pytest.mark.skipif(os.name != "posix", reason="changes what Windows does not have")
@pytest.mark.parametrize("change", CHANGES)
def test_what_a_command_changes_of_its_process_is_restored(change: Any) -> None:
    locale_before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "C")
    try:
        before = state()
        with preserve_process():
            change()
            assert state() != before
        assert state() == before
    finally:
        locale.setlocale(locale.LC_ALL, locale_before)


@pytest.mark.skipif(os.name != "posix", reason="needs tzset")
def test_environment_time_zone_and_folder_are_those_of_the_call(cub: Cub, tmp_path: Path) -> None:
    zone, folder = time.tzname, tempfile.gettempdir()
    cub("task", "add", "Bread")
    shown = cub("task", "list", "--json", TZ="Asia/Tokyo", TMPDIR=str(tmp_path))
    assert shown.code == 0
    assert (time.tzname, tempfile.gettempdir()) == (zone, folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_be_signalled_and_tells_how_it_ended(
    project: Path, home: Path
) -> None:
    reads, writes = os.pipe()  # nobody writes: cub waits for its stdin
    with (project.parent / "out").open("wb") as out:
        words = ["task", "add", "Bread", "--description", "-"]
        descriptors = (reads, out.fileno(), out.fileno())
        environ = environment(home)
        with start_cub(words, cwd=project, environ=environ, descriptors=descriptors) as process:
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
    os.close(reads)
    os.close(writes)
    assert "tasks.jsonl" not in " ".join(tree(project))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_that_has_just_ended_can_be_signalled(project: Path, home: Path) -> None:
    with (project.parent / "out").open("w+b") as out:
        descriptors = (out.fileno(), out.fileno(), out.fileno())
        with start_cub(
            ["--version"], cwd=project, environ=environment(home), descriptors=descriptors
        ) as process:
            while pid_exists(process.pid):
                time.sleep(0)
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0
