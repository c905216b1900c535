"""Follow a session, and ask the person at the terminal whether a call of its agent may run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cub.agent.events import Answer, Question, SessionEnd, SessionEvent
from cub.agent.executor import MAX_SUMMARY_CHARS
from cub.cli import output
from cub.cli.typed_input import discard_typed_input
from cub.edit.unified_diff import format_hunks
from cub.json_values import get_text
from cub.masking import mask_text
from cub.processes.command import StopRequest
from cub.project.allowed_rules import add_allowed_rule

if TYPE_CHECKING:
    from cub.cli.session_output import SessionPrinter
    from cub.cli.session_view import SessionView

_YES, _ALWAYS, _NO = ("y", "yes", "ok"), ("a", "always"), ("", "n", "no")


def follow_events(
    events: Iterable[SessionEvent],
    view: SessionView | SessionPrinter,
    stop: StopRequest,
    root: Path,
) -> SessionEnd:
    """Show what happens in a session, have a person answer its questions, and return its end."""
    end: SessionEnd | None = None
    for event in events:
        view.show(event)
        if isinstance(event, Question):
            _answer_question(event, stop, root)
            view.resume()
        end = event if isinstance(event, SessionEnd) else None
    assert end is not None
    return end


def _answer_question(question: Question, stop: StopRequest, root: Path) -> None:
    """Show the whole call, and give the answer of a person, or no where none can be asked.

    A stop is an answer, too. The rule of a call that is always allowed is saved for the project.
    """
    if not output.can_ask():
        reason = f"{question.reason}, but there is no terminal to ask on"
        question.answer(Answer("no", reason))
        return
    for line in describe_call(question):
        output.print_message(f"  {line}")
    try:
        with abort_at_stop(stop):
            answer = parse_answer(_read_line(question), question.rule)
    except typer.Abort:
        answer = Answer("no", "the user stopped the session" * stop.is_requested)
    if answer.choice == "always":
        add_allowed_rule(root, question.rule)
    question.answer(answer)


def parse_answer(text: str, rule: str) -> Answer:
    """Return what a line means: yes, always, no, or what else the model should be told.

    Without a `rule` there is no always, and nothing is a no.
    """
    words = " ".join(text.split())
    if words.lower() in _YES:
        return Answer("once")
    if rule and words.lower() in _ALWAYS:
        return Answer("always")
    return Answer("no", "" if words.lower() in _NO else f"the user said no: {words}")


def describe_call(question: Question) -> Iterator[str]:
    """Yield all that a call would do, if the line about it does not say so: nothing is left out."""
    call = question.call
    if "\n" in question.text or len(f"{call.name} {question.text}") > MAX_SUMMARY_CHARS:
        yield from question.text.splitlines()
    old, content = (get_text(call.arguments, key) for key in ("old_string", "content"))
    new = get_text(call.arguments, "new_string") or content
    if old or new:
        # A part of a line is shown as a line; nothing is not shown as an empty one.
        end = "\n" * any(text and not text.endswith("\n") for text in (old, new))
        hunks = format_hunks(*((f"{text}{end}" if text else "").encode() for text in (old, new)))
        yield from (output.style_diff_line(line) for line in hunks if not line.startswith("@@"))
    elif not question.text and call.arguments:
        text = json.dumps(call.arguments, indent=2, ensure_ascii=False)
        yield from mask_text(text).splitlines()


@contextmanager
def abort_at_stop(stop: StopRequest) -> Iterator[None]:
    """Let a stop end a question inside the context by typer.Abort, as the end of stdin does."""

    def abort() -> None:
        raise typer.Abort

    with stop.notify(abort):
        yield


def _read_line(question: Question) -> str:
    """Return the line that a person types after the question is shown."""
    agent = f"{question.agent}: " * bool(question.agent)
    output.print_message(f"  {agent}{question.reason}")
    rule = question.rule.replace(f"Bash({question.text.strip()})", "exactly this command")
    always = f", (a)lways: {rule}" if rule else ""
    output.print_message(f"  Allow it? (y)es{always}, (n)o, or say what to do instead")
    discard_typed_input()
    return output.ask_text("  Answer")
