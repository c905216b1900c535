"""After SIGKILL: what a person did since stays, and what was recovered is told."""

from __future__ import annotations

import pytest

from tests.actions.run.shop import Shop
from tests.actions.run.sound import seen
from tests.cli.commands.run.started import WAIT, started
from tests.conftest import Cub, git

WRITE = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'


@pytest.fixture
def killed(bakery: Shop) -> Shop:
    """Its client had changed kept.txt, and is gone."""
    bakery.client(WAIT)
    bakery.task()
    bakery.write("other.txt", "other\n")
    bakery.commit()
    _kill_run(bakery)
    bakery.client(WRITE)
    return bakery


def _kill_run(bakery: Shop, *words: str) -> None:
    run = started(bakery, *words)
    run.process.kill()
    run.communicate()
    assert run.is_client_gone()


def test_resumed_it_goes_on_as_it_was_asked_to(bakery: Shop, cub: Cub) -> None:
    bakery.client(WAIT)
    bakery.configure(profiles={"oven": {"run": {"message": "Oven: {title}"}}})
    bakery.task("s-1", labels=["hot"])
    bakery.task("s-2", priority=0)
    words = ("--label", "hot", "--max-iterations", "5", "--exec", "echo again")
    _kill_run(bakery, *words, "--profile", "oven")
    bakery.client(WRITE)
    done = cub("run", "--resume", "--trust", "--max-iterations", "4")
    assert done.code == 0, done.err
    assert "No run was killed" not in done.err
    assert (bakery.status("s-1"), bakery.status("s-2")) == ("closed", "open")
    assert bakery.log()[0].startswith("Oven: ")
    prompts = sorted(bakery.cub.glob("runs/*/s-1/*/prompt.md"))
    front = "--- Context: CLI Command 1 ---\nagain\n--- End Context ---\n"
    assert [file.read_text("utf-8").startswith(front) for file in prompts] == [True, True]
    assert "No run was killed" in cub("run", "--resume", "--trust", "--dry-run").err


@pytest.mark.parametrize(
    "move", ["commit -qam theirs", "switch -qc theirs", "add other.txt", "status"]
)
def test_what_a_person_did_since_stays(killed: Shop, cub: Cub, move: str) -> None:
    killed.write("other.txt", "by hand\n")
    git(killed.root, *move.split())
    before = seen(killed)
    done = cub("run", "--trust", "--no-checks", "--label", "none")
    assert "attempt 1 of a killed run was interrupted" in done.out
    assert (seen(killed), killed.status()) == (before, "open")
    (event,) = killed.ledger("attempt_end")
    assert "+half" in (killed.root / event["git"]["patch"]).read_text()
