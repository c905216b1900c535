from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.final_message import FinalSignals, parse_signals
from cub.harness.markdown import hide_code
from tests.examples import few_examples, keep_few

NONE = FinalSignals()
DONE = "<promise>COMPLETE</promise>"


@pytest.mark.parametrize(
    "text",
    [
        DONE,
        f"All done.\n\n{DONE}\n",
        f"  {DONE}  \r\n",
        "<Promise> complete\n</PROMISE>",
        f"**{DONE}**",
        f"```\ncode\n```\n{DONE}",
        f"````\n```\n````\n{DONE}",
        f"~~~\n```\n~~~\n{DONE}",
        f"``` not a fence ``` at all\n{DONE}",
        f"- ```\n  code\n\n{DONE}",
        f"an odd ` tick\n\n{DONE}\n\nand ` another",
        f"Status: done\nSummary: all of it\n{DONE}",
        f"All done: {DONE}",
        f"`make` passes. **{DONE}** \r\n\nBye.",
    ],
)
def test_a_promise_at_the_end_of_a_line_counts(text: str) -> None:
    assert parse_signals(text).promise


@pytest.mark.parametrize(
    "text",
    [
        f"{DONE} is what I would say",
        f"I would say {DONE} then",
        f"I would say {DONE}.",
        f'I would say "{DONE}"',
        f"I would say `{DONE}`",
        f"> All done: {DONE}",
        "All done: <promise>\nCOMPLETE</promise>",
        "<promise>DONE</promise>",
        "<promise>COMPLETE",
        "<promise>COMPLETE</stuck>",
        f"`{DONE}`",
        f"an `open\n{DONE}\nclosed` tick",
        f"> {DONE}",
        f"    {DONE}",
        f"\t{DONE}",
        f"```\n{DONE}\n```",
        f"```text\n{DONE}\n",
        f"````\n```\n{DONE}\n````",
        f"~~~\n{DONE}\n```\n~~~",
        f"```\n~~~\n{DONE}\n~~~\n```",
        f"   ```\n{DONE}\n   ```",
        f"```\n``` x\n{DONE}\n```",
        f"- ```\n  {DONE}\n  ```",
        f"1. ~~~\n   {DONE}\n   ~~~",
    ],
)
def test_any_other_counts_for_nothing(text: str) -> None:
    assert not parse_signals(text).promise


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<stuck>needs a key</stuck>", "needs a key"),
        ("I tried.\n<STUCK>\nneeds a\n\n  `KEY`\n</STUCK>\nbye", "needs a `KEY`"),
        ("<stuck>first</stuck>\n<stuck>second</stuck>", "second"),
        ("<stuck>never closed\n<stuck>closed</stuck>", "closed"),
        ("<stuck></stuck>", ""),
        (f"<stuck>{'x' * 1500}</stuck>", "x" * 1500),
        (f"<stuck>{'x' * 1501}</stuck>", "x" * 1499 + "…"),
        ("I am <stuck>inside</stuck> a line", None),
        ("I tried. <stuck>no database here</stuck>", "no database here"),
        ("- I tried. **<stuck>no `DB_URL`</stuck>**\nBye.", "no `DB_URL`"),
        ("I say <stuck>if\nI need help</stuck>", None),
        ("```\n<stuck>code</stuck>\n```", None),
        ("<stuck>open\n```\n</stuck>\n```\n", None),
        ("`<stuck>`\nno reason\n`</stuck>`", None),
        ("</stuck><stuck>", None),
    ],
)
def test_why_it_is_stuck(text: str, reason: str | None) -> None:
    assert parse_signals(text).stuck == reason


PLAIN = "Status: done\nSummary: it works\nTried: a mock\nTried: a patch\nNext: none"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"I did it.\n\n{PLAIN}",
        f"```text\n{PLAIN}\n```",
        f"{PLAIN}\n{DONE}",
        f"Status: stuck\nSummary: an older one\n\nThen it went on.\n\n{PLAIN}",
        f"Status: stuck\nSummary: an older one\n{PLAIN}",
        PLAIN.upper().replace("IT WORKS", "it works").replace("A MOCK", "a mock").replace("A PATCH", "a patch"),  # noqa: E501
        "- **Status:** done\n- **Summary:** it works\n- **Tried:**\n  - a mock\n  - a patch\n- **Next:** none",  # noqa: E501
        "**Status**: Done.\n\n**Summary**: it\nworks\n\n**Tried**:\n\n1. a mock\n2. a patch\n\n**Next**: N/A",  # noqa: E501
        "* status: `done`\n* summary: it works\n* tried:\na mock\na patch\n* next:",
    ],
)  # fmt: skip
def test_the_closing_lines_in_the_forms_that_agents_give_them(text: str) -> None:
    found = parse_signals(text)
    assert (found.status, found.summary) == ("done", "it works")
    assert (found.tried, found.next) == (("a mock", "a patch"), "")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Status: no change", "no_change"),
        ("Status: no-change", "no_change"),
        ("Status: NO_CHANGE (it was there)", "no_change"),
        ("Status: stuck - no key", "stuck"),
        ("Status: done | no_change | stuck\nSummary: x", ""),
        ("Status: 200 OK", ""),
        ("Status: donee\nSummary: x", ""),
        ("> Status: done", ""),
        ("    Status: done", ""),
        ("My status: done", ""),
    ],
)
def test_the_status_is_one_of_three_or_none(text: str, status: str) -> None:
    assert parse_signals(text).status == status


