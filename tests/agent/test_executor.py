from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cub.agent.conversation import ToolCall
from cub.agent.events import Answer, Question, ToolEnd, ToolEvent, ToolStart
from cub.agent.executor import MAX_CONCURRENT, CallBatch, CallStep, Toolbox
from cub.agent.permission_rules import parse_rule
from cub.agent.tools.bash import BASH
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import ToolError
from tests.agent.doubles import (
    NamedRules,
    WordArguments,
    close_stops,
    echo,
    make_tool,
    make_toolbox,
)

TIMEOUT = 20


class Batch:
    """Drives a batch as a turn does, and keeps its events."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.inbox = SimpleQueue[CallStep]()
        self.calls = CallBatch(toolbox, self.inbox.put)
        self.events: list[ToolStart | ToolEvent | ToolEnd] = []
        self.number = 0

    def add(self, name: str, word: str = "", fault: str = "") -> None:
        self.number += 1
        call = ToolCall(f"{name}{self.number}", name, {"word": word}, fault)
        self.events += self.calls.add_call(call)

    def end_reply(self) -> None:
        self.events += self.calls.end_reply()

    def take(self) -> None:
        self.events += self.inbox.get(timeout=TIMEOUT)()

    def take_questions(self) -> list[Question]:
        """The questions that were asked since the last time."""
        questions = [event for event in self.events if isinstance(event, Question)]
        self.events = [event for event in self.events if not isinstance(event, Question)]
        return questions

    def finish(self) -> list[str]:
        self.end_reply()
        while not self.calls.is_done:
            self.take()
        return [result.text for result in self.calls.results]

    def list_steps(self) -> list[str]:
        return [
            ("start " if isinstance(event, ToolStart) else "end ") + event.call.id
            for event in self.events
            if isinstance(event, ToolStart | ToolEnd)
        ]


class Gate:
    """A tool that waits until the test opens it."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.count = 0
        self.lock = threading.Lock()

    def run(self, arguments: WordArguments, _: ToolContext) -> ToolOutput:
        with self.lock:
            self.count += 1
        assert self.opened.wait(TIMEOUT)
        return ToolOutput(arguments.word)


def test_results_come_in_the_order_of_the_calls(tmp_path: Path) -> None:
    gate = Gate()
    toolbox = make_toolbox(tmp_path, [make_tool("Slow", gate.run), make_tool("Fast", echo)])
    batch = Batch(toolbox)
    batch.add("Slow", "a")
    batch.add("Fast", "b")
    batch.take()
    assert batch.list_steps() == ["start Slow1", "start Fast2", "end Fast2"]
    gate.opened.set()
    assert batch.finish() == ["a", "b!"]


def test_read_read_write_read_runs_as_the_document_draws_it(tmp_path: Path) -> None:
    tools = [make_tool("Read", echo), make_tool("Write", echo, "edit")]
    batch = Batch(make_toolbox(tmp_path, tools))
    for name in ("Read", "Read", "Write", "Read"):
        batch.add(name)
    batch.finish()
    steps = batch.list_steps()
    assert steps[:2] == ["start Read1", "start Read2"]
    assert sorted(steps[2:4]) == ["end Read1", "end Read2"]
    assert steps[4:] == ["start Write3", "end Write3", "start Read4", "end Read4"]


def test_a_call_that_changes_something_waits_for_the_end_of_the_reply(tmp_path: Path) -> None:
    batch = Batch(make_toolbox(tmp_path, [make_tool("Write", echo, "edit")]))
    batch.add("Write")
    assert batch.events == []
    batch.end_reply()
    assert batch.list_steps() == ["start Write1"]


def test_at_most_eight_calls_run_at_the_same_time(tmp_path: Path) -> None:
    gate = Gate()
    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", gate.run)]))
    for number in range(MAX_CONCURRENT + 3):
        batch.add("Read", str(number))
    assert len(batch.events) == MAX_CONCURRENT
    gate.opened.set()
    assert batch.finish() == [str(number) for number in range(MAX_CONCURRENT + 3)]


