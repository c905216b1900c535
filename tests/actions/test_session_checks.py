from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from cub.actions.session_checks import SessionChecks, add_gate
from cub.agent.events import GateStart, ToolEvent
from cub.agent.loop import AgentSession
from cub.json_values import JsonObject
from cub.processes.command import StopRequest, TimeLimits
from tests.agent.doubles import FakeModel, close_stops, make_session, make_toolbox

Change = Callable[[Callable[[ToolEvent], None]], None]
KEY = "sk-ant-api03-" + "aB3dE5gH7" * 11 + "AA"
Watch = Callable[[SessionChecks], Change]
# Prints a failing test for each line of the file, as pytest does, and fails if there is one.
SCRIPT = """\
import sys
names = open("failing").read().split()
print("=== short test summary info ===")
for name in names:
    print(f"FAILED test_a.py::{name} - assert {name}")
print(f"==== {len(names)} failed, {4 - len(names)} passed in 0.1s ====")
sys.exit(bool(names))
"""


def ignore(_: ToolEvent) -> None:
    """Take an event, for nobody."""


@pytest.fixture
def stop() -> Iterator[StopRequest]:
    stop = StopRequest()
    yield stop
    stop.close()


@pytest.fixture
def watch(tmp_path: Path, stop: StopRequest) -> Iterator[Watch]:
    """Run checks beside a session until the test ends; return what precedes a change."""
    with ExitStack() as stack:
        stack.callback(close_stops)

        def start(checks: SessionChecks) -> Change:
            session = make_session(make_toolbox(tmp_path, []), FakeModel())
            stack.enter_context(checks.watch(session))

            def change(send: Callable[[ToolEvent], None]) -> None:
                context = replace(session.toolbox.context, stop=stop, send=send)
                session.toolbox.before_change(context)

            return change

        yield start


def make_checks(folder: Path, *own: str, seconds: float = 60) -> SessionChecks:
    (folder / "check.py").write_text(SCRIPT)
    command = f"{sys.executable} check.py"
    own_commands = (command,) if own else ()
    return SessionChecks((command,), folder, {}, TimeLimits(seconds, None), own_commands)


@pytest.mark.parametrize(
    ("before", "after", "is_ok", "summary"),
    [
        ("", "", True, ""),
        ("", "x", False, "test_a.py::x: assert x"),
        ("x", "x", True, "1 known failure, no new one"),
        ("x y", "y", True, "1 known failure, no new one"),
        ("x", "x y", False, "test_a.py::y: assert y (new)"),
        ("x", "", True, ""),
    ],
)
def test_what_failed_before_the_session_is_not_held_against_it(
    tmp_path: Path,
    stop: StopRequest,
    watch: Watch,
    before: str,
    after: str,
    is_ok: bool,
    summary: str,
) -> None:
    checks = make_checks(tmp_path)
    (tmp_path / "failing").write_text(before)
    change = watch(checks)
    change(ignore)
    (tmp_path / "failing").write_text(after)
    (report,) = checks.run_checks(stop)
    assert (report.is_ok, report.summary) == (is_ok, summary)


