"""A project in which every text is hostile to a terminal, and what a terminal may be sent."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from cub.actions.run.run_folders import STATUS_FILE, RunFolder, write_json
from tests.conftest import git

# A title, a screen erased, colors of C1, a change of direction, a bell, a link, invisible tags.
HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\u2066\x07\r\x7f\x08\x1b]8;;http://x\x1b\\z\U000e0041"
    "\u200b\x85\ud800"
)
# What git takes in the name of a branch.
BRANCH = "b\u009b31m\u202e\u200bx"
_DRAWN = re.compile(r"\x1b\[(?:\?25[hl]|\d*[AK]|[\d;]*m)|\r")
_OWN = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36)m")
_TS = "2026-01-31T10:00:00Z"


def plant(root: Path) -> None:
    """Hostile texts in all stores, in the configuration, in names, in history and of runs."""
    cub = root / ".cub"
    cub.mkdir(exist_ok=True)
    _lines(
        cub / "tasks.jsonl", [_task("a-1", "open"), _task("a-2", HOSTILE), _task(HOSTILE, "open")]
    )
    _lines(cub / "ledger.jsonl", [_event("attempt_end", ok=False), _event(HOSTILE), _state()])
    # YAML has no escape for halves of characters.
    name = json.dumps(HOSTILE.replace("\ud800", "")).replace("\\udb40\\udc41", "\\U000e0041")
    config = (
        f"run:\n  harness: {name}\n  checks: [{name}]\n  message: {name}\n"
        f"{name}: 1\nharnesses:\n  {name}:\n    command: [{name}]\n    model: {name}\n"
    )
    (cub / "config.yaml").write_text(config, encoding="utf-8")
    _plant_run(RunFolder(root, "20260131-100000-abcd"))
    for file in ("\x1b[2J\u202e.py", "pack\x9b31m/CLAUDE.md", "AGENTS.md"):
        path = root / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"# {HOSTILE}\n\ndef f\u202e(): pass\n".encode("utf-8", "replace"))
    git(root, "add", "-A")
    git(root, "commit", "-qm", HOSTILE.replace("\ud800", ""))
    git(root, "branch", BRANCH)


def without_drawing(screen: str) -> str:
    """What a terminal was sent, without what a view or a bar of progress is drawn with: on a busy
    machine there is one anywhere. The cursor is hidden, goes up, and lines are erased.
    """
    return _DRAWN.sub("", screen)


def left_over(screen: str) -> set[str]:
    """What a terminal was sent beside text, ends of lines and cub's own colors."""
    text = _OWN.sub("", screen)
    return {c for c in text if c not in "\n\t" and unicodedata.category(c)[0] == "C"}


def _task(key: str, status: str) -> dict[str, object]:
    return {
        "id": key, "title": f"t{HOSTILE}", "status": status, "priority": f"1{HOSTILE}",
        "issue_type": HOSTILE, "assignee": HOSTILE, "labels": [HOSTILE], "parent": HOSTILE,
        "description": HOSTILE, "notes": f"{HOSTILE}\n{HOSTILE}", "close_reason": HOSTILE,
        "acceptance_criteria": [HOSTILE], "checks": [HOSTILE], "depends_on": [HOSTILE],
        "created_at": HOSTILE, "updated_at": _TS, "closed_at": HOSTILE, HOSTILE: HOSTILE,
        "lease": {"expires": HOSTILE},
    }  # fmt: skip


def _event(kind: str, **values: object) -> dict[str, object]:
    return {
        "v": 1, "ev": kind, "ts": _TS, "run": HOSTILE, "task": "a-1", "n": 1, "harness": HOSTILE,
        "model": HOSTILE, "fail": {"class": HOSTILE, "reason": HOSTILE}, "stuck": HOSTILE,
        "checks": [{"cmd": HOSTILE, "exit": 1, "n": 1, "items": [[HOSTILE] * 3], "tail": HOSTILE}],
        "trailer": {"summary": HOSTILE}, "git": {"head": HOSTILE, "files": [HOSTILE]},
        "log": HOSTILE, "usd": 1.0, "usd_src": HOSTILE, "tok": {HOSTILE: 1}, **values,
    }  # fmt: skip


def _state() -> dict[str, object]:
    said = {"status": HOSTILE, "reason": HOSTILE, "by": HOSTILE, "note": HOSTILE}
    return {"v": 1, "ev": "task_state", "ts": _TS, "task": HOSTILE, **said}


def _plant_run(folder: RunFolder) -> None:
    folder.write_run_facts({"v": 1, "run": HOSTILE})
    status = {
        "run": HOSTILE, "task": HOSTILE, "title": HOSTILE, "attempt": 1, "harness": HOSTILE,
        "doing": HOSTILE, "said": HOSTILE, "outcomes": {HOSTILE: 1}, "ended": HOSTILE,
        "at": HOSTILE, "started": HOSTILE, "attempt_started": HOSTILE,
    }  # fmt: skip
    write_json(folder.state / STATUS_FILE, status)


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
