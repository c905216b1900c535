"""Calls of the command line in this process: real files, captured streams, real exit codes.

A call costs a few milliseconds, where a process of its own takes 0.3 s of CPU to start.
"""

from __future__ import annotations

import gc
import io
import json
import locale
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cub.cli.app import run_command_line

_SIGNALS = [
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGCHLD", "SIGWINCH", "SIGBREAK")
    if (number := getattr(signal, name, None)) is not None
]


@dataclass(frozen=True, slots=True)
class Result:
    """What a finished command left: exit code, stdout and stderr as text."""

    code: int
    out: str
    err: str


def call_cub(
    arguments: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    stdin: str | bytes = b"",
) -> Result:
    """Run cub with `arguments` in `cwd`, and leave this process as it was.

    `environ` is the whole environment of the call, by default that of this process. Bytes that
    are no UTF-8 stand in the result's texts as surrogates.
    """
    given = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
    out, err = io.BytesIO(), io.BytesIO()
    with preserve_process():
        if environ is not None:
            _replace_environment(environ)
        os.chdir(cwd)
        tempfile.tempdir = None  # TMPDIR may be another
        sys.argv = ["cub", *arguments]
        sys.stdin = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
        sys.stdout, sys.stderr = (io.TextIOWrapper(to, encoding="utf-8") for to in (out, err))
        code = run_command_line(list(arguments))
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [to.getvalue().decode("utf-8", "surrogateescape") for to in (out, err)]
    return Result(code, *texts)


def call_for_json(root: Path, *words: str, code: int = 0) -> Any:
    """Run cub with `--json` in `root`, and return the value that it prints."""
    done = call_cub([*words, "--json"], cwd=root)
    assert done.code == code, (words, done)
    return json.loads(done.out)


def run_program(
    words: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    stdin: str = "",
    limit: float = 60,
) -> Result:
    """Run a program to its end; bytes that are no UTF-8 stand in the texts as surrogates."""
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=limit,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@contextmanager
def preserve_process() -> Iterator[None]:
    """Restore what a command may change of its process.

    That is the working directory, environment, time zone, locale, signal handlers, arguments,
    standard streams, umask, folder of temporary files, and the garbage collector's thresholds.
    """
    folder, environ, arguments = Path.cwd(), dict(os.environ), sys.argv
    temporary = tempfile.tempdir
    streams = sys.stdin, sys.stdout, sys.stderr
    spoken = locale.setlocale(locale.LC_ALL)
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    mask = os.umask(0)
    os.umask(mask)
    thresholds = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        os.umask(mask)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        if locale.setlocale(locale.LC_ALL) != spoken:
            locale.setlocale(locale.LC_ALL, spoken)
        sys.stdin, sys.stdout, sys.stderr = streams
        sys.argv, tempfile.tempdir = arguments, temporary
        _replace_environment(environ)
        os.chdir(folder)


def _replace_environment(environ: Mapping[str, str]) -> None:
    zone = os.environ.get("TZ")
    if dict(os.environ) != dict(environ):
        os.environ.clear()
        os.environ.update(environ)
    if os.environ.get("TZ") != zone and hasattr(time, "tzset"):
        time.tzset()
