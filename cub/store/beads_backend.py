"""Tasks in beads, for projects that have them there: read and changed through its client `bd`.

The client of beads, `bd`, run as a process: a question, or one change.

Changes of tasks as calls of `bd`: what differs between a record before and after.

Tasks that beads keeps, through its client `bd`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError
from cub.files import lock_project
from cub.store.formats.beads import BLOCKS, CHILD, issue_to_task, parse_issue
from cub.store.formats.source_fields import join_criteria
from cub.store.jsonl import Record, iter_lines
from cub.store.task_index import EPIC, TaskIndex, is_deleted
from cub.store.task_schema import CLOSED, OPEN, PARKED, RETRY


@dataclass(slots=True)
class BeadsTransaction:
    """See `cub.store.backend.StoreTransaction`. `originals` has the tasks that were put, as they
    were.
    """

    tasks: TaskIndex
    originals: dict[str, Record | None] = field(default_factory=dict)

    def put_record(self, record: Record) -> None:
        """Add or replace a task."""
        key = record["id"]
        self.originals.setdefault(key, self.tasks.read_record(key) if key in self.tasks else None)
        self.tasks.put_record(record)

    def save_repairs(self) -> None:
        """Nothing: beads has no lines to be put right."""

    def iter_changes(self) -> Iterator[RecordChange]:
        """The tasks that were put, before and after."""
        return (
            RecordChange(before, self.tasks.read_record(key))
            for key, before in self.originals.items()
        )


@dataclass(frozen=True, slots=True)
class BeadsBackend:
    """The issues of the beads database of the project at `root`."""

    root: Path
    name: str = "beads"
    can_restore_deleted: bool = False

    def read_tasks(self) -> TaskIndex:
        """All issues, whatever their status, in one call."""
        return TaskIndex.from_records(self._records(query_bd(self.root, "export")))

    @contextmanager
    def transaction(self) -> Iterator[BeadsTransaction]:
        """Hold the project's lock, read, and tell `bd` each difference, one call after the other.

        Where one fails, those before it stay.
        """
        with lock_project(self.root):
            change = BeadsTransaction(self.read_tasks())
            yield change
            for call in build_calls(change.iter_changes()):
                run_bd(self.root, *call)

    def list_close_commands(self, task_id: str) -> tuple[str, ...]:
        """The commands of beads, with reasons that cub knows."""
        return (f'bd close {task_id} --reason "done"', f'bd close {task_id} --reason "no_change"')

    def _records(self, data: bytes) -> Iterator[Record]:
        for line in iter_lines(BytesIO(data)):
            try:
                raw = parse_issue(line)
            except ValueError as error:
                what = f"`bd export` printed what cub can't read: {error}"
                raise CubError(what, where=f"line {line.number}") from error
            if raw is not None:
                yield issue_to_task(raw)


_TIMEOUT = 60.0  # seconds; a first call may start a server
_MOST = 10  # lines of an error
_HINT = "`tasks: {backend: jsonl}` in .cub/config.yaml keeps tasks in a file of cub's"


def query_bd(root: Path, *arguments: str) -> bytes:
    """What `bd` answers below `root`; CubError, with its own words, where it fails."""
    done = _run(root, arguments)
    if done.returncode:
        raise _make_failure(arguments, done)
    return done.stdout


def run_bd(root: Path, *arguments: str) -> None:
    """Let `bd` change something. Some versions end well also where they could not: they say so,
    and answer nothing.
    """
    done = _run(root, (*arguments, "--json"))
    if done.returncode or not done.stdout.strip():
        raise _make_failure(arguments, done)


def _run(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("bd")
    if program is None:
        raise CubError("`bd`, the client of beads, is not on PATH", hint=f"install it; or {_HINT}")
    try:
        return subprocess.run(  # noqa: S603 - the user's own bd, with arguments and no shell
            [program, *arguments],
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"`bd {arguments[0]}` has not ended in {_TIMEOUT:.0f} seconds"
        raise CubError(what, hint="run it by hand to see why") from None
    except OSError as error:
        what = f"`bd` cannot be run: {error.strerror or error}"
        raise CubError(what, where=program, hint=_HINT) from error


def _make_failure(arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> CubError:
    first, *more = _read_error(done).strip().splitlines() or ["it does not say why"]
    what = f"`bd {' '.join(arguments[:2])}` failed: {first}"
    hint = "what this command did before is done; run the call by hand to see more"
    return CubError(what, hint=hint, details=more[:_MOST])


def _read_error(done: subprocess.CompletedProcess[bytes]) -> str:
    """An error is on stdout where JSON was asked for; on stderr, there may be hints beside it."""
    try:
        return str(json.loads(done.stdout)["error"])
    except (ValueError, KeyError, TypeError):
        return (done.stderr or done.stdout).decode("utf-8", "replace")


BdCall = tuple[str, ...]
_STATUSES = {RETRY: OPEN, PARKED: "deferred"}
_OPTIONS = {
    "title": "--title",
    "issue_type": "--type",
    "priority": "--priority",
    "description": "--description",
    "design": "--design",
    "acceptance_criteria": "--acceptance",
    "notes": "--notes",
    "assignee": "--assignee",
    "external_ref": "--external-ref",
}


class RecordChange(NamedTuple):
    """A task before, None for a new one, and after."""

    before: Record | None
    after: Record

    @property
    def task_id(self) -> str:
        """Its id."""
        return str(self.after["id"])


def build_calls(pairs: Iterable[RecordChange]) -> Iterator[BdCall]:
    """What `bd` is to be told, in an order that it accepts: it closes nothing that waits for an
    open issue, and no epic with open children.
    """
    pairs = list(pairs)
    gone = [pair.task_id for pair in pairs if is_deleted(pair.after)]
    pairs = [pair for pair in pairs if pair.task_id not in gone]
    for pair in pairs:
        _require_storable(pair)
    for pair in sorted(pairs, key=lambda pair: pair.task_id):
        yield from _create_calls(pair)
    for pair in pairs:
        yield from _edges(pair, removed=True)
        yield from _update_calls(pair)
    for pair in sorted(pairs, key=lambda pair: pair.after.get("issue_type") == EPIC):
        yield from _close_calls(pair)
    for pair in pairs:
        yield from _edges(pair, removed=False)
    yield from (("delete", key, "--force") for key in gone)  # without it, bd only shows what it did


def _require_storable(pair: RecordChange) -> None:
    if pair.after.get("checks") and pair.after["checks"] != (pair.before or {}).get("checks"):
        hint = "`run: {checks: […]}` in .cub/config.yaml says those of all tasks"
        raise CubError(f"beads keeps no checks of a task, as {pair.task_id} has", hint=hint)


def _create_calls(pair: RecordChange) -> Iterator[BdCall]:
    """Also with an id that begins with another prefix than the other issues have."""
    if pair.before is None:
        yield "create", f"--id={pair.task_id}", *_options({}, _task_to_issue(pair.after)), "--force"


def _update_calls(pair: RecordChange) -> Iterator[BdCall]:
    before, after = _issues(pair)
    if before.get("status") == CLOSED and _status(pair) is not None:
        yield "reopen", pair.task_id
        before["status"] = OPEN
    options = [] if pair.before is None else _options(before, after)
    if after["status"] not in (CLOSED, before.get("status", OPEN)):
        options.append(f"--status={after['status']}")
    if options:
        yield "update", pair.task_id, *options
    old, new = (dict.fromkeys(issue.get("labels", ())) for issue in (before, after))
    yield from (("label", "remove", pair.task_id, label) for label in old if label not in new)
    yield from (("label", "add", pair.task_id, label) for label in new if label not in old)


def _close_calls(pair: RecordChange) -> Iterator[BdCall]:
    if pair.after["status"] == CLOSED and _status(pair) is not None:
        yield "close", pair.task_id, f"--reason={pair.after.get('close_reason') or 'done'}"


def _status(pair: RecordChange) -> str | None:
    """The new status, with why it is closed; None where both are as they were."""
    old = pair.before or {}
    same = all(old.get(key) == pair.after.get(key) for key in ("status", "close_reason"))
    return None if same else pair.after["status"]


def _edges(pair: RecordChange, *, removed: bool) -> Iterator[BdCall]:
    old, new = _needs(pair.before or {}), _needs(pair.after)
    if removed:
        yield from (
            ("dep", "remove", pair.task_id, other)
            for kind, other in old
            if (kind, other) not in new
        )
        return
    for kind, other in new:
        if (kind, other) not in old:
            yield "dep", "add", pair.task_id, other, f"--type={kind}"


def _needs(record: Record) -> list[tuple[str, str]]:
    parent = record.get("parent")
    needs = [(BLOCKS, other) for other in record.get("depends_on", ())]
    return needs + ([(CHILD, parent)] if parent else [])


def _issues(pair: RecordChange) -> tuple[Record, Record]:
    return _task_to_issue(pair.before) if pair.before else {}, _task_to_issue(pair.after)


def _task_to_issue(record: Record) -> Record:
    """Return the fields of a task that a call of `bd` can set, in the words of beads."""
    issue = {key: record[key] for key in _OPTIONS if record.get(key) is not None}
    issue["status"] = _STATUSES.get(record["status"], record["status"])
    if criteria := issue.pop("acceptance_criteria", None):
        issue["acceptance_criteria"] = join_criteria(criteria)
    return issue | ({"labels": record["labels"]} if record.get("labels") else {})


def _options(before: Record, after: Record) -> list[str]:
    """A field that goes is set to nothing."""
    return [
        f"{option}={after.get(key, '')}"
        for key, option in _OPTIONS.items()
        if before.get(key, "") != after.get(key, "")
    ]
