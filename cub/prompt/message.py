"""The message of a task's commit, from the template that the configuration has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cub.store.jsonl import Record

_FIELD = re.compile(r"\{(id|type|title)\}")


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with the words in place of {id}, {type} and {title}."""
    return _FIELD.sub(lambda found: words[found[1]], template)


def commit_message(template: str, task: Record) -> str:
    """The message that a task's commit gets; what is in the task stays on one line."""
    said = {"id": task["id"], "type": task.get("issue_type") or "task", "title": task.get("title")}
    words = {key: " ".join(str(value or "").split()) for key, value in said.items()}
    return filled(template, words).strip() or words["id"]
