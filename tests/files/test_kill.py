from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.files.crashing import EVERY_KIND, calm
from tests.files.run_plan import run_plan
from tests.files.worlds import build, mend, whole
from tests.forked import ForkedFunction

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def run(root: Path, number: int = 0, name: str = "") -> int:
    own = {**environment(root.parent), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    with ForkedFunction(lambda: run_plan(root, number, name), own) as process:
        return process.wait()


@pytest.mark.parametrize(
    ("name", "share"),
    [
        pytest.param(
            name,
            share,
            marks=() if name == "SIGKILL" or share in (0, 54, 99) else pytest.mark.thorough,
        )
        for name in ("SIGKILL", "SIGTERM", "SIGINT")
        for share in range(0, 100, 9)
    ],
)
def test_a_killed_process_leaves_all_old_or_all_new(scratch: Path, name: str, share: int) -> None:
    old, new, names = calm(scratch, EVERY_KIND, chunk=16)
    root = build(scratch / "project")
    code = run(root, 1 + len(names) * share // 100, name)
    assert code == -signal.Signals[name]
    mend(root)
    assert whole(root) in (old, new)


def test_a_process_that_is_not_killed_gets_it_done(scratch: Path) -> None:
    root = build(scratch / "project")
    assert run(root) == 0
    assert whole(root) == calm(scratch, EVERY_KIND).new
