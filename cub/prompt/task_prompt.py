"""Compose the prompt of a task: the task, its epic, why it failed before, and how it ends.

The output of context commands stands in front of it.

The same inputs give the same bytes. Every part is bounded, and what the budget of tokens cuts goes
in a fixed order, `CUT_ORDER`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cub.context.output_blocks import BlockList, OutputBlock, find_block_starts
from cub.edit.blocks import parse_headings
from cub.masking import mask_text
from cub.prompt.templates import TemplateSet, fill_commit_template, get_message_values
from cub.prompt.untrusted_text import (
    count_words,
    embed_code,
    embed_item,
    embed_line,
    embed_output,
    embed_prose,
    join_words,
    truncate_words,
)
from cub.store.jsonl import Record
from cub.text import truncate_text
from cub.tokens import estimate_tokens

DEFAULT_TOKENS = 4000
MAX_EPIC_WORDS, MAX_NOTES = 200, 5
MAX_NEWEST = 1500  # characters for the newest of the attempts before
MAX_DONE, MAX_REMAINING = 20, 30  # tasks of an epic that are named
_MAX_TITLE_CHARS, _MIN_CUT_CHARS = 200, 40  # of a sibling's title, and of a line that was cut
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ \S")  # as cub begins a note


class EpicSiblings(NamedTuple):
    """Hold the tasks of an epic that are to be named, and the number of all of them."""

    records: Sequence[Record]
    total: int


NO_SIBLINGS = EpicSiblings((), 0)


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """Hold what a retry has to know.

    `tail` is the end of a log that no parser knows, as it was printed; all else is embedded text.
    `earlier` has one line for each attempt before the last one.
    """

    reason: str
    observations: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    tail: str = ""
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """Hold what a prompt is made of.

    `done` are the epic's completed tasks, newest first, and `remaining` the open ones;
    `close_commands` and `check_commands` are command lines. `commits` says whether finished work is
    committed: by the run, or outside of one by the agent. `blocks` are the output of commands.
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
    blocks: Sequence[OutputBlock] = ()


class PromptSection(NamedTuple):
    """Describe a part of a prompt by its heading, or its block's name, and its estimated cost."""

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
        """Return blocks and sections, found by their first lines: those of others are escaped."""
        lines = self.text.splitlines(keepends=True)
        headings = parse_headings(self.text)
        first = headings[0][0] if headings else len(lines)
        starts = [*find_block_starts(lines[:first]), *headings]
        ends = [*(start for start, _ in starts[1:]), len(lines)]
        return tuple(
            PromptSection(title, estimate_tokens("".join(lines[start:end])))
            for (start, title), end in zip(starts, ends, strict=True)
        )


def compose_prompt(
    inputs: PromptInputs, templates: TemplateSet, tokens: int = DEFAULT_TOKENS
) -> TaskPrompt:
    """Return the prompt, in at most `tokens` if that is possible without cutting the task."""
    fixed = _render_fixed(inputs)

    def render(parts: CuttableParts) -> str:
        more = {
            "more_done": inputs.done.total - len(parts.done),
            "more_remaining": inputs.remaining.total - len(parts.remaining),
        }
        prompt = templates.render_prompt("task", **fixed, **parts._asdict(), **more)
        return parts.blocks.format(embed_prose) + prompt

    full = _render_cuttable(inputs)
    text, parts = fit_parts(full, render, tokens)
    cuts = (*_list_bounds(inputs, full), *parts.describe_cuts(full, tokens))
    return TaskPrompt(text, cuts, estimate_tokens(text) > tokens)


def _render_fixed(inputs: PromptInputs) -> dict[str, Any]:
    """Return the parts that no budget cuts, by their names in the template."""
    task = inputs.task
    notes = _split_notes(mask_text(str(task.get("notes") or "")))  # a key may take several notes
    values = get_message_values(task)
    words = {key: join_words(value) for key, value in values.items()}
    return {
        **{key: embed_line(value) for key, value in values.items()},
        "description": embed_prose(str(task.get("description") or "")),
        "criteria": _embed_texts(embed_item, task.get("acceptance_criteria") or ()),
        "notes": _embed_texts(_embed_note, notes)[-MAX_NOTES:],
        "closing": [embed_code(command) for command in inputs.close_commands],
        "commands": [embed_code(command) for command in inputs.check_commands],
        "message": embed_code(fill_commit_template(inputs.message, words)),
        "commits": inputs.commits,
        "in_run": inputs.is_in_run,
        "previous": inputs.previous_failures,
    }


def _split_notes(text: str) -> list[str]:
    """Return each note with all of its lines; a line before the first stamp is a note itself."""
    notes: list[str] = []
    is_stamped = False
    for line in text.splitlines():
        starts_note = _STAMP.match(line) is not None
        if starts_note or not is_stamped:
            notes.append(line)
        else:
            notes[-1] += f"\n{line}"
        is_stamped |= starts_note
    return notes


def _embed_note(text: object) -> str:
    # Markdown in a single line would open what nothing closes.
    return embed_item(text) if "\n" in str(text) else embed_line(text)


def _embed_texts(embed: Callable[[object], str], texts: Iterable[object]) -> list[str]:
    return [*filter(None, map(embed, texts))]


