"""What a run hands over to an agent: each text for agents that it does not read by itself, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.actions.helpers import init
from tests.actions.run.shop import Done, Shop
from tests.conftest import git

_CODEX = r"""
test "$1" = --version && echo codex-cli 0.169.0 && exit
cat > "$HOME/.cache/prompt"; echo x > made
echo '{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"I made it."}}'
echo '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}'"""
_CLAUDE = r"""
test "$1" = --version && echo "${CLAUDE_TEST_VERSION-2.1.330} (Claude Code)" && exit
cat > "$HOME/.cache/prompt"; echo x > made
while [ $# -gt 0 ]; do
  test "$1" = --append-system-prompt-file && cat "$2" >> "$HOME/.cache/prompt"; shift
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'"""
SECTION, CONSTITUTION, MAP = "Work in tasks:", "# Constitution", "# Project map"
CONTRACT, TASK = "# Run loop", "## CURRENT TASK"


@pytest.fixture
def stocked(bakery: Shop) -> Shop:
    """A shop with two instruction files of the person's, cub's own files, and two agents."""
    bakery.install_program("codex", _CODEX)
    bakery.install_program("claude", _CLAUDE)
    bakery.write("AGENTS.md", "# Bakery\n\nBread is counted in dozens.\n")
    bakery.write("bread.py", "def count_loaves():\n    return 12\n")
    bakery.write("CLAUDE.md", "# For Claude\n\nPlan before you bake.\n")
    bakery.commit("bread")  # the map shows what git tracks
    init(bakery.root)
    bakery.commit()
    bakery.task()
    return bakery


def prompt_of(shop: Shop, **asked: Any) -> str:
    done: Done = shop.run(once=True, **asked)
    assert done.outcomes == ["ok"]
    return Path(shop.environ["HOME"], ".cache/prompt").read_text()


def count(prompt: str, *texts: str) -> list[int]:
    return [prompt.count(text) for text in texts]


def test_codex_gets_what_it_does_not_read(stocked: Shop) -> None:
    prompt = prompt_of(stocked, harness="codex")
    assert count(prompt, "Plan before you bake.", CONSTITUTION, MAP, CONTRACT, TASK) == [1] * 5
    assert count(prompt, "Bread is counted in dozens.", SECTION) == [0, 0]
    assert prompt.index(CONTRACT) < prompt.index(TASK)


def test_claude_gets_what_it_does_not_read(stocked: Shop) -> None:
    prompt = prompt_of(stocked, harness="claude")
    assert count(prompt, "Bread is counted in dozens.", CONTRACT, TASK) == [1] * 3
    assert count(prompt, "Plan before you bake.", SECTION, CONSTITUTION, MAP) == [0] * 4


def test_an_agent_of_which_nothing_is_known_gets_the_contract_and_the_task(stocked: Shop) -> None:
    stocked.client('cat > "$HOME/.cache/prompt"; echo x > made')
    prompt = prompt_of(stocked, harness="mine")
    assert count(prompt, CONTRACT, TASK, SECTION, CONSTITUTION, MAP) == [1, 1, 0, 0, 0]


def test_a_map_that_git_ignores_is_handed_over(stocked: Shop) -> None:
    stocked.configure(map={"commit": False})
    stocked.write(".cub/.gitignore", (stocked.cub / ".gitignore").read_text() + "/map.md\n")
    git(stocked.root, "rm", "-q", "--cached", ".cub/map.md")
    stocked.commit("keep the map local")
    prompt = prompt_of(stocked, harness="codex")
    assert count(prompt, "Plan before you bake.", CONSTITUTION, MAP) == [1] * 3
