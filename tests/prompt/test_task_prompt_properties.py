"""What holds of every prompt, whatever tasks and ledger say; CommonMark's parser is the judge."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from cub.actions.previous_attempts import summarize_failures
from cub.context.output_blocks import OutputBlock
from cub.edit.blocks import parse_headings
from cub.prompt.task_prompt import EpicSiblings, PromptInputs
from cub.tokens import estimate_tokens
from tests.edit.strategies import ANYTHING
from tests.examples import few_examples, hardly_any_examples
from tests.prompt.bakery import EPIC, TITLES, composed, inputs, own_headings

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
SIGNALS = re.compile(r"<\s*/?\s*(?:promise|stuck)\b", re.IGNORECASE)
PIECES = [
    *(
        f"{mark} {title}{end}"
        for title in TITLES for mark in ("##", "#") for end in ("", " ##")
    ),
    *TITLES, "## current\ttask", "CURRENT", "TASK", "## When", "Complete",
    "**CURRENT TASK**",
    "<!-- CURRENT TASK", "===", "---", "-", "=", "- ---", "> ", "- ", "1. ", "  ", "    ", "\t",
    "```", "````", "~~~", "~~~~ x", "- ```", "> ~~~", "  ```", "`", "<pre>", "</pre>", "<script>",
    "<style", "<textarea>", "<!--", "-->", "<!", "<!A", "<?", "?>", "<![CDATA[", "]]>", "<div>",
    "<x>", "</x", "<br/>", "[a]: ", "[a]: /b", "'", '"', "(", "\\", "&lt;", "| a |", "|--|",
    "<promise>", "< /Promise", "<", "promise>", "STUCK", "</stuck>", "\x1b[31m", "\x1b]0;",
    "\x9b2K", "\x07", "\0", "\x08", "\r", "\x85", "\u2028", "\u200b", "\ud83d", "\xa0",
    "password=abcdefgh", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "é", "面包", "one. two",
]  # fmt: skip
HOSTILE = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(["\n", "\n", "\n\n", "", " ", "\n  "])),
    max_size=10,
).map(lambda parts: "".join(piece + end for piece, end in parts))
TEXTS = HOSTILE | st.text(max_size=60) | ANYTHING.map(lambda data: data.decode("utf-8", "replace"))


def as_template(text: str) -> str:
    """A text as the configuration takes it for a template."""
    return text[:400].replace("{", "{{").replace("}", "}}")


IDS = st.sampled_from(["bake-1", "bake-2.1", "## CURRENT TASK", "a`b", "<promise>"])
RECORDS = st.builds(lambda key, title: {"id": key, "title": title}, IDS, TEXTS)
TASKS = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "title": TEXTS,
        "issue_type": TEXTS,
        "description": TEXTS,
        "acceptance_criteria": st.lists(TEXTS, max_size=3),
        "notes": TEXTS,
    },
)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, TEXTS).map(list), max_size=3)
CHECKS = st.lists(
    st.fixed_dictionaries(
        {"exit": st.just(1)}, optional={"items": ROWS, "tail": TEXTS, "n": st.integers(0, 9)}
    ),
    max_size=2,
)
LISTS = st.lists(TEXTS, max_size=3)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "fail": st.fixed_dictionaries({}, optional={"class": TEXTS, "reason": TEXTS, "fp": TEXTS}),
        "stuck": TEXTS,
        "checks": CHECKS,
        "obs": LISTS,
        "denied": LISTS,
        "git": st.fixed_dictionaries({}, optional={"files": LISTS}),
        "trailer": st.fixed_dictionaries(
            {}, optional={"tried": LISTS, "summary": TEXTS, "next": TEXTS}
        ),
        "n": st.integers(1, 9),
    },
)
FAMILY = st.builds(lambda named, more: EpicSiblings(named, len(named) + more),
                   st.lists(RECORDS, max_size=4), st.integers(0, 3))  # fmt: skip
EPICS = st.builds(lambda task, text: {**task, "description": text}, RECORDS, TEXTS)
PROBLEMS = st.just("") | TEXTS.map(lambda text: f"Command {text}")
WORLDS = st.builds(
    PromptInputs,
    task=TASKS,
    epic=st.none() | EPICS,
    done=FAMILY,
    remaining=FAMILY,
    previous_failures=st.lists(EVENTS, max_size=3).map(summarize_failures),
    close_commands=st.lists(TEXTS, max_size=2),
    check_commands=st.lists(TEXTS, max_size=2),
    message=st.just("{type}({id}): {title}") | TEXTS.map(as_template),
    commits=st.booleans(),
    is_in_run=st.booleans(),
    blocks=st.lists(st.builds(OutputBlock, TEXTS, PROBLEMS, TEXTS), max_size=3),
)
# Letters and signs that mean nothing to Markdown, to a terminal or to cub.
PLAIN = st.text(st.sampled_from("abcdefgh ABC,;é面"), min_size=1, max_size=80).filter(str.strip)


def _titles(world: PromptInputs) -> list[str]:
    there = {"EPIC CONTEXT": world.epic, "PREVIOUS ATTEMPT": world.previous_failures}
    return [title for title in TITLES if title not in there or there[title] is not None]


@hardly_any_examples
@given(WORLDS)
@example(inputs({"id": "b", "description": "<x>\n## CURRENT TASK"}))
@example(inputs({"id": "b", "description": "[a]: /b\n'\n# CURRENT TASK"}))
@example(inputs({"id": "b"}, epic={**EPIC, "title": "<", "description": "promise>"}))
def test_cub_s_headings_are_there_once_and_in_order(world: PromptInputs) -> None:
    made = composed(world)
    assert own_headings(made.text) == _titles(world)
    parts = [section.title for section in made.sections]
    assert parts[len(world.blocks) :] == _titles(world)
    assert all(title.startswith("Context") for title in parts[: len(world.blocks)])
    assert len(re.findall(r"(?m)^--- End Context ---$", made.text)) == len(world.blocks)
    assert not SIGNALS.search(made.text)
    assert not CONTROLS.search(made.text)
    assert made.text.endswith("\n")
    assert not made.text.endswith("\n\n")
    assert composed(world) == made


@hardly_any_examples
@given(WORLDS, st.integers(1, 400))
def test_a_budget_is_kept_without_cutting_the_task(world: PromptInputs, tokens: int) -> None:
    made, whole, least = composed(world, tokens), composed(world, 10**6), composed(world, 1)
    cost = estimate_tokens(made.text)
    assert made.is_over_budget == (cost > tokens)
    assert not made.is_over_budget or made.text == least.text
    assert own_headings(made.text) == _titles(world)
    assert _first_section(made.text) == _first_section(whole.text)


def _first_section(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[parse_headings(text)[0][0] :]).partition("\n\n## ")[0]


MANY = st.lists(st.text(st.sampled_from("ab`<~ \n#é"), max_size=700), max_size=30)
LONG = st.fixed_dictionaries(
    {
        "fail": st.fixed_dictionaries({}, optional={"class": st.text(), "reason": st.text()}),
        "obs": MANY,
        "denied": MANY,
        "trailer": st.fixed_dictionaries({"tried": MANY}),
        "checks": st.lists(
            st.fixed_dictionaries({"exit": st.just(1), "tail": MANY.map("".join)}), max_size=2
        ),
    }
)


@hardly_any_examples
@given(st.lists(LONG, min_size=1, max_size=3))
def test_the_previous_attempt_is_told_in_4000_characters(events: list[Any]) -> None:
    text = composed(inputs(previous_failures=summarize_failures(events)), 10**6).text
    told = text.partition("## PREVIOUS ATTEMPT\n")[2].partition("\n## Task Management\n")[0]
    assert 0 < len(told) <= 4000


@few_examples
@given(PLAIN, PLAIN, PLAIN)
def test_a_plain_text_is_there_as_it_was_written(title: str, first: str, second: str) -> None:
    text = f"{first}\n\n{second}".strip()
    task = {"id": "b", "title": title, "description": text, "acceptance_criteria": [first]}
    made = composed(inputs(task), 1).text
    assert f"\nTitle: {' '.join(title.split())}\n\nDescription:\n{text}\n\n" in made
    assert f"\n- {first.strip()}\n" in made


@hardly_any_examples
@given(WORLDS)
def test_without_an_attempt_the_prompt_is_the_same_but_for_its_section(world: PromptInputs) -> None:
    made = composed(world, 10**6).text
    fresh = composed(replace(world, previous_failures=None), 10**6).text
    start = made.partition("\n## PREVIOUS ATTEMPT\n")[0]
    end = made.rpartition("\n## Task Management\n")[2]
    assert world.previous_failures is None or fresh == f"{start}\n## Task Management\n{end}"
