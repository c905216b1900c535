from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from cub.agent.conversation import TextBlock, ToolCall, ToolResult
from cub.agent.events import (
    Compaction,
    Question,
    ReplyText,
    RequestRetry,
    SessionEvent,
    SubagentEvent,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from cub.agent.model import TextDelta
from cub.agent.tools.bash import SUCCESS
from cub.cli.session_view import MAX_OUTPUT_LINES, MAX_PREVIEW_LINES, SessionView
from cub.tokens import TokenUsage
from tests.cli.terminal import in_terminal

Capture = pytest.CaptureFixture[str]


def call(number: int, name: str = "Edit") -> ToolCall:
    return ToolCall(f"call_{number}", name, {})


def start(number: int, name: str = "Edit") -> ToolStart:
    return ToolStart(call(number, name), f"{name} file{number}")


def end(
    number: int, text: str = "ok", preview: str = "", name: str = "Edit", *, is_error: bool = False
) -> ToolEnd:
    result = ToolResult(f"call_{number}", (TextBlock(text),), is_error)
    return ToolEnd(call(number, name), result, "tool", 0.1, f"{name} file{number}", preview)


def show(
    capsys: Capture, events: Iterable[SessionEvent], *, streams: bool = False, debug: bool = False
) -> tuple[list[str], list[str]]:
    view = SessionView(streams_text=streams, is_debug=debug)
    with view.follow():
        for event in events:
            view.show(event)
    shown = capsys.readouterr()
    return shown.out.splitlines(), shown.err.splitlines()


def test_texts_are_printed_as_they_come_with_a_line_between_them_and_calls(
    capsys: Capture,
) -> None:
    events: list[SessionEvent] = [
        TextDelta("I lo"),
        TextDelta("ok.\nAt it."),
        ReplyText("I look.\nAt it."),
        start(1),
        end(1),
        TextDelta("Done."),
        ReplyText("Done."),
    ]
    out, err = show(capsys, events, streams=True)
    assert out == ["I look.", "At it.", "", "", "Done."]
    assert err == ["Edit file1"]
    assert show(capsys, events) == ([], ["Edit file1"])


def test_a_failure_of_an_earlier_call_names_it(capsys: Capture) -> None:
    events: list[SessionEvent] = [
        start(1),
        start(2),
        end(1, "error: no\nmore", is_error=True),
        end(2, "error: not it", is_error=True),
    ]
    _, err = show(capsys, events)
    assert err == [
        "Edit file1",
        "Edit file2",
        "Edit file1",
        "  error: no",
        "Edit file2",
        "  error: not it",
    ]


def test_a_change_is_shown_once_and_not_in_full_if_it_is_long(capsys: Capture) -> None:
    diff = "\n".join(f"+{n}" for n in range(MAX_PREVIEW_LINES + 5))
    _, err = show(capsys, [start(1), end(1, preview=diff)])
    assert len(err) == MAX_PREVIEW_LINES + 2
    assert err[-1] == "  … 5 more lines"
    asked = Question(call(1), "", "reason", "", lambda _: None)
    assert show(capsys, [start(1), asked, end(1, preview=diff)])[1] == ["Edit file1"]


def test_a_stop_is_not_reported_for_each_call(capsys: Capture) -> None:
    stopped = end(1, "cancelled", is_error=True)._replace(source="cancelled")
    assert show(capsys, [start(1), stopped])[1] == ["Edit file1"]


def test_of_a_command_the_end_of_the_output_is_shown(capsys: Capture) -> None:
    text = "\n".join([SUCCESS, "", *map(str, range(8)), ""])
    asked = Question(call(1, "Bash"), "", "reason", "", lambda _: None)
    _, err = show(capsys, [start(1, "Bash"), asked, end(1, text, name="Bash")], streams=True)
    assert err == ["Bash file1", "  … 4 more lines", "  3", "  4", "  5", "  6", "  7"]
    assert len(err) == MAX_OUTPUT_LINES + 2


@pytest.mark.parametrize("streams", [True, False])
def test_of_a_command_that_failed_the_exit_code_is_always_shown(
    capsys: Capture, streams: bool
) -> None:
    failed = "The command exited with code 3."
    text = "\n".join([failed, *map(str, range(8))])
    _, err = show(capsys, [start(1, "Bash"), end(1, text, name="Bash")], streams=streams)
    output = ["  … 3 more lines", "  3", "  4", "  5", "  6", "  7"]
    assert err == ["Bash file1", f"  {failed}", *output * streams]


def test_without_text_a_command_that_succeeds_has_no_more_lines(capsys: Capture) -> None:
    _, err = show(capsys, [start(1, "Bash"), end(1, f"{SUCCESS}\n0", name="Bash")])
    assert err == ["Bash file1"]


def test_what_a_sub_agent_does_has_its_name(capsys: Capture) -> None:
    _, err = show(capsys, [SubagentEvent("Explore 1", start(1))])
    assert err == ["  Explore 1: Edit file1"]


def test_a_retry_starts_the_text_anew(capsys: Capture) -> None:
    events: list[SessionEvent] = [
        TextDelta("half"),
        RequestRetry(1, 2.0, "limit", "too many requests"),
        TextDelta("whole"),
        ReplyText("whole"),
    ]
    out, err = show(capsys, events, streams=True)
    assert out == ["half", "", "", "whole"]
    assert err == ["too many requests; retry 1 in 2 s"]
    at_once = RequestRetry(1, 0.0, "service", "the reply was empty")
    assert show(capsys, [at_once])[1] == ["the reply was empty; retry 1"]


def test_details_are_for_debugging(capsys: Capture) -> None:
    usage = TokenUsage(5, 6, 0, 0)
    events: list[SessionEvent] = [
        TurnEnd(1, "end_turn", usage, 0.5, "m"),
        Compaction("micro", 9, 5),
        Compaction("auto", 9, 5),
    ]
    assert show(capsys, events)[1] == ["summarized: 9 -> 5 tokens"]
    assert show(capsys, events, debug=True)[1] == [
        "turn 1: input 5, output 6, $0.5000",
        "old results cut: 9 -> 5 tokens",
        "summarized: 9 -> 5 tokens",
    ]


def test_an_ascii_terminal_gets_marks_that_it_can_show(project: Path, home: Path) -> None:
    text = 'conversations:\n  - replies: [{text: "- one\\n> two"}]\n'
    (project / "replies.yaml").write_text(text, encoding="utf-8")
    words = ("code", "--model", "scripted/replies.yaml", "-p", "Go.")
    screen = in_terminal(
        *words, cwd=project, home=home, program=("-m", "cub"), PYTHONIOENCODING="ascii"
    )
    assert "* one\n" in screen.text
    assert "\\u" not in screen.text
