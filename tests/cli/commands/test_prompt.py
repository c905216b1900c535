"""`cub prompt` as a process: what it prints, byte for byte, and how it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cub.actions.build_prompt import build_task_prompt, read_prompt_options
from cub.actions.tasks.stores import open_stores
from cub.context.output_blocks import OutputBlock
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.prompt.templates import load_shipped_templates
from cub.store.ledger import Ledger
from cub.store.store_paths import TASKS_FILE
from tests.conftest import Cub, tree
from tests.prompt.bakery import CLOSING, EPIC, ITEMS, TASK, check, ended
from tests.store.stores import put

KEY = TASK["id"]
TITLES = ["CURRENT TASK", "EPIC CONTEXT", "Task Management", "When Complete"]


@pytest.fixture
def bakery(project: Path) -> Path:
    """A project with a task of an epic, and many others."""
    (project / ".cub").mkdir()
    made = {"rev": 1, "status": "open", "priority": 2, "created_at": "2026-01-01T00:00:00.000Z"}
    more = [{"id": f"bake-m{n:04}", "title": f"Loaf {n}", "parent": EPIC["id"]} for n in range(60)]
    put(project, [{**made, **one} for one in [EPIC, {**TASK, "parent": EPIC["id"]}, *more]])
    return project


def built(root: Path, *blocks: OutputBlock) -> str:
    """The prompt of the task."""
    stores = open_stores(Project.load(root), "ann")
    options = read_prompt_options(stores, KEY, resolve_config(stores.project, {}).values)
    return build_task_prompt(stores, KEY, options._replace(blocks=blocks)).prompt.text


def test_it_prints_the_very_prompt_and_changes_nothing(bakery: Path, cub: Cub) -> None:
    before = tree(bakery)
    printed = cub("prompt", "k3f9a")
    assert (printed.code, printed.err) == (0, "")
    text = built(bakery)
    assert printed.out == text
    assert text.endswith("`\n")
    assert re.findall(r"(?m)^## (.*)$", text) == TITLES
    assert all(f"`{command}`" in text for command in CLOSING)
    assert tree(bakery) == before


def test_the_system_prompt_needs_no_task(bakery: Path, cub: Cub) -> None:
    assert cub("prompt", "--system").out == load_shipped_templates().read_file("runloop.md")
    (bakery / ".cub/runloop.md").write_bytes("# Mine é\r\n".encode())
    printed = cub("prompt", "--system")
    assert (printed.code, printed.out, printed.err) == (0, "# Mine é\n", "")


@pytest.mark.usefixtures("bakery")
def test_explain_lists_sections_costs_and_cuts(cub: Cub) -> None:
    lines = cub("prompt", KEY, "--explain").out.splitlines()
    rows = [re.split(r"  +", line) for line in lines if not line.startswith("cut: ")]
    assert [row[0] for row in rows] == ["section", *TITLES, "in all"]
    costs = [int(row[1].replace(",", "")) for row in rows[1:]]
    assert sum(costs[:-1]) == costs[-1]
    assert lines[len(rows) :] == ["cut: 30 of 60 remaining tasks are named"]


@pytest.mark.usefixtures("bakery")
def test_a_budget_cuts_and_says_so(cub: Cub) -> None:
    printed = cub("prompt", KEY, "--tokens", "400")
    told = cub("prompt", KEY, "--tokens", "400", "--explain").out
    left = 30 - printed.out.count("- bake-m")
    assert 0 < left < 30
    assert f"cut: {left} of 30 remaining tasks are left out: the budget of 400 tokens\n" in told
    assert (printed.code, printed.err) == (0, "")
    least = cub("prompt", KEY, "--tokens", "1")
    assert (least.code, TASK["description"] in least.out) == (0, True)
    assert least.err == "The task alone exceeds the budget; the task is never cut.\n"


@pytest.mark.parametrize("arguments", [[], ["--explain"], [KEY, "--tokens", "0"], [KEY, "--nope"]])
@pytest.mark.usefixtures("bakery")
def test_a_wrong_command_line_ends_with_2(cub: Cub, arguments: list[str]) -> None:
    assert cub("prompt", *arguments).code == 2


@pytest.mark.usefixtures("bakery")
def test_an_unknown_task_ends_with_1_and_those_that_are_near(cub: Cub) -> None:
    refused = cub("prompt", "bake-k3f9b")
    assert (refused.code, refused.out) == (1, "")
    assert "there is no task 'bake-k3f9b'" in refused.err
    assert f"did you mean {KEY}" in refused.err


def test_a_failed_attempt_in_the_ledger_makes_it_a_retry(bakery: Path, cub: Cub) -> None:
    first = cub("prompt", KEY).out
    Ledger(bakery).append_events(ended(1, checks=[check(ITEMS)]))
    again = cub("prompt", KEY).out
    assert "## PREVIOUS ATTEMPT\n\nThis task was attempted before" in again
    assert "- 3 failing\n" in again
    Ledger(bakery).append_events({**ended(2), "ok": True})
    assert cub("prompt", KEY).out == first


@pytest.mark.thorough
def test_it_is_the_same_bytes_wherever_it_runs(bakery: Path, cub_interpreter: Cub) -> None:
    for number in (1, 2, 3):
        Ledger(bakery).append_events(
            ended(number, checks=[check(ITEMS)], git={"files": ["a", "b", "ü"]})
        )
    places = [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
        {"PYTHONHASHSEED": "3", "PYTHONIOENCODING": "latin-1", "TZ": "America/New_York"},
    ]
    first, *others = [cub_interpreter("prompt", KEY, **place) for place in places]
    assert first.code == 0
    assert others == [first] * 2


def test_damaged_lines_are_told_on_stderr(bakery: Path, cub: Cub) -> None:
    with (bakery / TASKS_FILE).open("ab") as file:
        file.write(b'{"id":\n')
    printed = cub("prompt", KEY)
    assert (printed.code, printed.out[:16]) == (0, "## CURRENT TASK\n")
    assert "warning:" in printed.err


NAMED = {"name": "Place", "command": "basename $PWD; printenv SECRET_WORD"}


def configure(root: Path, **keys: object) -> None:
    (root / ".cub/config.yaml").write_text(json.dumps(keys), "utf-8")


def test_a_command_that_fails_is_an_entry_of_json(bakery: Path, cub: Cub) -> None:
    assert bakery.is_dir()
    printed = cub("prompt", KEY, "--json", "--exec", "exit 3")
    messages = [warning["message"] for warning in json.loads(printed.out)["warnings"]]
    assert messages == ["the command 'exit 3' exited with code 3"]


def test_the_output_of_commands_stands_in_front(bakery: Path, cub: Cub) -> None:
    configure(bakery, context_commands=[NAMED], run={"hide_env": ["SECRET_*"]})
    printed = cub("prompt", KEY, "--trust", "--exec", "echo '# Loud'; exit 3", SECRET_WORD="salt")
    assert (printed.code, printed.err.count("exited with code")) == (0, 2)
    hidden = OutputBlock("Place", "Command exited with code 1", bakery.name)
    assert printed.out.startswith(hidden.format() + "\n\n--- Context Error: CLI Command 1 ---\n")
    failed = OutputBlock("CLI Command 1", "Command exited with code 3", "# Loud")
    assert printed.out == built(bakery, hidden, failed)
    assert "\n\\# Loud\n--- End Context ---\n\n## CURRENT TASK\n" in printed.out


def test_commands_of_the_project_need_trust(bakery: Path, cub: Cub) -> None:
    configure(bakery, context_commands=[{"name": "Make", "command": "touch made"}])
    refused = cub("prompt", KEY)
    assert (refused.code, refused.out) == (1, "")
    assert "the commands of this project are not trusted" in refused.err
    assert cub("prompt", KEY, "--no-context-exec", "--exec", "echo 1").code == 0
    assert cub("prompt", "--system").code == 0
    assert cub("prompt", "nothing", "--trust").code == 1
    assert not (bakery / "made").exists()
    cub("trust")
    assert cub("prompt", KEY).code == 0
    assert (bakery / "made").exists()


def test_a_profile_replaces_the_commands(bakery: Path, cub: Cub) -> None:
    debug = {"context_commands": [{"name": "Log", "command": "echo crumbs"}]}
    configure(bakery, context_commands=[NAMED], profiles={"debug": debug})
    printed = cub("prompt", KEY, "--trust", "--profile", "debug")
    assert printed.out == built(bakery, OutputBlock("Log", "", "crumbs"))


def test_a_command_that_must_not_fail_ends_it(bakery: Path, cub: Cub) -> None:
    command = {"name": "Dough", "command": "echo flat; exit 4", "on_failure": "fail"}
    configure(bakery, context_commands=[command])
    failed = cub("prompt", KEY, "--trust", "--debug")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith("ran 'echo flat; exit 4' (.cub/config.yaml:1): exited with code 4")
    assert "error: .cub/config.yaml:1: the context command 'Dough' exited with code 4" in failed.err


@pytest.mark.usefixtures("bakery")
def test_debug_tells_what_ran_without_secrets(cub: Cub) -> None:
    token = "ghp_" + "a1B2" * 9
    words = ("prompt", KEY, "--exec", f": {token}", "--exec", "echo two", "--debug")
    lines = cub(*words).err.splitlines()
    assert [line.partition(": succeeded")[0] for line in lines][1] == "ran 'echo two' (--exec)"
    assert len(lines) == 2
    assert token not in lines[0]


@pytest.mark.usefixtures("bakery")
def test_a_confirmation_needs_a_person(cub: Cub) -> None:
    refused = cub("prompt", KEY, "--exec", "touch made", "--confirm-context-exec")
    assert (refused.code, refused.out) == (1, "")
    assert "stdin is not a terminal" in refused.err


@pytest.mark.usefixtures("bakery")
def test_explain_has_a_row_for_each_block(cub: Cub) -> None:
    words = ("--exec", "echo one", "--exec", "exit 1", "--exec", "seq 9000", "--tokens", "400")
    lines = cub("prompt", KEY, "--explain", *words).out.splitlines()
    titles = [re.split(r"  +", line)[0] for line in lines[1:4]]
    assert titles == ["Context: CLI Command 1", "Context Error: CLI Command 2",
                      "Context: CLI Command 3"]  # fmt: skip
    assert any(re.search(r"characters of the commands' output are left out", x) for x in lines)
