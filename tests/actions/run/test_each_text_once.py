"""Each text of a project in the first request of the built-in agent, in both formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.exchange import RecordedRequest, ScriptedCall
from cub.project.project import Project
from tests.actions.helpers import list_context_sources
from tests.actions.run.shop import Shop, surroundings
from tests.agents.line_counts import count_sources
from tests.examples import keep_few
from tests.model_server.faults import ModelServer, Reply, count_occurrences, read_system

_MODELS = ("claude-sonnet-4-5", "openai/gpt-4o")
_FILES = {
    "AGENTS.md": "# Bakery\n\nBake the bread before six in the morning.\n",
    "CLAUDE.md": "@AGENTS.md\n\n# Till\n\nPrices are in cents, and never in euros.\n",
    "CLAUDE.local.md": "My own till is the one at the door.\n",
    ".claude/rules/flour.md": "Flour comes from the mill in the valley.\n",
    ".claude/rules/ovens.md": "---\npaths: [ovens/**]\n---\nOvens are cleaned on Sunday.\n",
    ".github/copilot-instructions.md": "Customers are greeted with their names.\n",
    "bread.py": "def count_dozens(loaves: int) -> int:\n    return loaves // 12\n",
    "ovens/large.py": "HEAT = 240\n",
    "pyproject.toml": '[project]\nname = "bakery"\ndescription = "Counts bread and bakes it."\n',
}
_USER_TEXT = "I like short answers about bread best.\n"
_PATH_RULE = "Ovens are cleaned on Sunday."
_OWN_LINES = (
    "Bake the bread before six in the morning.",
    "Prices are in cents, and never in euros.",
    "My own till is the one at the door.",
    "Flour comes from the mill in the valley.",
    "Customers are greeted with their names.",
    _USER_TEXT.strip(),
)
_READ_TWICE = [ScriptedCall("Read", {"file_path": "ovens/large.py"}),
               ScriptedCall("Grep", {"pattern": "HEAT", "path": "ovens/large.py"})]  # fmt: skip


@pytest.fixture
def bakery_with_rules(bakery: Shop, home: Path) -> Shop:
    """A repository with all kinds of texts for agents, in which `cub init` was run."""
    for name, text in _FILES.items():
        bakery.write(name, text)
    user_file = home / ".claude/CLAUDE.md"
    user_file.parent.mkdir(parents=True)
    user_file.write_text(_USER_TEXT)
    bakery.commit()
    called = bakery.call("init")
    assert called.code == 0, called.err
    bakery.commit("init")
    return bakery


def record(shop: Shop, home: Path, *words: str) -> list[RecordedRequest]:
    """The requests of a `cub` command whose model reads a file, and then is done."""
    with ModelServer([Reply(calls=_READ_TWICE), Reply("Status: done")]) as server:
        variables = redirect_agent("builtin", server.url, home).environ
        done = shop.call(*words, **{**variables, "PATH": surroundings(home)["PATH"]})
        assert server.requests, done.err
        return list(server.requests)


def count_texts(shop: Shop, request: RecordedRequest) -> dict[str, int]:
    sources = list_context_sources(Project.load(shop.root), "nothing")
    arrivals = count_sources(sources, request.texts)
    counts = {
        s.label: a.times for s, a in zip(sources, arrivals, strict=True) if a and not a.is_cut
    }
    return counts | {line: count_occurrences(request, line) for line in _OWN_LINES}


_LABELS = ("AGENTS.md (yours)", "CLAUDE.md (yours)", "CLAUDE.local.md (yours)",
           ".claude/rules/flour.md", "managed section", ".cub/constitution.md",
           ".cub/map.md")  # fmt: skip
_EACH_ONCE = dict.fromkeys((*_LABELS, *_OWN_LINES), 1)


@pytest.mark.parametrize("model", keep_few(_MODELS, 1))
def test_each_text_reaches_the_model_once(bakery_with_rules: Shop, home: Path, model: str) -> None:
    words = ("code", "-p", "Count the loaves of today.", "--model", model)
    first, second = record(bakery_with_rules, home, *words)
    assert count_texts(bakery_with_rules, first) == _EACH_ONCE
    assert count_occurrences(first, "Count the loaves of today.") == 1
    assert read_system(second) == read_system(first)
    assert count_texts(bakery_with_rules, second) == _EACH_ONCE
    # The rule for a path comes with the first file that it is for.
    assert count_occurrences(first, _PATH_RULE) == 0
    assert count_occurrences(second, _PATH_RULE) == 1


@pytest.mark.parametrize("model", keep_few(reversed(_MODELS), 1))
def test_in_a_run_its_rules_and_the_prompt_are_there_once_too(
    bakery_with_rules: Shop, home: Path, model: str
) -> None:
    shop = bakery_with_rules
    shop.task(description="Count the loaves of today.")
    words = ("run", "--once", "--trust", "--no-checks", "--harness", "builtin", "--model", model)
    first, second = record(shop, home, *words)
    assert count_texts(shop, first) == _EACH_ONCE
    (system,), (prompt,) = (
        shop.cub.glob(f"runs/*/s-1/1/{name}") for name in ("system.md", "prompt.md")
    )
    assert count_occurrences(first, system.read_text().strip()) == 1
    assert count_occurrences(first, prompt.read_text().strip()) == 1
    assert count_occurrences(first, "Count the loaves of today.") == 1
    assert read_system(second) == read_system(first)
