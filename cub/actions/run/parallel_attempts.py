"""Run attempts at once, each in a thread and a place of its own, and pass on what they report."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

from cub.actions.run.attempt_finish import AttemptOutcome
from cub.harness.base import Harness
from cub.place.place import Place
from cub.processes.keeper_handle import kill_commands
from cub.store.events import Event

_CANCEL_SECONDS = 5.0  # for a thread whose command has been killed
AttemptSteps = Generator[Event, None, AttemptOutcome]


@dataclass(slots=True)
class RunningAttempt:
    """Hold an attempt that is under way, and its outcome or an error of cub's in the end."""

    task: str
    harness: Harness
    place: Place
    steps: AttemptSteps
    outcome: AttemptOutcome | None = None
    error: BaseException | None = None
    thread: Thread | None = None


class Report(NamedTuple):
    """Hold the next event of an attempt; None if it has ended."""

    attempt: RunningAttempt
    event: Event | None


@dataclass(slots=True)
class ParallelAttempts:
    """Run as many attempts at once as there are places.

    With one place there is no thread: then an attempt only goes on when its next event is asked
    for.
    """

    places: list[Place]
    running: list[RunningAttempt] = field(default_factory=list)
    started: list[str] = field(default_factory=list)  # the tasks, each once
    is_cancelled: bool = False
    _reports: SimpleQueue[Report] = field(default_factory=SimpleQueue)

    def find_free_place(self) -> Place | None:
        """Return a place in which no attempt works, or None."""
        used = [attempt.place for attempt in self.running]
        return next((place for place in self.places if place not in used), None)

    def start(self, attempt: RunningAttempt) -> None:
        """Start an attempt in a free place."""
        self.running.append(attempt)
        if attempt.task not in self.started:
            self.started.append(attempt.task)
        if len(self.places) > 1:
            attempt.thread = Thread(target=self._run, args=(attempt,), daemon=True)
            attempt.thread.start()

    def await_report(self) -> Report:
        """Return the next event of any attempt, or the end of one; raise an error of cub's."""
        has_threads = len(self.places) > 1
        report = self._reports.get() if has_threads else _take_step(self.running[0])
        if report.event is None:
            self.running.remove(report.attempt)
            if report.attempt.error:
                raise report.attempt.error
        return report

    def cancel(self) -> None:
        """End all attempts at once, and record nothing more: the next run recovers them.

        The run's locks may be released afterwards.
        """
        self.is_cancelled = True
        if self.running:
            kill_commands()
        for attempt in self.running:
            if attempt.thread:
                attempt.thread.join(_CANCEL_SECONDS)
            else:
                attempt.steps.close()

    def _run(self, attempt: RunningAttempt) -> None:
        while True:
            report = _take_step(attempt)
            if self.is_cancelled:
                attempt.steps.close()
                return
            self._reports.put(report)
            if report.event is None:
                return


def _take_step(attempt: RunningAttempt) -> Report:
    try:
        return Report(attempt, next(attempt.steps))
    except StopIteration as end:
        attempt.outcome = end.value
    except BaseException as error:  # noqa: BLE001 - the main thread raises it
        attempt.error = error
    return Report(attempt, None)
