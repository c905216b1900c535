"""docs/reference/json.md names every schema, and its examples follow them."""

from __future__ import annotations

import re

import pytest

from cub.actions.schemas import CONFIG, list_schemas
from tests.cli.shapes import fault
from tests.docs.test_json_reference import PAGE, example
from tests.docs.test_tables import rows

SHOWN = {
    "A plan": "plan",
    "Status": "status",
    "Agents": "agents",
    "What reached the model": "agent-proofs",
    "The map": "map",
    "A review": "review",
    "Several projects": "projects",
    "Configuration": "settings",
    "An error": "error",
    "Repair": "repair",
    "Tasks": "tasks",
    "Counts of tasks": "task-stats",
    "Findings": "findings",
    "An import": "import",
    "An export": "export",
    "A prompt": "prompt",
    "A context": "context",
    "Task files": "task-files",
    "A session of the built-in agent": "code",
    "Sessions of the built-in agent": "sessions",
    "Trust": "trust",
    "Events": "events",
    "Runs": "runs",
    "Attempts": "attempts",
    "What a run would do": "run-preview",
    "Counts of attempts": "ledger-stats",
}


def test_the_table_has_every_schema_and_the_commands_that_print_it() -> None:
    told = {cells[0]: cells[1:] for cells in rows(PAGE, "Schema")}
    link = {one.name: f"[`{one.name}`](schemas/{one.name}.json)" for one in list_schemas()}
    link[CONFIG] = f"`{CONFIG}`"
    assert list(told) == [link[one.name] for one in list_schemas()]
    for one in list_schemas():
        title, printed = told[link[one.name]]
        assert title.casefold() == one.title.casefold()
        if one.commands:
            assert re.findall(r"`([^`]+)`", printed) == list(one.commands)


@pytest.mark.parametrize("heading", SHOWN)
def test_an_example_follows_its_schema(heading: str) -> None:
    assert fault(SHOWN[heading], example(heading)) == ""


def test_every_example_is_held() -> None:
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [part.partition("\n")[0] for part in parts if "```json" in part] == list(SHOWN)
