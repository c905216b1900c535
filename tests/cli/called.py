"""cub called in this very process: many commands for the price of one start."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from cub.cli.app import run
from tests.conftest import Result


def call(root: Path, *words: str) -> Result:
    """What `cub` leaves that is started in `root`; stdin is nobody's."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["-C", str(root), *words])
    return Result(code, *(_text(stream) for stream in (out, err)))


def printed(root: Path, *words: str, code: int = 0) -> Any:
    """The JSON value that a command prints."""
    done = call(root, *words, "--json")
    assert done.code == code, (words, done)
    return json.loads(done.out)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined,no-any-return]