def _render_cuttable(inputs: PromptInputs) -> CuttableParts:
    """Return the parts that a budget may cut, in full."""
    failed = inputs.previous_failures or FailureSummary("")
    budget = MAX_NEWEST - len(failed.reason)
    avoid = _fit_lines(failed.avoid, budget // 2)
    observations = _fit_lines(failed.observations, budget - _measure(avoid))
    return CuttableParts(
        epic=_render_epic(inputs.epic) if inputs.epic else None,
        done=tuple(map(_render_sibling, inputs.done.records[:MAX_DONE])),
        remaining=tuple(map(_render_sibling, inputs.remaining.records[:MAX_REMAINING])),
        observations=observations,
        avoid=avoid,
        tail=embed_output(failed.tail, budget - _measure([*avoid, *observations])),
        earlier=failed.earlier,
        blocks=BlockList(tuple(map(_embed_names, inputs.blocks))),
    )


def _embed_names(block: OutputBlock) -> OutputBlock:
    return block._replace(name=embed_line(block.name), problem=embed_line(block.problem))


def _render_epic(record: Record) -> dict[str, str]:
    text = truncate_words(str(record.get("description") or ""), MAX_EPIC_WORDS)
    title = embed_line(record.get("title") or "")
    return {"id": embed_line(record["id"]), "title": title, "text": embed_prose(text)}


def _render_sibling(record: Record) -> str:
    title = truncate_text(embed_line(record.get("title") or ""), _MAX_TITLE_CHARS)
    return f"{embed_line(record['id'])}: {title}"


def _fit_lines(lines: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """Return the first lines that have at most `max_chars` together; a long one is cut."""
    fitting: list[str] = []
    for line in lines:
        cost = _measure([line])
        if cost > max_chars:
            short = truncate_text(line, max_chars - _measure([""]))
            return (*fitting, short) if len(short) >= _MIN_CUT_CHARS else tuple(fitting)
        fitting.append(line)
        max_chars -= cost
    return tuple(fitting)


def _measure(lines: Iterable[str]) -> int:
    """Return the characters of a list of these lines."""
    return sum(len(f"- {line}\n") for line in lines)


def _list_bounds(inputs: PromptInputs, full: CuttableParts) -> list[str]:
    """Say what is left out of the prompt, whatever its budget."""
    failed = inputs.previous_failures or FailureSummary("")
    words = count_words(str((inputs.epic or {}).get("description") or ""))
    done, remaining = inputs.done.total, inputs.remaining.total
    is_cut = full.observations != failed.observations or full.avoid != failed.avoid
    bounds = (
        (words > MAX_EPIC_WORDS, f"the epic's text is cut to {MAX_EPIC_WORDS} of {words:,} words"),
        (done > MAX_DONE, f"{MAX_DONE} of {done:,} completed tasks are named"),
        (remaining > MAX_REMAINING, f"{MAX_REMAINING} of {remaining:,} remaining tasks are named"),
        (is_cut, f"the report on the last attempt is cut to {MAX_NEWEST:,} characters"),
    )
    return [text for is_reached, text in bounds if is_reached]


class CuttableParts(NamedTuple):
    """Hold the parts of a prompt that may be cut, in the order of the prompt but for `blocks`."""

    epic: dict[str, str] | None
    done: tuple[str, ...]
    remaining: tuple[str, ...]
    observations: tuple[str, ...]
    avoid: tuple[str, ...]
    tail: str
    earlier: tuple[str, ...]
    blocks: BlockList = BlockList()

    def describe_cuts(self, full: CuttableParts, tokens: int) -> Iterator[str]:
        """Say what is missing of the full parts."""
        for field in CUT_ORDER:
            size, whole = _get_size(getattr(self, field)), _get_size(getattr(full, field))
            if size < whole:
                cut = _CUTS[field].format(lost=whole - size, whole=whole)
                yield f"{cut} left out: the budget of {tokens:,} tokens"


_CUTS = {
    "remaining": "{lost} of {whole} remaining tasks are",
    "done": "{lost} of {whole} completed tasks are",
    "epic": "the epic's text is",
    "earlier": "{lost} of {whole} earlier attempts are",
    "blocks": "{lost:,} of {whole:,} characters of the commands' output are",
    "tail": "the end of the checks' output is",
    "observations": "{lost} of {whole} observations are",
    "avoid": "{lost} of {whole} lines of what to avoid are",
}
# The epic's part goes first, the task's own history after it.
CUT_ORDER = tuple(_CUTS)


def _get_size(value: Any) -> int:
    return len(value["text"] if isinstance(value, dict) else value or ())


def fit_parts(
    full: CuttableParts, render: Callable[[CuttableParts], str], tokens: int
) -> tuple[str, CuttableParts]:
    """Return the longest prompt that costs at most `tokens`, or the shortest one; and its parts."""
    text, parts = "", full
    for parts in _iter_shorter(full, tokens // 2):
        if parts.blocks.tokens > tokens:  # rendering long blocks takes time
            continue
        text = render(parts)
        if estimate_tokens(text) <= tokens:
            break
    return text, parts


def _iter_shorter(parts: CuttableParts, block_tokens: int) -> Iterator[CuttableParts]:
    """Yield shorter and shorter parts; blocks above `block_tokens` are shortened first of all."""
    yield parts
    while parts.blocks.tokens > block_tokens and (blocks := parts.blocks.shrink()):
        parts = parts._replace(blocks=blocks)
        yield parts
    for field in CUT_ORDER:
        while (shorter := _shorten(getattr(parts, field))) is not None:
            parts = parts._replace(**{field: shorter})
            yield parts


def _shorten(value: Any) -> Any:
    """Return a list without its last line, no text, an epic without its text, or less of blocks.

    None if there is nothing to cut.
    """
    if isinstance(value, BlockList):
        return value.shrink()
    if isinstance(value, dict):
        return {**value, "text": ""} if value["text"] else None
    return ("" if isinstance(value, str) else value[:-1]) if value else None