def test_eight_calls_meet_inside_their_tools(tmp_path: Path) -> None:
    barrier = threading.Barrier(MAX_CONCURRENT, timeout=TIMEOUT)

    def meet(_: WordArguments, __: ToolContext) -> ToolOutput:
        barrier.wait()
        return ToolOutput("met")

    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", meet)]))
    for _ in range(MAX_CONCURRENT):
        batch.add("Read")
    assert batch.finish() == ["met"] * MAX_CONCURRENT


def fail(error: BaseException) -> ToolOutput:
    raise error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("no such file", hint="look again"), "error: no such file\nhint: look again"),
        (PermissionError(13, "Permission denied"), "error: permission denied"),
        (ZeroDivisionError("division"), "error: the tool failed: ZeroDivisionError: division"),
    ],
)
def test_a_failure_is_a_result(tmp_path: Path, error: Exception, text: str) -> None:
    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", lambda *_: fail(error))]))
    batch.add("Read")
    assert batch.finish() == [text]
    assert batch.calls.results[0].is_error


def test_calls_that_are_none_are_answered(tmp_path: Path) -> None:
    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", echo), make_tool("Grep", echo)]))
    batch.add("Reed")
    batch.add("Read", fault="the arguments are not JSON")
    batch.events += batch.calls.add_call(ToolCall("x", "Read", {"wort": "a"}))
    assert batch.finish() == [
        "error: there is no tool 'Reed'\nhint: choose from Read, Grep",
        "error: the arguments are not JSON",
        "error: unknown argument 'wort'\nhint: did you mean word?",
    ]


def test_a_result_without_text_says_so_and_a_huge_one_is_cut(tmp_path: Path) -> None:
    def print_much(arguments: WordArguments, _: ToolContext) -> ToolOutput:
        return ToolOutput(arguments.word * 50_000_000)

    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", print_much)]))
    batch.add("Read", "")
    batch.add("Read", "x")
    empty, huge = batch.finish()
    assert empty == "(no output)"
    assert len(huge) < 100_100
    assert "… 49,900,000 characters left out …" in huge


@pytest.fixture
def asking(tmp_path: Path) -> Batch:
    """A batch of commands that need approval, beside a tool that reads."""
    tools = [make_tool("Bash", echo, "command"), make_tool("Read", echo)]
    return Batch(make_toolbox(tmp_path, tools, "ask"))


def test_a_call_that_needs_approval_waits_for_the_answer(asking: Batch) -> None:
    asking.add("Bash", "make")
    asking.add("Bash", "rm")
    asking.add("Read", "a")
    asking.end_reply()
    (first,) = asking.take_questions()
    assert (first.text, first.reason) == ("make", "this command needs approval")
    assert asking.list_steps() == ["start Bash1"]
    first.answer(Answer("once"))
    asking.take()  # the answer
    asking.take()  # the end of the call
    (second,) = asking.take_questions()
    second.answer(Answer("no", "use git rm"))
    texts = asking.finish()
    assert texts == ["make!", "not allowed: use git rm", "a!"]
    assert [event.source for event in asking.events if isinstance(event, ToolEnd)] == [
        "tool", "denied", "tool",
    ]  # fmt: skip


def test_agents_that_wait_for_the_same_answer_ask_once(tmp_path: Path) -> None:
    toolbox, questions = make_toolbox(tmp_path, [BASH], "ask"), list[Question]()
    agents = [Batch(toolbox), Batch(toolbox)]
    for agent in agents:
        agent.events += agent.calls.add_call(ToolCall("1", "Bash", {"command": "touch x"}))
        agent.end_reply()
        questions += agent.take_questions()

    def ask(_: WordArguments, context: ToolContext) -> ToolOutput:
        for question in questions:
            context.send(question)
        return ToolOutput("asked")

    main = Batch(make_toolbox(tmp_path, [make_tool("Task", ask, "agent")]))
    main.add("Task")
    main.take()
    (shown,) = main.take_questions()
    shown.answer(Answer("always"))
    main.finish()
    assert main.take_questions() == []
    assert [agent.finish() for agent in agents] == [["The command exited with code 0."]] * 2


