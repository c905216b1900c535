from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from cub.agent.conversation import ToolCall
from cub.agent.events import Answer, Question
from cub.cli.questions import describe_call, parse_answer
from cub.cli.terminal import strip_styles
from tests.cli.typed_session import open_session

RULE = "Bash(git *)"


@pytest.mark.parametrize(
    ("text", "rule", "answer"),
    [
        ("y", RULE, Answer("once")),
        (" Yes ", RULE, Answer("once")),
        ("a", RULE, Answer("always")),
        ("ALWAYS", RULE, Answer("always")),
        ("OK", RULE, Answer("once")),
        ("n", RULE, Answer("no")),
        ("no", RULE, Answer("no")),
        ("", RULE, Answer("no")),
        ("  ", RULE, Answer("no")),
        ("use pytest", RULE, Answer("no", "the user said no: use pytest")),
        ("no, use  pytest", RULE, Answer("no", "the user said no: no, use pytest")),
        ("yes please", RULE, Answer("no", "the user said no: yes please")),
        ("a", "", Answer("no", "the user said no: a")),
        ("y", "", Answer("once")),
    ],
)
def test_an_answer_means_what_it_says(text: str, rule: str, answer: Answer) -> None:
    assert parse_answer(text, rule) == answer


def question(text: str, **arguments: str) -> Question:
    return Question(ToolCall("1", "T", arguments), text, "a reason", "", lambda _: None)


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (question("ls"), []),
        (question("ls\nrm x", command="ls\nrm x"), ["ls", "rm x"]),
        (question("x" * 190), []),
        (question("x" * 200), ["x" * 200]),
        (question("a.py", old_string="1", new_string="2"), ["-1", "+2"]),
        (question("a.py", content="1\n2"), ["+1", "+2"]),
        (question("a.py", content="1\n"), ["+1"]),
        (question("a.py", old_string="1", new_string="1\n"), [" 1", "+"]),
        (question("a.py", old_string="1\n", new_string=""), ["-1"]),
        (question("", key="value"), ["{", '  "key": "value"', "}"]),
    ],
)
def test_the_whole_call_is_shown(asked: Question, lines: list[str]) -> None:
    assert [strip_styles(line) for line in describe_call(asked)] == lines


SCRIPT = """\
    conversations:
      - replies:
          - calls: [{Bash: {command: "touch one"}}, {Bash: {command: "touch two"}}]
          - text: Done.
"""


@pytest.fixture
def scripted(project: Path) -> Path:
    (project / "replies.yaml").write_text(dedent(SCRIPT), encoding="utf-8")
    return project


WORDS = ("code", "--model", "scripted/replies.yaml", "-p", "Go.")


def test_what_was_typed_ahead_is_no_answer(scripted: Path, home: Path) -> None:
    with open_session(*WORDS, cwd=scripted, home=home) as session:
        session.type("y\ry\ry\r")
        session.type("n\r", "Answer:")
        session.wait_until(lambda screen: screen.count("Answer:") == 2)
        session.type("y\r")
        assert session.finish() == 0
    assert not (scripted / "one").exists()
    assert (scripted / "two").exists()


def test_ctrl_d_is_a_no_on_a_line_of_its_own(scripted: Path, home: Path) -> None:
    with open_session(*WORDS, cwd=scripted, home=home) as session:
        session.type("\x04", "Answer:")
        session.wait_for("  Answer:\n  not allowed: the user said no")
        session.wait_until(lambda screen: screen.count("Answer:") == 2)
        session.type("n\r")
        assert session.finish() == 0


def test_a_stop_is_an_answer(scripted: Path, home: Path) -> None:
    with open_session(*WORDS, cwd=scripted, home=home) as session:
        session.type("\x03", "Answer:")
        assert session.finish() == 130
        assert "The session ended: cancelled" in session.screen
    assert not (scripted / "one").exists()
