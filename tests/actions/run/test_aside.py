"""Whole runs whose attempts work beside the checkout, as where nothing can be mounted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.run.shop import CHECK, Shop
from tests.actions.run.sound import require_told, require_untouched, see_checkout
from tests.conftest import git

_CUB = '"$PYTHON" -m cub'


@pytest.fixture
def beside(bakery: Shop) -> Shop:
    bakery.task()
    bakery.configure(run={"place": "aside", "checks": [CHECK]})
    return bakery


def test_work_is_checked_committed_and_brought_into_the_checkout(beside: Shop) -> None:
    beside.install_hook("commit-msg", 'printf "\\nBy a hook\\n" >> "$1"')
    beside.client("cat > /dev/null; pwd > where.txt; echo x > made.txt; echo 'Summary: baked'")
    before = see_checkout(beside)
    done = beside.run()
    (end,) = require_told(beside, done)
    assert (done.outcomes, beside.status()) == (["ok"], "closed")
    assert beside.log() == ["task(s-1): Do s-1", "start"]
    assert "By a hook" in git(beside.root, "log", "-1", "--format=%b")
    assert end["git"]["files"] == ["made.txt", "where.txt"]
    where = Path((beside.root / "where.txt").read_text().strip())
    assert not where.is_relative_to(beside.root)
    assert "attempts work in a clone beside your checkout" in done.notices
    require_untouched(beside, before)


def test_a_failing_check_comes_back_in_the_next_prompt(beside: Shop) -> None:
    """The first attempt fails with what the check says, the second one mends it."""
    beside.client(
        "grep -q 'F821 gone' && { echo x > made.txt; exit 0; }; echo 'a.py:7:1: F821 gone' > wrong"
    )
    before = see_checkout(beside)
    done = beside.run()
    assert done.outcomes == ["checks_failed", "ok"]
    first, _ = require_told(beside, done)
    assert "F821 gone" in (beside.root / first["git"]["patch"]).read_text()
    assert not (beside.root / "wrong").exists()
    require_untouched(beside, before)


def test_cub_inside_speaks_for_the_attempt(beside: Shop) -> None:
    """It closes its own task by a request, adds one, and can trust nothing and start no run."""
    said = "2>> said.txt"
    beside.client(
        f"cat > /dev/null; {_CUB} task add 'More to do' > /dev/null; "
        f"{_CUB} task close s-1 --reason no_change > /dev/null; "
        f"{_CUB} trust {said}; {_CUB} run {said}; rm -rf .git; true"
    )
    assert beside.run(once=True).outcomes == ["ok"]
    assert beside.status() == "closed"
    titles = [beside.record(task.id)["title"] for task in beside.tasks()]
    assert titles == ["Do s-1", "More to do"]
    text = (beside.root / "said.txt").read_text()
    assert "commands cannot be trusted inside an attempt" in text
    assert "a run cannot be started inside an attempt" in text


def test_nothing_that_an_agent_starts_outlives_its_attempt(beside: Shop) -> None:
    agent = "(setsid sh -c 'while :; do echo bad >> kept.txt; sleep 0.01; done' &); echo x > x"
    beside.client(f"cat > /dev/null; {agent}")
    before = see_checkout(beside)
    beside.run(once=True)
    require_untouched(beside, before)


@pytest.mark.parametrize(("folder", "is_named"), [(".claude", True), (".codex", False)])
def test_agents_that_trust_projects_by_path_are_named(
    beside: Shop, folder: str, is_named: bool
) -> None:
    beside.install_program("claude", "if [ $1 = --version ]; then echo 2.1.332; fi; exit 1")
    beside.write(f"{folder}/notes.md", "x\n")
    beside.commit()
    done = beside.run(harness="claude", once=True)
    told = "Claude Code trusts projects by path: it may ignore .claude of the clone"
    assert (told in done.notices) is is_named
