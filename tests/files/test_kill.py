from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.files import run_plan
from tests.files.crashing import EVERY_KIND, calm
from tests.files.worlds import build, mend, whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


def run(root: Path, *when: str) -> int:
    command = [sys.executable, run_plan.__file__, str(root), *when]
    done = subprocess.run(command, env=environment(root.parent), capture_output=True, check=False)
    return done.returncode


@pytest.mark.parametrize("share", range(0, 100, 9))
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_killed_process_leaves_all_old_or_all_new(scratch: Path, name: str, share: int) -> None:
    old, new, names = calm(scratch, EVERY_KIND, chunk=16)
    root = build(scratch / "project")
    code = run(root, name, str(1 + len(names) * share // 100))
    assert code == -signal.Signals[name]
    mend(root)
    assert whole(root) in (old, new)


def test_a_process_that_is_not_killed_gets_it_done(scratch: Path) -> None:
    root = build(scratch / "project")
    assert run(root) == 0
    assert whole(root) == calm(scratch, EVERY_KIND).new
