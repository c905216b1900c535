"""The prompt of one task: the task, its epic, why it failed before, and how it ends.

The same values give the same bytes. Every part is bounded; what a budget cuts, and in which
order, is in cub.prompt.task_prompt.

What a prompt gives up to stay within its budget, and in which order.

What the prompt of a task is made of, as others have to find it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cub.edit.blocks import parse_headings
from cub.masking import mask_text
from cub.prompt import untrusted_text
from cub.prompt.previous_attempts import MAX_NEWEST, FailureSummary
from cub.prompt.templates import TemplateSet, fill_commit_template
from cub.store.events import truncate_text
from cub.store.jsonl import Record
from cub.tokens import estimate_tokens

DEFAULT_TOKENS = 4000
MAX_EPIC_WORDS, MAX_NOTES = 200, 5
_TITLE, _SHORTEST = 200, 40  # characters: of a sibling's title, and of a line that was cut
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ \S")  # as cub begins a note


class PromptSection(NamedTuple):
    """A part of a prompt under a heading, and about what it costs."""

    title: str
    tokens: int


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """Hold a prompt, what was cut of it, and whether it is over its budget nevertheless."""

    text: str
    cuts: tuple[str, ...]
    is_over_budget: bool

    @property
    def sections(self) -> tuple[PromptSection, ...]:
        """Return the sections, found by their headings: all headings of others are escaped."""
        lines = self.text.splitlines(keepends=True)
        headings = parse_headings(self.text)
        ends = [*(heading.start for heading in headings[1:]), len(lines)]
        return tuple(
            PromptSection(heading.content, estimate_tokens("".join(lines[heading.start : end])))
            for heading, end in zip(headings, ends, strict=True)
        )


def compose_prompt(
    inputs: PromptInputs, templates: TemplateSet, tokens: int = DEFAULT_TOKENS
) -> TaskPrompt:
    """The prompt, in at most `tokens` as far as that is possible without cutting the task."""
    fixed = _fixed_parts(inputs)

    def render(parts: CuttableParts) -> str:
        return templates.render_prompt("task", **fixed, **parts._asdict(), **_more(inputs, parts))

    full = _parts(inputs)
    text, kept = fit_parts(full, render, tokens)
    return TaskPrompt(
        text,
        (*_bounds(inputs, full), *kept.describe_cuts(full, tokens)),
        estimate_tokens(text) > tokens,
    )


def _fixed_parts(inputs: PromptInputs) -> dict[str, Any]:
    """What no budget cuts."""
    task = inputs.task
    notes = _notes(mask_text(str(task.get("notes") or "")))  # a key may take many of them
    said = {"id": task["id"], "type": task.get("issue_type") or "task", "title": task.get("title")}
    words = {key: untrusted_text.embed_line(value or "") for key, value in said.items()}
    plain = {key: untrusted_text.join_words(value or "") for key, value in said.items()}
    message = fill_commit_template(inputs.message, plain)
    return {
        **words,
        "description": untrusted_text.embed_prose(str(task.get("description") or "")),
        "criteria": _embed_texts(untrusted_text.embed_item, task.get("acceptance_criteria") or ()),
        "notes": _embed_texts(_note, notes)[-MAX_NOTES:],
        "closing": [untrusted_text.embed_code(command) for command in inputs.close_commands],
        "commands": [untrusted_text.embed_code(command) for command in inputs.check_commands],
        "message": untrusted_text.embed_code(message),
        "commits": inputs.commits,
        "in_run": inputs.is_in_run,
        "previous": inputs.previous_failures,
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
    return untrusted_text.embed_item(text) if "\n" in str(text) else untrusted_text.embed_line(text)


def _embed_texts(form: Callable[[object], str], texts: Iterable[object]) -> list[str]:
    """The texts that say anything, in the form that they have in a prompt."""
    return [*filter(None, map(form, texts))]


def _parts(inputs: PromptInputs) -> CuttableParts:
    """What a budget may cut, at its most."""
    failed = inputs.previous_failures or FailureSummary("")
    room = MAX_NEWEST - len(failed.reason)
    avoid = _fit_budget(failed.avoid, room // 2)
    observations = _fit_budget(failed.observations, room - sum(map(_cost, avoid)))
    return CuttableParts(
        epic=_epic(inputs.epic) if inputs.epic else None,
        done=tuple(_sibling(record) for record in inputs.done.records[:MAX_DONE]),
        remaining=tuple(_sibling(record) for record in inputs.remaining.records[:MAX_REMAINING]),
        observations=observations,
        avoid=avoid,
        tail=untrusted_text.embed_output(
            failed.tail, room - sum(map(_cost, [*avoid, *observations]))
        ),
        earlier=failed.earlier,
    )


def _epic(record: Record) -> dict[str, str]:
    text = untrusted_text.embed_prose(
        untrusted_text.truncate_words(str(record.get("description") or ""), MAX_EPIC_WORDS)
    )
    return {
        "id": untrusted_text.embed_line(record["id"]),
        "title": untrusted_text.embed_line(record.get("title") or ""),
        "text": text,
    }


def _sibling(record: Record) -> str:
    title = truncate_text(untrusted_text.embed_line(record.get("title") or ""), _TITLE)
    return f"{untrusted_text.embed_line(record['id'])}: {title}"


def _fit_budget(lines: Sequence[str], most: int) -> tuple[str, ...]:
    """The first lines that have at most so many characters together; a long one is cut."""
    kept: list[str] = []
    for line in lines:
        if _cost(line) > most:
            short = truncate_text(line, most - _cost(""))
            return (*kept, short) if len(short) >= _SHORTEST else tuple(kept)
        kept.append(line)
        most -= _cost(line)
    return tuple(kept)


def _cost(line: str) -> int:
    """The characters of a line of a list."""
    return len(f"- {line}\n")


def _more(inputs: PromptInputs, parts: CuttableParts) -> dict[str, int]:
    """How many tasks there are beyond those that are named."""
    return {
        "more_done": inputs.done.total - len(parts.done),
        "more_remaining": inputs.remaining.total - len(parts.remaining),
    }


def _bounds(inputs: PromptInputs, full: CuttableParts) -> list[str]:
    """What is left out of any prompt, whatever its budget."""
    failed = inputs.previous_failures or FailureSummary("")
    words = untrusted_text.count_words(str((inputs.epic or {}).get("description") or ""))
    counts = (
        (words > MAX_EPIC_WORDS, f"the epic's text is cut to {MAX_EPIC_WORDS} of {words:,} words"),
        (
            inputs.done.total > MAX_DONE,
            f"{MAX_DONE} of {inputs.done.total:,} completed tasks are named",
        ),
        (
            inputs.remaining.total > MAX_REMAINING,
            f"{MAX_REMAINING} of {inputs.remaining.total:,} remaining tasks are named",
        ),
        (
            full.observations != failed.observations or full.avoid != failed.avoid,
            f"the last attempt is told in {MAX_NEWEST:,} characters",
        ),
    )
    return [what for is_so, what in counts if is_so]


class CuttableParts(NamedTuple):
    """The parts of a prompt that may be cut, in the order of the prompt."""

    epic: dict[str, str] | None
    done: tuple[str, ...]
    remaining: tuple[str, ...]
    observations: tuple[str, ...]
    avoid: tuple[str, ...]
    tail: str
    earlier: tuple[str, ...]

    def describe_cuts(self, full: CuttableParts, tokens: int) -> Iterator[str]:
        """What is missing of the full parts, in words."""
        for field in CUT_ORDER:
            mine, whole = _size(getattr(self, field)), _size(getattr(full, field))
            if mine < whole:
                what = _NAMES[field].format(lost=whole - mine, whole=whole)
                yield f"{what} left out: the budget of {tokens:,} tokens"


_NAMES = {
    "remaining": "{lost} of {whole} remaining tasks are",
    "done": "{lost} of {whole} completed tasks are",
    "epic": "the epic's text is",
    "earlier": "{lost} of {whole} earlier attempts are",
    "tail": "the end of the checks' output is",
    "observations": "{lost} of {whole} observations are",
    "avoid": "{lost} of {whole} lines of what to avoid are",
}
# The epic's part goes first, the task's own history after it.
CUT_ORDER = tuple(_NAMES)


def _size(value: Any) -> int:
    return len(value["text"] if isinstance(value, dict) else value or ())


def fit_parts(
    full: CuttableParts, render: Callable[[CuttableParts], str], tokens: int
) -> tuple[str, CuttableParts]:
    """The longest prompt that costs at most `tokens`, or the shortest one; and its parts."""
    whole = render(full)
    if estimate_tokens(whole) <= tokens:
        return whole, full
    steps = [*_shorter(full)]
    low, high = min(1, len(steps) - 1), len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if estimate_tokens(render(steps[middle])) <= tokens:
            high = middle
        else:
            low = middle + 1
    return render(steps[low]), steps[low]


def _shorter(parts: CuttableParts) -> Iterator[CuttableParts]:
    """The parts, less and less of them."""
    yield parts
    for field in CUT_ORDER:
        while (shorter := _less(getattr(parts, field))) is not None:
            parts = parts._replace(**{field: shorter})
            yield parts


def _less(value: Any) -> Any:
    """A list without its last line, a text as a whole, an epic without its text; None for less."""
    if isinstance(value, dict):
        return {**value, "text": ""} if value["text"] else None
    return ("" if isinstance(value, str) else value[:-1]) if value else None


MAX_DONE, MAX_REMAINING = 20, 30  # how many tasks of an epic are named


class EpicSiblings(NamedTuple):
    """Tasks of one epic: those to be named, and how many there are in all."""

    records: Sequence[Record]
    total: int


NO_SIBLINGS = EpicSiblings((), 0)


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """All that a prompt is made of. `done` are the epic's tasks that are done, the last one first,
    `remaining` those that are not closed; `close_commands` and `check_commands` are command lines.
    `commits` says whether finished work is committed: by the run, or outside of one by the agent.
    """

    task: Record
    epic: Record | None = None
    done: EpicSiblings = NO_SIBLINGS
    remaining: EpicSiblings = NO_SIBLINGS
    previous_failures: FailureSummary | None = None
    close_commands: Sequence[str] = ()
    check_commands: Sequence[str] = ()
    message: str = "{type}({id}): {title}"
    commits: bool = True
    is_in_run: bool = True
