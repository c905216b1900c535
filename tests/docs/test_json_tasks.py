"""The shapes of tasks and events in docs/reference/json.md are the ones that are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Cub, git
from tests.docs.test_json_reference import example, shape


def printed(cub: Cub, *words: str, code: int = 0) -> Any:
    done = cub(*words, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)


def planned(cub: Cub) -> tuple[str, str]:
    """The id of an epic, and of its part."""
    epic = cub("task", "add", "Sell bread online", "--type", "epic").out.strip()
    given = ("--parent", epic, "-p", "1", "-l", "shop", "--accept", "Prices are in cents")
    return epic, cub("task", "add", "Show prices", *given).out.strip()


def test_tasks(cub: Cub) -> None:
    _, key = planned(cub)
    shown = example("Tasks")
    claimed = printed(cub, "task", "claim", key, "--as", "ada")
    assert shape(claimed) == shape(shown)
    listed = printed(cub, "task", "list", "--status", "in_progress")
    waiting = [{**task, "waits_for": []} for task in claimed["tasks"]]
    assert (listed["tasks"], listed["warnings"]) == (waiting, [])
    whole = printed(cub, "task", "show", key)
    around: dict[str, list[str]] = {"waits_for": [], "blocks": [], "children": []}
    assert whole["task"] == {**claimed["tasks"][0], **around}


def test_counts_of_tasks(cub: Cub) -> None:
    epic, key = planned(cub)
    cub("task", "add", "Take orders", "--parent", epic)
    cub("task", "close", key)
    found, shown = printed(cub, "task", "stats"), example("Counts of tasks")
    shown["epics"] = {epic: shown["epics"].pop("bakery-k3f9a")}
    assert found == {**shown, "root": found["root"]}


def test_findings(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    line = {"id": "bakery-k3f9a.2", "depends_on": ["bakery-gone1"]}
    (project / ".cub" / "tasks.jsonl").write_text(json.dumps(line) + "\n")
    shown = {**example("Findings"), "root": str(project)}
    assert printed(cub, "doctor", "--select", "D6", code=1) == shown


def test_events(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    shown = {**example("Events"), "root": str(project)}
    lines = [json.dumps(event) + "\n" for event in shown["events"]]
    (project / ".cub" / "ledger.jsonl").write_text("".join(lines))
    assert printed(cub, "ledger", "list") == shown
    story = printed(cub, "ledger", "show", shown["events"][0]["task"])
    assert story == {**shown, "task": shown["events"][0]["task"]}
    assert json.loads(cub("ledger", "tail", "--json").out) == shown["events"][0]


def test_counts_of_attempts(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    attempt = {
        "ev": "attempt_end", "task": "a", "harness": "claude", "model": "opus", "dur_s": 61.25,
        "tok": {"in": 1200, "out": 300}, "usd": 0.04, "usd_src": "reported",
    }  # fmt: skip
    events = [{**attempt, "ok": True}, {**attempt, "ok": False, "fail": {"class": "stuck"}}]
    lines = [json.dumps(event) + "\n" for event in events]
    (project / ".cub" / "ledger.jsonl").write_text("".join(lines))
    assert printed(cub, "ledger", "stats") == {
        **example("Counts of attempts"),
        "root": str(project),
    }


SCRIPT = """\
tasks:
  "*":
    - {files: {bread.py: "DOZEN = 12\\n"}, usage: {input: 1200, output: 300}, usd: 0.01}
"""


def test_runs(cub: Cub, project: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    git(project, "commit", "-q", "--allow-empty", "-m", "Start")
    key = cub("task", "add", "Count bread").out.strip()
    (project / ".cub" / "script.yaml").write_text(SCRIPT)
    words = ("run", "--harness", "scripted")
    shown = {**example("What a run would do"), "root": str(project), "tasks": [key]}
    check, command = shown["checks"][0], shown["context_commands"][0]["command"]
    assert printed(cub, *words, "--check", check, "--exec", command, "--dry-run") == shown
    assert cub(*words, "--no-checks").code == 0
    found, told = printed(cub, "run", "status"), example("Runs")
    assert shape(found) == shape(told)
    assert found["runs"][0]["outcomes"] == told["runs"][0]["outcomes"]
