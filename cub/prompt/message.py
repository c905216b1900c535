"""The message of a task's commit, from the template that the configuration has."""

from __future__ import annotations

from collections.abc import Mapping

from cub.project.word_templates import fill_template
from cub.store.jsonl import Record

_LONGEST = 1000  # characters of a word: a template may hold it many times


def fill_message(template: str, words: Mapping[str, str]) -> str:
    """A template of messages with its words, each cut to a sane length."""
    return fill_template(template, {name: word[:_LONGEST] for name, word in words.items()})


def commit_message(template: str, task: Record) -> str:
    """The message that a task's commit gets; what is in the task stays on one line."""
    said = {"id": task["id"], "type": task.get("issue_type") or "task", "title": task.get("title")}
    words = {key: " ".join(str(value or "").split()) for key, value in said.items()}
    return fill_message(template, words).strip() or words["id"]