def test_a_no_without_words_says_who_said_it(asking: Batch) -> None:
    asking.add("Bash", "rm")
    asking.end_reply()
    for question in asking.take_questions():
        question.answer(Answer("no"))
        question.answer(Answer("once"))  # too late: a question has one answer
    assert asking.finish() == ["not allowed: the user said no"]


def test_an_answer_may_come_from_another_thread(asking: Batch) -> None:
    asking.add("Bash", "make")
    asking.end_reply()
    (question,) = asking.take_questions()
    thread = threading.Thread(target=question.answer, args=(Answer("once"),))
    thread.start()
    assert asking.finish() == ["make!"]
    thread.join()


def test_cancelling_ends_a_question_and_its_answer_comes_too_late(asking: Batch) -> None:
    asking.add("Bash", "make")
    asking.end_reply()
    (question,) = asking.take_questions()
    asking.events += asking.calls.cancel()
    assert asking.calls.is_done
    question.answer(Answer("once"))
    asking.take()
    assert asking.calls.results[0].text.startswith("This call was cancelled")


def test_a_person_is_asked_about_the_whole_of_a_call(asking: Batch) -> None:
    command = "cat > notes <<'END'\n" + "a line of a file\n" * 1_000 + "END\nrm -r ~"
    asking.add("Bash", command)
    asking.add("Bash", "x" * 20_001)
    asking.end_reply()
    (question,) = asking.take_questions()
    assert question.text == command
    question.answer(Answer("once"))
    texts = asking.finish()
    assert texts[0] == f"{command}!"
    assert texts[1].endswith("too long to show for approval")


def test_rules_and_questions_go_by_the_names_that_the_tool_has(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [BASH], "ask")
    toolbox.permissions.deny.append(parse_rule("Bash(rm *)", toolbox.tools))
    batch = Batch(toolbox)
    for command in ("rm -rf x", "touch x"):
        call = ToolCall(command, "bash", {"cmd": command})
        batch.events += batch.calls.add_call(call)
    batch.end_reply()
    (question,) = batch.take_questions()
    assert question.call == ToolCall("touch x", "Bash", {"command": "touch x"})
    question.answer(Answer("once"))
    denied, done = batch.finish()
    assert denied.startswith("not allowed")
    assert done == "The command exited with code 0."


def test_cancelling_answers_all_calls_and_waits_for_a_command(tmp_path: Path) -> None:
    gate = Gate()
    tools = [make_tool("Bash", gate.run, "command"), make_tool("Read", echo)]
    batch = Batch(make_toolbox(tmp_path, tools))
    batch.add("Bash", "stopped")
    batch.add("Read")
    batch.end_reply()
    batch.events += batch.calls.cancel()
    assert not batch.calls.is_done
    gate.opened.set()
    texts = batch.finish()
    assert texts == ["stopped", "This call was cancelled by the user before it was finished."]


def test_a_change_that_waits_is_not_made_after_a_stop(tmp_path: Path) -> None:
    """A stop ends the wait for the checks of the files as they were."""
    write = Gate()
    write.opened.set()
    toolbox = make_toolbox(tmp_path, [make_tool("Write", write.run, "edit")])
    toolbox = replace(toolbox, before_change=lambda context: context.stop.request())
    batch = Batch(toolbox)
    batch.add("Write", "a")
    assert batch.finish()[0].startswith("error: This call was cancelled")
    assert write.count == 0


def test_agents_start_before_the_first_change_may_be_made(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [make_tool("Task", echo, "agent")])
    toolbox = replace(toolbox, before_change=lambda _: pytest.fail("a change was announced"))
    batch = Batch(toolbox)
    batch.add("Task", "look")
    assert batch.finish() == ["look!"]


@pytest.mark.parametrize(
    ("line", "is_change"),
    [("ls", False), ("cat a.py | head -3", False), ("echo x > a.py", True), ("make", True)],
)
def test_a_command_that_only_reads_is_no_change(tmp_path: Path, line: str, is_change: bool) -> None:
    changes = list[object]()
    toolbox = make_toolbox(tmp_path, [make_tool("Bash", echo, "command")])
    batch = Batch(replace(toolbox, before_change=changes.append))
    batch.add("Bash", line)
    batch.finish()
    assert bool(changes) == is_change


