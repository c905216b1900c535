"""A small `bd`: what its documentation says of the calls that cub makes, issues in a JSON file.

Run as a script. `BD_BREAKS` names a command that fails; `BD_SILENT` one that only says so.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

FILE, CALLS = Path(".beads/fake.json"), Path(".beads/calls.json")
NOW = "2026-11-21T10:00:00Z"
FIELDS = {
    "--title": "title",
    "--type": "issue_type",
    "--priority": "priority",
    "--description": "description",
    "--design": "design",
    "--acceptance": "acceptance_criteria",
    "--notes": "notes",
    "--assignee": "assignee",
    "--external-ref": "external_ref",
    "--status": "status",
}


def fail(text: str) -> NoReturn:
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"error": text}))
    else:
        sys.stderr.write(f"Error: {text}\n")
    raise SystemExit(1)


def main(arguments: list[str]) -> None:
    if not FILE.exists():
        fail("no beads database found")
    with CALLS.open("a") as file:
        file.write(json.dumps(arguments) + "\n")
    issues = json.loads(FILE.read_text())
    words = [one for one in arguments if not one.startswith("--")]
    options = dict(one.partition("=")[::2] for one in arguments if one.startswith("--"))
    if words[0] == os.environ.get("BD_BREAKS"):
        fail("the database is on fire\nand the oven, too")
    if words[0] == os.environ.get("BD_SILENT"):
        sys.stderr.write(f"Error closing {words[1]}: it is pinned\n")
        return
    if words[0] == "export":
        for key in sorted(issues):
            sys.stdout.write(json.dumps({"_type": "issue", **issues[key]}) + "\n")
        return
    name = "_".join(words[:2]) if words[0] in ("dep", "label") else words[0]
    COMMANDS[name](issues, words, options)
    FILE.write_text(json.dumps(issues))
    sys.stdout.write(json.dumps({"status": "ok"}))


def create(issues: Any, _words: list[str], options: dict[str, str]) -> None:
    key = options["--id"]
    if key in issues:
        fail(f"issue {key} already exists")
    parent = key.rpartition(".")[0]
    if parent and parent not in issues:
        fail(f"parent issue {parent} does not exist")
    issues[key] = {"id": key, "status": "open", "created_at": NOW}
    update(issues, ["update", key], options)


def update(issues: Any, words: list[str], options: dict[str, str]) -> None:
    issue = found(issues, words[1])
    for option, field in FIELDS.items():
        if option in options:
            issue[field] = int(options[option]) if field == "priority" else options[option]
    if issue.get("status") not in ("open", "in_progress", "blocked", "deferred", "closed"):
        fail(f"invalid status {issue.get('status')!r}")
    for field in [key for key, value in issue.items() if value == ""]:
        del issue[field]


def close(issues: Any, words: list[str], options: dict[str, str]) -> None:
    issue = found(issues, words[1])
    for edge in issue.get("dependencies", []):
        other = issues.get(edge["depends_on_id"], {})
        if edge["type"] == "blocks" and other.get("status") != "closed":
            fail(f"cannot close {words[1]}: blocked by open issues [{other['id']}]")
    below = [one for one in issues.values() if parent_of(one) == words[1]]
    if issue.get("issue_type") == "epic" and any(one["status"] != "closed" for one in below):
        fail(f"cannot close epic {words[1]}")
    issue.update(status="closed", closed_at=NOW, close_reason=options["--reason"])


def reopen(issues: Any, words: list[str], _options: dict[str, str]) -> None:
    issue = found(issues, words[1])
    issue["status"] = "open"
    for key in ("closed_at", "close_reason"):
        issue.pop(key, None)


def delete(issues: Any, words: list[str], options: dict[str, str]) -> None:
    found(issues, words[1])
    if "--force" in options:
        del issues[words[1]]


def dep_add(issues: Any, words: list[str], options: dict[str, str]) -> None:
    edge = {"issue_id": words[2], "depends_on_id": words[3], "type": options["--type"]}
    found(issues, words[3])
    found(issues, words[2]).setdefault("dependencies", []).append({**edge, "created_at": NOW})


def dep_remove(issues: Any, words: list[str], _options: dict[str, str]) -> None:
    issue = found(issues, words[2])
    edges = issue.pop("dependencies", [])
    left = [edge for edge in edges if edge["depends_on_id"] != words[3]]
    issue.update({"dependencies": left} if left else {})


def label_add(issues: Any, words: list[str], _options: dict[str, str]) -> None:
    found(issues, words[2]).setdefault("labels", []).append(words[3])


def label_remove(issues: Any, words: list[str], _options: dict[str, str]) -> None:
    issue = found(issues, words[2])
    issue["labels"].remove(words[3])


def found(issues: Any, key: str) -> Any:
    return issues[key] if key in issues else fail(f"no issue found: {key}")


def parent_of(issue: Any) -> str | None:
    edges = issue.get("dependencies", [])
    return next((one["depends_on_id"] for one in edges if one["type"] == "parent-child"), None)


COMMANDS = {
    "create": create,
    "update": update,
    "close": close,
    "reopen": reopen,
    "delete": delete,
    "dep_add": dep_add,
    "dep_remove": dep_remove,
    "label_add": label_add,
    "label_remove": label_remove,
}

if __name__ == "__main__":
    main(sys.argv[1:])
