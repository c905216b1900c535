"""Keep tasks in beads, for projects that have them there: read and change them with `bd`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError
from cub.files.lock import lock_project
from cub.store.backend import JsonlBackend, StoreTransaction
from cub.store.formats.beads import BLOCKS, CHILD, issue_to_task, parse_issue
from cub.store.formats.source_fields import join_criteria
from cub.store.jsonl import Record, iter_lines
from cub.store.task_index import EPIC, TaskIndex, is_deleted
from cub.store.task_schema import CLOSED, OPEN, PARKED, RETRY

_TIMEOUT = 60.0  # seconds; the first call may start a server
_MAX_ERROR_LINES = 10
_HINT = "set `tasks: {backend: jsonl}` in .cub/config.yaml to keep tasks in cub's file"
BdCall = tuple[str, ...]
_STATUSES = {RETRY: OPEN, PARKED: "deferred"}
_OPTIONS = {
    "title": "--title", "issue_type": "--type", "priority": "--priority",
    "description": "--description", "design": "--design", "acceptance_criteria": "--acceptance",
    "notes": "--notes", "assignee": "--assignee", "external_ref": "--external-ref",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BeadsBackend:
    """Keep the tasks in the beads database of the project at `root`."""

    root: Path
    name: str = "beads"
    can_restore_deleted: bool = False

    def read_tasks(self) -> TaskIndex:
        """Read all issues, whatever their status, in one call."""
        return TaskIndex.from_records(self._parse_issues(query_bd(self.root, "export")))

    @contextmanager
    def transaction(self) -> Iterator[StoreTransaction]:
        """Hold the project's lock, read, and make a call of `bd` for each difference.

        If a call fails, those before it stay.
        """
        with lock_project(self.root):
            change = StoreTransaction(self.read_tasks())
            yield change
            read = change.tasks.read_record
            pairs = [RecordChange(before, read(key)) for key, before in change.originals.items()]
            for call in build_calls(pairs):
                run_bd(self.root, *call)

    def list_close_commands(self, task_id: str) -> tuple[str, ...]:
        """Return commands of beads, with reasons that cub knows."""
        return (f'bd close {task_id} --reason "done"', f'bd close {task_id} --reason "no_change"')

    def _parse_issues(self, data: bytes) -> Iterator[Record]:
        for line in iter_lines(BytesIO(data)):
            try:
                raw = parse_issue(line)
            except ValueError as error:
                what = f"`bd export` printed what cub can't read: {error}"
                raise CubError(what, where=f"line {line.number}") from error
            if raw is not None:
                yield issue_to_task(raw)


TaskBackend = JsonlBackend | BeadsBackend


def query_bd(root: Path, *arguments: str) -> bytes:
    """Return the output of `bd`; CubError, with its message, if it fails."""
    result = _run_bd(root, arguments)
    if result.returncode:
        raise _make_failure(arguments, result)
    return result.stdout


def run_bd(root: Path, *arguments: str) -> None:
    """Let `bd` change something; CubError if it fails.

    Some versions exit with 0 although they failed, but print nothing to stdout.
    """
    result = _run_bd(root, (*arguments, "--json"))
    if result.returncode or not result.stdout.strip():
        raise _make_failure(arguments, result)


def _run_bd(root: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("bd")
    if program is None:
        raise CubError("`bd`, the program of beads, is not on PATH", hint=f"install it; or {_HINT}")
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
        raise CubError(what, hint="run the command yourself to see why") from None
    except OSError as error:
        what = f"`bd` cannot be run: {error.strerror or error}"
        raise CubError(what, where=program, hint=_HINT) from error


def _make_failure(arguments: Sequence[str], result: subprocess.CompletedProcess[bytes]) -> CubError:
    first, *more = _read_error(result).strip().splitlines() or ["it does not say why"]
    what = f"`bd {' '.join(arguments[:2])}` failed: {first}"
    hint = "earlier changes of this command are kept; run the call yourself to see more"
    return CubError(what, hint=hint, details=more[:_MAX_ERROR_LINES])


def _read_error(result: subprocess.CompletedProcess[bytes]) -> str:
    """Return a message: in JSON on stdout if bd was asked for it, else the whole output."""
    try:
        return str(json.loads(result.stdout)["error"])
    except (ValueError, KeyError, TypeError):
        return (result.stderr or result.stdout).decode("utf-8", "replace")


class RecordChange(NamedTuple):
    """Hold a task before, None for a new one, and after."""

    before: Record | None
    after: Record

    @property
    def task_id(self) -> str:
        """Return its id."""
        return str(self.after["id"])


def build_calls(pairs: Sequence[RecordChange]) -> Iterator[BdCall]:
    """Yield the calls of `bd` in an order that it accepts.

    It closes no issue that waits for an open one, and no epic with open children.
    """
    deleted = [pair.task_id for pair in pairs if is_deleted(pair.after)]
    pairs = [pair for pair in pairs if pair.task_id not in deleted]
    for pair in pairs:
        _require_storable(pair)
    for pair in sorted(pairs, key=lambda pair: pair.task_id):
        if pair.before is None:
            # With --force, an id may begin with another prefix than those of others.
            options = _list_options({}, _task_to_issue(pair.after))
            yield "create", f"--id={pair.task_id}", *options, "--force"
    for pair in pairs:
        yield from _edge_calls(pair, removed=True)
        yield from _update_calls(pair)
    for pair in sorted(pairs, key=lambda pair: pair.after.get("issue_type") == EPIC):
        if pair.after["status"] == CLOSED and _has_new_status(pair):
            yield "close", pair.task_id, f"--reason={pair.after.get('close_reason') or 'done'}"
    for pair in pairs:
        yield from _edge_calls(pair, removed=False)
    # Without --force, bd only prints what it would delete.
    yield from (("delete", key, "--force") for key in deleted)


def _require_storable(pair: RecordChange) -> None:
    if pair.after.get("checks") and pair.after["checks"] != (pair.before or {}).get("checks"):
        hint = "`run: {checks: […]}` in .cub/config.yaml says those of all tasks"
        raise CubError(f"beads keeps no checks of a task, as {pair.task_id} has", hint=hint)


def _update_calls(pair: RecordChange) -> Iterator[BdCall]:
    before = _task_to_issue(pair.before) if pair.before else {}
    after = _task_to_issue(pair.after)
    if before.get("status") == CLOSED and _has_new_status(pair):
        yield "reopen", pair.task_id
        before["status"] = OPEN
    options = [] if pair.before is None else _list_options(before, after)
    if after["status"] not in (CLOSED, before.get("status", OPEN)):
        options.append(f"--status={after['status']}")
    if options:
        yield "update", pair.task_id, *options
    old, new = (dict.fromkeys(issue.get("labels", ())) for issue in (before, after))
    yield from (("label", "remove", pair.task_id, label) for label in old if label not in new)
    yield from (("label", "add", pair.task_id, label) for label in new if label not in old)


def _has_new_status(pair: RecordChange) -> bool:
    """Return whether the status or its reason is new."""
    old = pair.before or {}
    return any(old.get(key) != pair.after.get(key) for key in ("status", "close_reason"))


def _edge_calls(pair: RecordChange, *, removed: bool) -> Iterator[BdCall]:
    old, new = _list_edges(pair.before or {}), _list_edges(pair.after)
    if removed:
        yield from (("dep", "remove", pair.task_id, edge[1]) for edge in old if edge not in new)
    else:
        edges = [edge for edge in new if edge not in old]
        yield from (("dep", "add", pair.task_id, other, f"--type={kind}") for kind, other in edges)


def _list_edges(record: Record) -> list[tuple[str, str]]:
    parent = record.get("parent")
    needs = [(BLOCKS, other) for other in record.get("depends_on", ())]
    return needs + ([(CHILD, parent)] if parent else [])


def _task_to_issue(record: Record) -> Record:
    """Return the fields of a task that a call of `bd` can set, in the words of beads."""
    issue = {key: record[key] for key in _OPTIONS if record.get(key) is not None}
    issue["status"] = _STATUSES.get(record["status"], record["status"])
    if criteria := issue.pop("acceptance_criteria", None):
        issue["acceptance_criteria"] = join_criteria(criteria)
    return issue | ({"labels": record["labels"]} if record.get("labels") else {})


def _list_options(before: Record, after: Record) -> list[str]:
    """Return the options for changed fields; a field that was removed is set to nothing."""
    return [
        f"{option}={after.get(key, '')}"
        for key, option in _OPTIONS.items()
        if before.get(key, "") != after.get(key, "")
    ]