def test_rules_for_a_file_follow_the_result(tmp_path: Path) -> None:
    from typing import NamedTuple

    from cub.agent.tools.tool import define_tool

    class FileArguments(NamedTuple):
        file_path: str

    tool = define_tool(
        "Read", "", FileArguments, lambda *_: ToolOutput("text"), "read", subject="file_path"
    )
    toolbox = make_toolbox(tmp_path, [tool], rules=NamedRules(a="rule for a.py"))
    batch = Batch(toolbox)
    batch.events += batch.calls.add_call(ToolCall("1", "Read", {"file_path": "a.py"}))
    assert batch.finish() == ["text\nrule for a.py"]


def test_many_calls_of_one_reply_take_linear_time(tmp_path: Path) -> None:
    batch = Batch(make_toolbox(tmp_path, [make_tool("Read", echo)]))
    for number in range(1000):
        batch.add("Read", str(number))
    start = time.process_time()  # a minute, if each call looked at all others
    assert batch.finish() == [f"{number}!" for number in range(1000)]
    assert time.process_time() - start < 10


class Recorder:
    """Tools that note when they run, and fail as they are asked to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = Counter[str]()
        self.faults: list[str] = []

    def run(self, kind: str, arguments: WordArguments) -> ToolOutput:
        with self.lock:
            self.running[kind] += 1
            total = self.running.total()
            if (kind == "unsafe" or self.running["unsafe"]) and total > 1:
                self.faults.append(f"{kind} beside {self.running}")
            if total > MAX_CONCURRENT:
                self.faults.append(f"{total} at once")
        with self.lock:
            self.running[kind] -= 1
        if arguments.word == "fail":
            raise ToolError("as asked")
        if arguments.word == "bug":
            raise KeyError("bug")
        return ToolOutput(arguments.word)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(("Safe", "Unsafe", "Nobody")), st.sampled_from(("ok", "fail", "bug"))
    ),
    max_size=14,
)


@settings(deadline=None)
@given(CALLS, st.data())
def test_any_mix_of_calls_is_exclusive_and_answered_in_order(
    calls: list[tuple[str, str]], data: st.DataObject
) -> None:
    recorder = Recorder()
    tools = [
        make_tool("Safe", lambda arguments, _: recorder.run("safe", arguments)),
        make_tool("Unsafe", lambda arguments, _: recorder.run("unsafe", arguments), "edit"),
    ]
    batch = Batch(make_toolbox(Path("/"), tools))
    cancel_at = data.draw(st.none() | st.integers(0, len(calls)))
    for number, (name, word) in enumerate(calls):
        batch.add(name, word)
        running = batch.list_steps()
        is_waiting = sum(step.startswith("start") for step in running) > sum(
            step.startswith("end") for step in running
        )
        if is_waiting and data.draw(st.booleans()):
            batch.take()
        if cancel_at == number:
            batch.events += batch.calls.cancel()
            break
    batch.finish()
    close_stops()  # of this example
    added = calls if cancel_at is None or cancel_at >= len(calls) else calls[: cancel_at + 1]
    assert recorder.faults == []
    ids = [f"{name}{number}" for number, (name, _) in enumerate(added, 1)]
    assert [result.call_id for result in batch.calls.results] == ids
    ends = [event.call.id for event in batch.events if isinstance(event, ToolEnd)]
    assert sorted(ends) == sorted(ids)


def test_a_question_of_a_tool_that_waits_is_not_asked_after_a_stop(tmp_path: Path) -> None:
    asked = Question(ToolCall("1", "Bash", {}), "make", "a reason", "", lambda _: None)

    def ask(arguments: WordArguments, context: ToolContext) -> ToolOutput:
        context.send(asked)
        return echo(arguments, context)

    batch = Batch(make_toolbox(tmp_path, [make_tool("Task", ask)]))
    batch.add("Task", "a")
    batch.calls.toolbox.context.stop.request()
    assert batch.finish() == ["a!"]
    assert batch.take_questions() == []
