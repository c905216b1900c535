"""The prompt of one task: the task, its epic, why it failed before, and how it ends.

The same values give the same bytes. Every part is bounded; what a budget cuts, and in which
order, is in cub.prompt.budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cub.masking import masked
from cub.prompt import data
from cub.prompt.attempts import NEWEST, Previous
from cub.prompt.budget import Parts, fitting
from cub.prompt.headings import TITLES
from cub.prompt.inputs import DONE, REMAINING, Inputs
from cub.prompt.message import fill_message
from cub.prompt.templates import TemplateSet
from cub.store.events import cut
from cub.store.jsonl import Record
from cub.tokens import estimate_tokens

TOKENS = 4000
EPIC_WORDS, NOTES = 200, 5
_TITLE, _SHORTEST = 200, 40  # characters: of a sibling's title, and of a line that was cut
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ \S")  # as cub begins a note
_HEADINGS = re.compile(rf"^## (?P<title>{'|'.join(TITLES)})$", re.MULTILINE)


class Section(NamedTuple):
    """A part of a prompt under a heading, and about what it costs."""

    title: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A prompt, its sections, what was cut, and whether it is over its budget all the same."""

    text: str
    sections: tuple[Section, ...]
    cuts: tuple[str, ...]
    over: bool


def compose(inputs: Inputs, templates: TemplateSet, tokens: int = TOKENS) -> TaskPrompt:
    """The prompt, in at most `tokens` as far as that is possible without cutting the task."""
    fixed = _fixed(inputs)

    def render(parts: Parts) -> str:
        return templates.prompt("task", **fixed, **parts._asdict(), **_more(inputs, parts))

    full = _parts(inputs)
    text, kept = fitting(full, render, tokens)
    return TaskPrompt(
        text,
        tuple(_sections(text)),
        (*_bounds(inputs, full), *kept.lost(full, tokens)),
        estimate_tokens(text) > tokens,
    )


def _fixed(inputs: Inputs) -> dict[str, Any]:
    """What no budget cuts."""
    task = inputs.task
    notes = _notes(masked(str(task.get("notes") or "")))  # a key may take many of them
    said = {"id": task["id"], "type": task.get("issue_type") or "task", "title": task.get("title")}
    words = {key: data.line(value or "") for key, value in said.items()}
    message = fill_message(inputs.message, words)
    return {
        **words,
        "description": data.prose(str(task.get("description") or "")),
        "criteria": _told(data.item, task.get("acceptance_criteria") or ()),
        "notes": _told(_note, notes)[-NOTES:],
        "closing": [data.code(command) for command in inputs.closing],
        "commands": [data.code(command) for command in inputs.commands],
        "message": data.code(message),
        "commits": inputs.commits,
        "in_run": inputs.in_run,
        "previous": inputs.previous,
    }


def _notes(text: str) -> list[str]:
    """Each note with all of its lines; what has no stamp in front is a note a line."""
    notes: list[str] = []
    stamped = False
    for line in text.splitlines():
        begins = _STAMP.match(line) is not None
        if begins or not stamped:
            notes.append(line)
        else:
            notes[-1] += f"\n{line}"
        stamped |= begins
    return notes


def _note(text: object) -> str:
    """A note as an item of a list; Markdown in a line alone would open what nothing closes."""
    return data.item(text) if "\n" in str(text) else data.line(text)


def _told(form: Callable[[object], str], texts: Iterable[object]) -> list[str]:
    """The texts that say anything, in the form that they have in a prompt."""
    return [*filter(None, map(form, texts))]


def _parts(inputs: Inputs) -> Parts:
    """What a budget may cut, at its most."""
    failed = inputs.previous or Previous("")
    room = NEWEST - len(failed.reason)
    avoid = _within(failed.avoid, room // 2)
    observations = _within(failed.observations, room - sum(map(_cost, avoid)))
    return Parts(
        epic=_epic(inputs.epic) if inputs.epic else None,
        done=tuple(_sibling(record) for record in inputs.done.named[:DONE]),
        remaining=tuple(_sibling(record) for record in inputs.remaining.named[:REMAINING]),
        observations=observations,
        avoid=avoid,
        tail=data.fenced(failed.tail, room - sum(map(_cost, [*avoid, *observations]))),
        earlier=failed.earlier,
    )


def _epic(record: Record) -> dict[str, str]:
    text = data.prose(data.cut_words(str(record.get("description") or ""), EPIC_WORDS))
    return {
        "id": data.line(record["id"]),
        "title": data.line(record.get("title") or ""),
        "text": text,
    }


def _sibling(record: Record) -> str:
    title = cut(data.line(record.get("title") or ""), _TITLE)
    return f"{data.line(record['id'])}: {title}"


def _within(lines: Sequence[str], most: int) -> tuple[str, ...]:
    """The first lines that have at most so many characters together; a long one is cut."""
    kept: list[str] = []
    for line in lines:
        if _cost(line) > most:
            short = cut(line, most - _cost(""))
            return (*kept, short) if len(short) >= _SHORTEST else tuple(kept)
        kept.append(line)
        most -= _cost(line)
    return tuple(kept)


def _cost(line: str) -> int:
    """The characters of a line of a list."""
    return len(f"- {line}\n")


def _more(inputs: Inputs, parts: Parts) -> dict[str, int]:
    """How many tasks there are beyond those that are named."""
    return {
        "more_done": inputs.done.total - len(parts.done),
        "more_remaining": inputs.remaining.total - len(parts.remaining),
    }


def _bounds(inputs: Inputs, full: Parts) -> list[str]:
    """What is left out of any prompt, whatever its budget."""
    failed = inputs.previous or Previous("")
    words = data.count_words(str((inputs.epic or {}).get("description") or ""))
    counts = (
        (words > EPIC_WORDS, f"the epic's text is cut to {EPIC_WORDS} of {words:,} words"),
        (inputs.done.total > DONE, f"{DONE} of {inputs.done.total:,} completed tasks are named"),
        (
            inputs.remaining.total > REMAINING,
            f"{REMAINING} of {inputs.remaining.total:,} remaining tasks are named",
        ),
        (
            full.observations != failed.observations or full.avoid != failed.avoid,
            f"the last attempt is told in {NEWEST:,} characters",
        ),
    )
    return [what for is_so, what in counts if is_so]


def _sections(text: str) -> list[Section]:
    starts = [*_HEADINGS.finditer(text)]
    ends = [*(found.start() for found in starts[1:]), len(text)]
    return [
        Section(found["title"], estimate_tokens(text[found.start() : end]))
        for found, end in zip(starts, ends, strict=True)
    ]
