from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from cub.agent.events import (
    GateCheck,
    GateEnd,
    GateStart,
    GateVerdict,
    SessionEnd,
    SessionEvent,
)
from cub.agent.gate import JUDGES, Gate, parse_verdict
from cub.agent.loop import AgentSession, ReviewResult
from cub.agent.model import ModelError, ModelRequest, ReplyEnd, ReplyEvent, TextDelta
from cub.agent.session_budget import SessionBudget
from cub.processes.command import StopRequest
from cub.tokens import TokenUsage
from tests.agent.doubles import (
    FakeModel,
    PromptModel,
    close_stops,
    echo,
    make_session,
    make_tool,
    make_toolbox,
    say,
)

TIMEOUT = 20
YES = '{"isComplete": true, "reasoning": "Fine.", "refinementSuggestions": []}'
NO = '{"isComplete": false, "reasoning": "A bug.", "refinementSuggestions": ["Mend it."]}'
OK = GateCheck("pytest", is_ok=True)
RED = GateCheck("pytest", is_ok=False, summary="t.py::test_a: 1 != 2", details="FAILED t.py")


@pytest.fixture(autouse=True)
def _close_stops() -> Iterator[None]:
    yield
    close_stops()


class FakeChecks:
    """Checks that say what is next in a list, and then that all is well."""

    def __init__(self, *rounds: GateCheck) -> None:
        self.rounds = [*rounds]

    def run_checks(self, _: StopRequest) -> Sequence[GateCheck]:
        return [self.rounds.pop(0)] if self.rounds else [OK]


def spend(
    session: AgentSession, _prompt: str, _number: int
) -> Generator[SessionEvent, None, ReviewResult]:
    """Use up the budget."""
    yield from ()
    session.budget.add_cost(TokenUsage(), 1.0)
    return ReviewResult()


class Panel:
    """Three judges; each reads one answer a round from its own list: a text, error, or silence."""

    def __init__(self, *answers: str, name: str = "small") -> None:
        self.answers = dict(zip(JUDGES.values(), answers, strict=True))
        self.silence = threading.Event()
        self.model = PromptModel(self.reply, name)

    def reply(self, request: ModelRequest) -> Iterable[ReplyEvent]:
        (answer,) = (text for aspect, text in self.answers.items() if aspect in request.system)
        if answer == "silent":
            self.silence.wait(TIMEOUT)
            self.silence.set()
        if answer in ("silent", "error"):
            raise ModelError("no such model", "request", status=400)
        return [TextDelta(answer), ReplyEnd("end_turn", TokenUsage(10, 1))]


def make_reviewed(
    folder: Path, gate: Gate, panel: Panel | None = None, rounds: int = 5
) -> AgentSession:
    model = FakeModel(*(say(f"Done {number}.") for number in range(1, rounds + 1)))
    toolbox = make_toolbox(folder, [make_tool("Read", echo)])
    session = make_session(toolbox, model, panel.model if panel else None)
    session.end_reviews.append(gate.review_end)
    return session


def work(session: AgentSession) -> tuple[list[SessionEvent], SessionEnd]:
    events = list(session.work_on("the task"))
    end = events[-1]
    assert isinstance(end, SessionEnd)
    return events, end


@pytest.mark.parametrize(
    ("answers", "is_accepted"),
    [
        ((YES, YES, YES), True),
        ((NO, YES, YES), True),
        ((YES, NO, YES), True),
        ((YES, YES, NO), True),
        ((NO, NO, YES), False),
        ((NO, YES, NO), False),
        ((YES, NO, NO), False),
        ((NO, NO, NO), False),
        (("error", YES, YES), True),
        ((YES, "error", YES), True),
        ((YES, YES, "error"), True),
        (("error", YES, NO), False),  # one of two is not more than half
        ((NO, "error", YES), False),
        (("error", "error", YES), True),
        ((NO, "error", "error"), False),
        (("error", "error", "error"), True),  # nobody can be asked
        (("silent", YES, YES), True),
        ((NO, "silent", NO), False),
        (("silent", "silent", "silent"), True),
        (("no JSON", YES, YES), True),
        (("no JSON", "{}", "[1]"), True),
    ],
)
def test_more_than_half_of_the_judges_that_answer_decide(
    tmp_path: Path, answers: tuple[str, str, str], is_accepted: bool
) -> None:
    panel = Panel(*answers)
    gate = Gate(None, judge_seconds=0.3 if "silent" in answers else TIMEOUT)
    session = make_reviewed(tmp_path, gate, panel)
    events, end = work(session)
    panel.silence.set()
    first = next(event for event in events if isinstance(event, GateEnd))
    assert first.is_accepted == is_accepted
    assert end.text == ("Done 1." if is_accepted else "Done 4.")  # accepted after three rounds
    assert end.reason == "end_turn"
    verdicts = [event for event in events if isinstance(event, GateVerdict)][:3]
    assert {row.judge: row.is_complete for row in verdicts} == {
        judge: {YES: True, NO: False}.get(answer)
        for judge, answer in zip(JUDGES, answers, strict=True)
    }


