"""After SIGKILL: what a person did since stays, and what was recovered is told."""

from __future__ import annotations

import time

import pytest

from tests.actions.run.shop import Shop, alive
from tests.cli.commands.run.started import WAIT, clients_of, started
from tests.conftest import Cub, git

WRITE = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'


@pytest.fixture
def killed(bakery: Shop) -> Shop:
    """Its client had changed kept.txt."""
    bakery.client(WAIT)
    bakery.task()
    bakery.write("other.txt", "other\n")
    bakery.commit()
    run = started(bakery)
    run.process.kill()
    run.communicate()
    _await_clients(bakery)
    bakery.client(WRITE)
    return bakery


def _await_clients(bakery: Shop) -> None:
    deadline = time.monotonic() + 20
    while alive(clients_of(bakery)):
        assert time.monotonic() < deadline


def test_resumed_it_goes_on_as_it_was_asked_to(bakery: Shop, cub: Cub) -> None:
    bakery.client(WAIT)
    bakery.task("s-1", labels=["hot"])
    bakery.task("s-2", priority=0)
    run = started(bakery, "--label", "hot", "--max-iterations", "5", "--exec", "echo again")
    run.process.kill()
    run.communicate()
    _await_clients(bakery)
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
    done = cub("run", "--trust", "--no-checks")
    assert (done.code, killed.status()) == (0, "closed"), done.err
    assert "attempt 1 of a killed run was interrupted" in done.err + done.out
    assert (killed.root / "other.txt").read_text() == "by hand\n"
    assert (killed.root / "kept.txt").read_text() == "kept\n"


@pytest.mark.parametrize("move", [("commit", "-qam", "by hand"), ("switch", "-qc", "theirs")])
def test_where_a_person_led_HEAD_since_it_stays(  # noqa: N802 - as git spells it
    killed: Shop, cub: Cub, move: tuple[str, ...]
) -> None:
    (killed.root / "other.txt").write_text("by hand\n")
    git(killed.root, *move)
    branch = git(killed.root, "branch", "--show-current")
    cub("run", "--trust", "--no-checks", "--label", "none")
    assert (killed.root / "other.txt").read_text() == "by hand\n"
    assert git(killed.root, "branch", "--show-current") == branch
    assert ("by hand" in killed.log()) is (move[0] == "commit")