def test_a_check_of_the_tasks_own_has_to_pass(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    checks = make_checks(tmp_path, "own")
    (tmp_path / "failing").write_text("x")
    watch(checks)
    (report,) = checks.run_checks(stop)
    assert not report.is_ok
    assert "failed in the same way before" in report.summary


def test_the_model_is_told_which_failures_are_not_its_own(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    checks = make_checks(tmp_path)
    (tmp_path / "failing").write_text("x")
    change = watch(checks)
    change(ignore)
    (tmp_path / "failing").write_text("x y")
    (report,) = checks.run_checks(stop)
    assert report.details.splitlines()[:2] == [
        "test_a.py::y: assert y",
        "Not from your work, failed before it: test_a.py::x",
    ]


@pytest.mark.parametrize(
    ("command", "seconds", "summary"),
    [
        ("sleep 60", 0.2, "still running after 0 s, as before, so it decides nothing"),
        ("no-such-program -q", 60, "can't be run (…), so it decides nothing"),
        ("echo 'no tests ran in 0.01s'; exit 5", 60, "finds no test, so it decides nothing"),
        ("exit 3", 60, "1 known failure, no new one"),
    ],
)
def test_a_check_that_says_nothing_is_not_said_to_pass(
    tmp_path: Path, stop: StopRequest, watch: Watch, command: str, seconds: float, summary: str
) -> None:
    checks = SessionChecks((command,), tmp_path, {}, TimeLimits(seconds, None))
    change = watch(checks)
    change(ignore)
    (report,) = checks.run_checks(stop)
    assert report.is_ok
    assert re.sub(r"\(.*\)", "(…)", report.summary) == summary


def test_tests_that_no_longer_run_are_named(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    line = "test -e less && echo '== 3 passed in 0.1s ==' || echo '== 4 passed in 0.1s =='"
    checks = SessionChecks((line,), tmp_path, {}, TimeLimits(9, None))
    watch(checks)(ignore)
    (tmp_path / "less").touch()
    (report,) = checks.run_checks(stop)
    assert report.summary == "1 test that ran before no longer runs"


def test_checks_run_again_only_after_a_change(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    checks = SessionChecks(("echo >> runs",), tmp_path, {}, TimeLimits(9, None))
    change = watch(checks)
    assert [report.is_ok for report in checks.run_checks(stop)] == [True]
    assert (tmp_path / "runs").read_text() == "\n"
    change(ignore)
    assert [report.is_ok for report in checks.run_checks(stop)] == [True]
    assert (tmp_path / "runs").read_text() == "\n\n"


def test_a_baseline_stays_for_other_checks_of_the_session(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    checks = make_checks(tmp_path)
    (tmp_path / "failing").write_text("")
    change = watch(checks)
    change(ignore)
    (tmp_path / "failing").write_text("x")
    again = make_checks(tmp_path)
    again.baseline, again.is_past = checks.baseline, checks.is_past
    watch(again)
    (report,) = again.run_checks(stop)
    assert not report.is_ok


def test_a_baseline_is_saved_with_the_session_and_has_no_secrets(
    tmp_path: Path, stop: StopRequest
) -> None:
    values = {"run.checks": ["echo FAILED test_a.py::x - $SECRET; exit 1", "no-such-program"]}
    environ = {"SECRET": KEY}

    def start(saved: list[JsonObject]) -> tuple[AgentSession, SessionChecks]:
        toolbox = make_toolbox(tmp_path, [])
        toolbox = replace(toolbox, context=replace(toolbox.context, environ=environ, stop=stop))
        session = make_session(toolbox, FakeModel())
        limits = {"run.timeout": "60s", "run.hide_env": []}
        return session, add_gate(session, {**values, **limits}, "checks", None, saved)[0]

    session, checks = start([])
    assert session.baseline == []  # nothing has changed
    session.toolbox.before_change(session.toolbox.context)
    session.close()
    saved = json.loads(json.dumps(session.baseline))
    assert [row["command"] for row in saved] == values["run.checks"][:1]  # the other one can't run
    assert KEY not in str(saved)
    session, again = start([*saved, {"command": "of another version"}])
    session.close()
    assert again.baseline[saved[0]["command"]] == checks.baseline[saved[0]["command"]]
    assert again.is_past
    assert session.baseline == saved
    close_stops()


def test_a_check_that_does_not_end_is_a_failure(tmp_path: Path, stop: StopRequest) -> None:
    checks = SessionChecks(("sleep 60",), tmp_path, {}, TimeLimits(0.2, None))
    (report,) = checks.run_checks(stop)
    assert report.summary == "still running after 0 s"


def test_a_stop_ends_the_checks(tmp_path: Path, stop: StopRequest, watch: Watch) -> None:
    checks = SessionChecks(("sleep 60", "sleep 61"), tmp_path, {}, TimeLimits(None, None))
    stop.request()
    watch(checks)
    assert [*checks.run_checks(stop)] == []


def test_a_check_that_a_stop_ends_says_nothing(tmp_path: Path, stop: StopRequest) -> None:
    checks = SessionChecks(("sleep 60",), tmp_path, {}, TimeLimits(None, None))
    timer = threading.Timer(0.2, stop.request)
    timer.start()
    assert [*checks.run_checks(stop)] == []
    timer.join()


def test_a_check_that_did_not_end_before_says_that_nothing_is_known(
    tmp_path: Path, stop: StopRequest, watch: Watch
) -> None:
    (tmp_path / "check.py").write_text(SCRIPT)
    command = f"test -e failing || sleep 60; {sys.executable} check.py"
    checks = SessionChecks((command,), tmp_path, {}, TimeLimits(0.5, None))
    change = watch(checks)
    waits = list[ToolEvent]()
    change(waits.append)
    assert waits == [GateStart(0, 0)]
    change(waits.append)
    assert len(waits) == 1
    checks.limits = TimeLimits(60, None)
    (tmp_path / "failing").write_text("x")
    (report,) = checks.run_checks(stop)
    assert report.summary == (
        "test_a.py::x: assert x; whether it failed before is not known, as it did not end in "
        "time then"
    )


def test_a_change_is_known_to_all_checks_that_watch(tmp_path: Path, stop: StopRequest) -> None:
    session = make_session(make_toolbox(tmp_path, []), FakeModel())
    gate, own = make_checks(tmp_path), make_checks(tmp_path)
    (tmp_path / "failing").write_text("")
    with gate.watch(session):
        with own.watch(session):
            session.toolbox.before_change(session.toolbox.context)
            (tmp_path / "failing").write_text("x")
            assert [report.is_ok for report in own.run_checks(stop)] == [False]
        assert [report.is_ok for report in gate.run_checks(stop)] == [False]
    close_stops()