def test_what_the_judges_say_is_one_message(tmp_path: Path) -> None:
    session = make_reviewed(tmp_path, Gate(None), Panel(NO, NO, YES))
    work(session)
    assert session.messages[2].text == (
        "These judges found issues with the work (round 1/3):\n\n"
        "**Correctness**: A bug.\nSuggestions:\n- Mend it.\n\n"
        "**Completeness**: A bug.\nSuggestions:\n- Mend it.\n\n"
        "Address these issues, and finish the original request."
    )
    assert session.budget.usage == TokenUsage(90, 9)  # three judges in three rounds


def test_judges_see_the_request_and_the_last_work(tmp_path: Path) -> None:
    panel = Panel(YES, YES, YES)
    work(make_reviewed(tmp_path, Gate(None), panel))
    (text,) = {request.messages[0].text for request in panel.model.requests}
    assert text.startswith("<request>\nthe task\n</request>")
    assert "[assistant] Done 1." in text
    assert all(not request.tools for request in panel.model.requests)


def test_a_failing_check_goes_back_to_the_model_and_no_judge_is_asked(tmp_path: Path) -> None:
    panel = Panel(YES, YES, YES)
    session = make_reviewed(tmp_path, Gate(FakeChecks(RED, OK).run_checks), panel)
    events, end = work(session)
    assert (end.reason, end.text) == ("end_turn", "Done 2.")
    assert session.messages[2].text == (
        "The project's checks fail after your work (round 1/3):\n\n"
        "`pytest`: t.py::test_a: 1 != 2\n\nFAILED t.py\n\n"
        "Fix what your work broke. Don't change a test only to make it pass."
    )
    kinds = [type(event) for event in events if type(event).__name__.startswith("Gate")]
    assert kinds == [
        GateStart, GateCheck, GateEnd,
        GateStart, GateCheck, GateVerdict, GateVerdict, GateVerdict, GateEnd,
    ]  # fmt: skip


def test_checks_that_still_fail_after_three_rounds_fail_the_session(tmp_path: Path) -> None:
    session = make_reviewed(tmp_path, Gate(FakeChecks(*[RED] * 9).run_checks, ()))
    events, end = work(session)
    assert (end.reason, end.text) == ("gate", "Done 4.")
    assert end.message == "after 3 rounds, `pytest` still fails: t.py::test_a: 1 != 2"
    assert [event for event in events if isinstance(event, GateEnd)][-1].request == end.message


def test_checks_that_pass_in_the_last_round_are_enough(tmp_path: Path) -> None:
    session = make_reviewed(tmp_path, Gate(FakeChecks(RED, RED, RED, OK).run_checks, ()))
    _, end = work(session)
    assert (end.reason, end.text) == ("end_turn", "Done 4.")


def test_no_judge_is_asked_once_the_budget_is_used_up(tmp_path: Path) -> None:
    panel = Panel(NO, NO, NO)
    session = make_reviewed(tmp_path, Gate(None), panel)
    session.budget = SessionBudget(max_usd=1.0)
    session.end_reviews.insert(0, spend)
    assert work(session)[1].reason == "end_turn"
    assert not panel.model.requests


def test_an_empty_answer_is_not_judged(tmp_path: Path) -> None:
    panel = Panel(NO, NO, NO)
    model = FakeModel(*[[ReplyEnd("end_turn")]] * 3)
    session = make_session(make_toolbox(tmp_path, []), model, panel.model)
    session.end_reviews.append(Gate(None).review_end)
    events, _ = work(session)
    assert not panel.model.requests
    assert not [event for event in events if isinstance(event, GateStart)]


def test_a_stop_ends_a_review(tmp_path: Path) -> None:
    panel = Panel("silent", "silent", "silent")
    session = make_reviewed(tmp_path, Gate(None, judge_seconds=TIMEOUT), panel)
    stop = session.toolbox.context.stop
    events: list[SessionEvent] = []
    for event in session.work_on("the task"):
        events.append(event)
        if isinstance(event, GateStart):
            threading.Timer(0.05, stop.request).start()
    assert not panel.silence.is_set()  # no judge has ended the wait
    panel.silence.set()
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert end.reason == "cancelled"
    assert not [event for event in events if isinstance(event, GateVerdict)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (YES, GateVerdict("j", True, "Fine.")),
        (f"```json\n{NO}\n```", GateVerdict("j", False, "A bug.", suggestions=("Mend it.",))),
        ('{"isComplete": false}', GateVerdict("j", False, "")),
        ('{"isComplete": "true"}', GateVerdict("j", None, "the reply has no verdict")),
        ('{"isComplete": true, "refinementSuggestions": [1, " ", "x"]}',
         GateVerdict("j", True, "", suggestions=("x",))),
        (f"`f() {{ return 1 }}` is wrong.\n{NO}\nSo much for {{}}.",
         GateVerdict("j", False, "A bug.", suggestions=("Mend it.",))),
        ("I think that it is complete.", GateVerdict("j", None, "the reply has no verdict")),
        ("}{", GateVerdict("j", None, "the reply has no verdict")),
    ],
)  # fmt: skip
def test_a_verdict_is_found_in_a_reply(text: str, verdict: GateVerdict) -> None:
    assert parse_verdict("j", text) == verdict
