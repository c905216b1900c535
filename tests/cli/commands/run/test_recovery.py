"""After SIGKILL: what a person did since stays, and what was recovered is told."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cub.files.signed_state import find_project_state
from tests.actions.run.shop import Shop, alive
from tests.cli.commands.run.started import WAIT, clients_of, started
from tests.conftest import Cub, git

WRITE = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'


@pytest.fixture
def killed(bakery: Shop) -> Shop:
    """Its client had changed kept.txt; its processes are gone for a minute, by cub's files."""
    bakery.client(WAIT)
    bakery.task()
    bakery.write("other.txt", "other\n")
    bakery.commit()
    run = started(bakery)
    run.process.kill()
    run.communicate()
    (ended,) = _awaited(bakery)
    assert not alive(clients_of(bakery))
    ended.write_text(f"{float(ended.read_text()) - 60}\n")
    for path in [*ended.parent.iterdir(), *ended.parents[2].glob("*.json")]:
        os.utime(path, (time.time() - 60,) * 2)
    bakery.client(WRITE)
    return bakery


def _awaited(bakery: Shop) -> list[Path]:
    runs = find_project_state(bakery.root) / "runs"
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if found := list(runs.glob("*/*/*/ended")):
            return found
        time.sleep(0.02)
    raise AssertionError


def test_resumed_it_goes_on_as_it_was_asked_to(bakery: Shop, cub: Cub) -> None:
    bakery.client(WAIT)
    bakery.task("s-1", labels=["hot"])
    bakery.task("s-2", priority=0)
    run = started(bakery, "--label", "hot", "--max-iterations", "5", "--exec", "echo again")
    run.process.kill()
    run.communicate()
    _awaited(bakery)
    bakery.client(WRITE)
    done = cub("run", "--resume", "--trust", "--max-iterations", "4")
    assert done.code == 0, done.err
    assert "No run was killed" not in done.err
    assert (bakery.status("s-1"), bakery.status("s-2")) == ("closed", "open")
    prompts = sorted(bakery.cub.glob("runs/*/s-1/*/prompt.md"))
    front = "--- Context: CLI Command 1 ---\nagain\n--- End Context ---\n"
    assert [file.read_text("utf-8").startswith(front) for file in prompts] == [True, True]
    assert "No run was killed" in cub("run", "--resume", "--trust", "--dry-run").err


def test_a_file_that_a_person_changed_since_stays(killed: Shop, cub: Cub) -> None:
    (killed.root / "other.txt").write_text("by hand\n")
    refused = cub("run", "--trust", "--no-checks")
    assert refused.code == 1
    assert "there are changes that are not committed" in refused.err
    assert "other.txt was changed after the run was killed, and stays" in refused.err
    assert "attempt 1 of a killed run was interrupted" in refused.err
    assert (killed.root / "other.txt").read_text() == "by hand\n"
    assert killed.status() == "open"
    git(killed.root, "checkout", "-q", "--", "other.txt", "kept.txt")
    assert cub("run", "--trust", "--no-checks").code == 0


@pytest.mark.parametrize("move", [("commit", "-qam", "by hand"), ("switch", "-qc", "theirs")])
def test_where_a_person_led_HEAD_since_it_stays(  # noqa: N802 - as git spells it
    killed: Shop, cub: Cub, move: tuple[str, ...]
) -> None:
    git(killed.root, *move)
    branch = git(killed.root, "branch", "--show-current")
    cub("run", "--trust", "--no-checks", "--label", "none")
    assert (killed.root / "kept.txt").read_text() == "half\n"
    assert git(killed.root, "branch", "--show-current") == branch
    assert ("by hand" in killed.log()) is (move[0] == "commit")
