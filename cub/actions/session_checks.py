"""Run the project's checks where a session of the built-in agent works, and compare them.

What failed before the session, and in no new way since, is not held against it: the rule is that
of `cub run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

from cub.actions.command_options import GateChoice
from cub.actions.run.check_comparison import (
    CheckComparison,
    compare_check,
    format_failure_count,
    quote_reason,
)
from cub.actions.run.check_runner import (
    CheckResult,
    lacks_needed_program,
    read_check_result,
    restore_check,
)
from cub.actions.run.removed_tests import TestFiles, find_removed_tests
from cub.actions.run.verdict import describe_failed_check
from cub.actions.tasks.current_attempt import build_environment
from cub.agent.events import GateCheck, GateStart
from cub.agent.gate import JUDGES, Gate
from cub.agent.loop import AgentSession
from cub.agent.tools.tool import ToolContext
from cub.checks.terminal_text import to_plain_text
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.json_values import JsonObject
from cub.masking import mask_text, mask_tree
from cub.processes.command import StopRequest, TimeLimits, make_shell_command
from cub.processes.runner import run_and_capture
from cub.project.setting_kinds import parse_seconds

_MAX_OUTPUT = 1_000_000  # bytes that are read
_POLL_SECONDS = 0.1
_MAX_ITEMS = 20  # that the model is told of a check


def add_gate(
    session: AgentSession,
    values: Mapping[str, Any],
    choice: GateChoice,
    earlier: SessionChecks | None,
    saved: Iterable[JsonObject] = (),
) -> tuple[SessionChecks, list[PlanWarning]]:
    """Have the work of a session reviewed; return its checks, and warnings.

    They run now, beside the session, which changes nothing until they are done; what `earlier` ones
    of this process said is kept, and what was `saved` with the session, as its `baseline` is.
    Raises CubError if only checks are to decide, and there are none.
    """
    judges = tuple(JUDGES) if choice != "checks" else ()
    commands = () if choice == "judges" else tuple(values["run.checks"])
    checks = make_session_checks(session.toolbox.context, values, commands)
    if earlier:
        checks.baseline, checks.is_past = {**earlier.baseline}, earlier.is_past
    known = filter(None, map(restore_check, saved))
    if kept := {check.command: check for check in known}:
        checks.baseline, checks.is_past = {**checks.baseline, **kept}, True
    gate = Gate(checks.run_checks if commands else None, judges)
    session.end_reviews.append(gate.review_end)
    if commands:
        session.resources.enter_context(checks.watch(session))
        return checks, []
    hint = "set run.checks to the commands that must succeed, such as [pytest]"
    if choice == "checks":
        raise CubError("no check can review the work: run.checks is empty", hint=hint)
    warning = PlanWarning("only judges review the work: run.checks is empty", "", hint=hint)
    return checks, [warning] if choice == "both" else []


def make_session_checks(
    context: ToolContext,
    values: Mapping[str, Any],
    commands: tuple[str, ...],
    own: tuple[str, ...] = (),
) -> SessionChecks:
    """Return checks for the files that a session works on, as the configuration limits them."""
    limits = TimeLimits(parse_seconds(values["run.timeout"]), None)
    environ = build_environment(values["run.hide_env"], context.environ)
    # Python tells a changed module by its size and second: an edit may be faster.
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return SessionChecks(commands, context.root, environ, limits, own)


@dataclass(slots=True)
class SessionChecks:
    """Run `commands` in the project's folder: before the session changes a file, and at its end.

    `own` are those that have to pass, whatever they said before. `baseline` is what each said then,
    and `is_past` tells that files may have changed since.
    """

    commands: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    limits: TimeLimits
    own: tuple[str, ...] = ()
    baseline: dict[str, CheckResult] = field(default_factory=dict)
    is_past: bool = False
    _thread: Thread | None = None

    @contextmanager
    def watch(self, session: AgentSession) -> Iterator[None]:
        """Run the checks beside a session, which changes nothing until they are done.

        They end with the context.
        """
        prepare = session.toolbox.before_change

        def prepare_change(context: ToolContext) -> None:
            prepare(context)
            if self._thread and self._thread.is_alive():
                context.send(GateStart(0, 0))
            self._wait_for_baseline(context.stop)
            self.is_past = True
            self._keep_baseline(session)

        self._keep_baseline(session)
        session.toolbox = replace(session.toolbox, before_change=prepare_change)
        with closing(StopRequest()) as end:
            self._thread = Thread(target=self._run_baseline, args=(end,), daemon=True)
            self._thread.start()
            try:
                yield
            finally:
                end.request()
                self._thread.join()
                session.toolbox = replace(session.toolbox, before_change=prepare)

    def run_checks(self, stop: StopRequest) -> Iterator[GateCheck]:
        """Yield what each check says of the files as they are now.

        The checks run, unless no call could change anything since they ran for the baseline.
        """
        self._wait_for_baseline(stop)
        checks = self._iter_results(self.commands, stop)
        if not self.is_past and self.baseline.keys() >= {*self.commands}:
            checks = (self.baseline[command] for command in self.commands)
        for check in checks:
            before, is_own = self.baseline.get(check.command), check.command in self.own
            yield _report_check(compare_check(check, before, is_own=is_own))

    def _keep_baseline(self, session: AgentSession) -> None:
        """Have the session save its baseline: what it says of the files, and not of the machine."""
        kept = [check for check in [*self.baseline.values()] if check.is_repeatable]
        if self.is_past and len(session.baseline) < len(kept):
            session.baseline = mask_tree([asdict(check) for check in kept])

    def _wait_for_baseline(self, stop: StopRequest) -> None:
        while self._thread and self._thread.is_alive() and not stop.is_requested:
            self._thread.join(_POLL_SECONDS)

    def _run_baseline(self, stop: StopRequest) -> None:
        unknown = [command for command in self.commands if command not in self.baseline]
        for check in self._iter_results(unknown, stop):
            self.baseline[check.command] = check

    def _iter_results(self, commands: Iterable[str], stop: StopRequest) -> Iterator[CheckResult]:
        """Yield what each check says; a stop ends the one that runs, so it says nothing."""
        for command in commands:
            check = self._run_check(command, stop)
            if stop.is_requested:
                return
            yield check

    def _run_check(self, command: str, stop: StopRequest) -> CheckResult:
        process = make_shell_command(command, self.folder, self.environ)
        captured = run_and_capture(process, self.limits, stop, _MAX_OUTPUT)
        text = mask_text(to_plain_text(captured.out.decode("utf-8", "replace")))
        result = read_check_result(command, captured, text)
        lacks = lacks_needed_program(result, text, self.folder, self.environ)
        return replace(result, lacks_program=lacks)


def _report_check(comparison: CheckComparison) -> GateCheck:
    """Return a check as a person and the model read it."""
    check = comparison.check
    if comparison.is_ok:
        return GateCheck(check.command, is_ok=True, summary=_describe_accepted(comparison))
    repeats = comparison.is_own and comparison.repeats_baseline
    summary = describe_failed_check(comparison, repeats=repeats)
    summary = summary.removeprefix(f"{check.command}: ")  # it is beside the command anyway
    lines = [f"{item.where}: {item.message}".rstrip(": ") for item in comparison.new[:_MAX_ITEMS]]
    known = [item.where for item in check.items if item not in comparison.new][:_MAX_ITEMS]
    if known and not comparison.is_own:
        lines.append(f"Not from your work, failed before it: {', '.join(known)}")
    return GateCheck(check.command, False, summary, "\n".join([*lines, check.tail]))


def _describe_accepted(comparison: CheckComparison) -> str:
    """Return why a check is no objection to the work, though it did not pass; "" if it did."""
    check = comparison.check
    if check.finds_no_test:
        return "finds no test, so it decides nothing"
    if removed := find_removed_tests([comparison], TestFiles(), ()):
        return removed.reason.replace(f" of `{check.command}`", "")
    if check.is_passing:
        return ""
    if not check.can_run:
        return f"can't be run{quote_reason(check)}, so it decides nothing"
    if check.cause:
        return f"still running after {check.seconds:.0f} s, as before, so it decides nothing"
    return f"{format_failure_count(comparison.known_failure_count)}, no new one"