def test_a_signal_behind_a_closing_line_is_not_part_of_it() -> None:
    found = parse_signals("Status: stuck\nSummary: I tried. <stuck>no database here</stuck>")
    assert (found.stuck, found.status, found.summary) == ("no database here", "stuck", "I tried.")


def test_a_single_line_of_prose_is_no_closing_line() -> None:
    assert parse_signals("Next: I will run the tests.\n\nAll pass.") == NONE


@pytest.mark.parametrize("behind", ["\n\nAnd more.", "\n# A heading", "\n> a quote", "\n```"])
def test_closing_lines_end_where_something_else_begins(behind: str) -> None:
    assert parse_signals(f"Status: done\nSummary: x{behind}\nmore").summary == "x"


def test_closing_lines_are_bounded() -> None:
    found = parse_signals(
        f"Status: done\nSummary: {'s' * 999}\nNext: {'n' * 999}\nTried:\n" + f"- {'t' * 999}\n" * 9
    )
    assert len(found.summary) == 400
    assert len(found.next) == 200
    assert [len(one) for one in found.tried] == [160] * 5


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I looked. Shall I go on?", "Shall I go on?"),
        ("Is it **this one?**", "Is it **this one?"),
        ('Did you mean "all of it?"', 'Did you mean "all of it?"'),
        ("Should I use `foo`?", "Should I use ?"),
        (f"Which file?\n\n{PLAIN}", "Which file?"),
        (f"Which file?\n\n```text\n{PLAIN}\n```", "Which file?"),
        ("Which file?\n<stuck>needs a name</stuck>", "Which file?"),
        ("Would you like me to:\n\n1. stop\n2. go on", "Would you like me to:"),
        ("Done.\n\nWould you like me to go on? I can do more.", "Would you like me to go on?"),
        ("Let me know which of them you prefer.", "Let me know which of them you prefer."),
        ("Should I run this?\n```\nrm -r x\n```", "Should I run this?"),
        ("What changed?\n```\na diff\n```", ""),
        ("What changed? Nothing.", ""),
        ("Let me know if anything is unclear.", ""),
        ("All pass.", ""),
        ("Status: done\nSummary: is it done?", ""),
        ("```\nwhy?\n```", ""),
        ("", ""),
    ],
)
def test_whether_it_ends_with_a_question(text: str, question: str) -> None:
    assert parse_signals(text).question == question


def test_prose_is_as_long_as_the_text() -> None:
    assert hide_code("a `b` c\n> d\n    e\n```\nf\n```\ng") == (
        "a \0\0\0 c\n\0\0\0\n\0\0\0\0\0\n\0\0\0\n\0\n\0\0\0\ng"
    )


PARTS = st.sampled_from(
    ["<stuck>", "</stuck>", "<promise>", "</promise>", "COMPLETE", "```", "~~~~", "`", "``", "\n",
     "\n\n", "    ", "> ", "- ", "Status: done", "Tried:", "Next: ", "Would you ", "?", "**", "\0",
     "\r", "\x1b[1m", "İ", "\u2028", f"\n<stuck>{'x' * 501}</stuck>\n"]
)  # fmt: skip


@few_examples
@given(st.lists(PARTS | st.text(max_size=4), max_size=60).map("".join))
def test_no_text_is_an_error(text: str) -> None:
    found = parse_signals(text)
    assert len(found.summary) <= 400
    assert found.stuck is None or len(found.stuck) <= 1500
    assert len(hide_code(text)) == len(text)


@pytest.mark.parametrize(
    "part", keep_few(
    ["<stuck>", "</stuck>", "<stuck>\n", "<promise> ", "`", "` ``  ``` ", "```\n", "~~~ \n", "\n",
     " ", " \n", "*", "_ ", "Status: done\n", "Tried:\n- x\n", "Status: ", "?", "? ", "- ", "> ",
     "would you like ", "a) ", "\0", "x"], 8),
)  # fmt: skip
def test_long_texts_take_no_long_time(part: str) -> None:
    started = time.process_time()
    parse_signals(part * (200_000 // len(part)))
    assert time.process_time() - started < 3
