"""The world of the prompts' tests: the tasks of a bakery, what its ledger says, and a judge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt

from cub.actions.previous_attempts import summarize_failures
from cub.prompt.task_prompt import (
    DEFAULT_TOKENS,
    EpicSiblings,
    PromptInputs,
    TaskPrompt,
    compose_prompt,
)
from cub.prompt.templates import load_shipped_templates
from cub.store.events import Event
from cub.store.jsonl import Record

TASK: Record = {
    "id": "bake-k3f9a",
    "title": "Let the oven keep its heat",
    "issue_type": "feature",
    "description": "The oven cools down while the door is open.\n\n- Measure first.\n- Then heat.",
    "acceptance_criteria": ["It stays above 200 °C", "The door has a test:\n`test_door`"],
    "notes": "2026-01-02T08:00Z ann: the door is new\n2026-01-03T08:00Z ben: so is its lock",
}
EPIC: Record = {
    "id": "bake-e0001",
    "title": "A new oven",
    "issue_type": "epic",
    "description": "Bread needs steady heat.\n\nWe replace the oven, and all that it drives.",
}
CLOSING = ("cub task close bake-k3f9a", "cub task close bake-k3f9a --reason no_change")
COMMANDS = ("mypy", "pytest -q", "ruff check")
ITEMS = [
    ["test", "tests/test_oven.py::test_heat", "assert 180 == 200"],
    ["test", "tests/test_oven.py::test_door", "TimeoutError: the door is open"],
    ["type", "src/oven.py:12:5", "Missing return statement [return]"],
]
TITLES = ("CURRENT TASK", "EPIC CONTEXT", "PREVIOUS ATTEMPT", "Task Management", "When Complete")


def siblings(word: str, count: int, shown: int) -> EpicSiblings:
    """As many tasks of the epic."""
    made = [{"id": f"bake-{word}{n}", "title": f"{word.title()} {n}"} for n in range(1, count + 1)]
    return EpicSiblings(made[:shown], count)


def inputs(task: Record = TASK, **values: Any) -> PromptInputs:
    """A task that is tried for the first time."""
    return PromptInputs(task, **{"close_commands": CLOSING, "check_commands": COMMANDS, **values})


def everything(**values: Any) -> PromptInputs:
    """A task with an epic and siblings."""
    family = {"done": siblings("done", 2, 20), "remaining": siblings("next", 3, 30)}
    return inputs(**{"epic": EPIC, **family, **values})


def check(items: Sequence[Sequence[str]] = (), **values: Any) -> Event:
    """A check that failed."""
    return {"cmd": "pytest -q", "exit": 1, "n": len(items), "items": [*map(list, items)], **values}


def ended(number: int, class_: str = "checks_failed", **values: Any) -> Event:
    """An attempt that failed on the day of its number."""
    fail = {"class": class_, **values.pop("fail", {})}
    ts = f"2026-01-{number:02}T08:00:00.000Z"
    made = {"v": 1, "ev": "attempt_end", "ts": ts, "task": "bake-k3f9a", "n": number, "ok": False}
    return {**made, "fail": fail, **values}


def composed(what: PromptInputs, tokens: int = DEFAULT_TOKENS) -> TaskPrompt:
    return compose_prompt(what, load_shipped_templates(), tokens)


def after(*events: Event, **values: Any) -> str:
    """The prompt of a task behind these attempts, the last one first."""
    return composed(everything(previous_failures=summarize_failures(events), **values)).text


def headings(text: str) -> list[tuple[str, str, int]]:
    """All headings that CommonMark sees: the words of each, its marks, how deep it is nested."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (inner.content, one.markup, one.level)
        for one, inner in pairwise(tokens)
        if one.type == "heading_open"
    ]


def own_headings(text: str) -> list[str]:
    """The titles of a prompt, all of them cub's: text of others makes no heading."""
    found = headings(text)
    assert [one[1:] for one in found] == [("##", 0)] * len(found)
    return [title for title, *_ in found]
