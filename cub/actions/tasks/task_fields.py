"""Check what a command line says of a task: sizes of texts, known words, whole ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cub.errors import CubError, UsageError
from cub.store.dependencies import find_shortest_path
from cub.store.task_index import TaskIndex
from cub.store.task_schema import TASK_TYPES, normalize_priority
from cub.text import suggest_similar

MAX_TITLE, MAX_TEXT = 500, 65_536  # characters; bytes


@dataclass(frozen=True, slots=True)
class TaskFields:
    """Hold the fields that a command line may set; None for those that it does not."""

    title: str | None = None
    type: str | None = None
    priority: str | None = None
    parent: str | None = None
    depends_on: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    accept: Sequence[str] | None = None
    checks: Sequence[str] | None = None
    description: str | None = None

    def to_record_values(self, tasks: TaskIndex) -> dict[str, Any]:
        """Return the fields of a record; an error for a value that no task may have."""
        values: Mapping[str, Any] = {
            "title": _check_title(self.title),
            "issue_type": _check_type(self.type),
            "priority": _check_priority(self.priority),
            "parent": tasks.find_id(self.parent) if self.parent else None,
            "depends_on": _split_set(self.depends_on, tasks.find_id),
            "labels": _split_set(self.labels, str),
            "acceptance_criteria": _check_texts(self.accept, "an acceptance criterion"),
            "checks": _check_texts(_require_commands(self.checks), "a check"),
            "description": check_text(self.description, "the description"),
        }
        return {key: value for key, value in values.items() if value is not None}


def check_text(value: str | None, what: str) -> str | None:
    """Return a text; UsageError if it is too large for a line of the store, or a prompt."""
    size = len((value or "").encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        hint = "put the long part in a file of the project, and refer to that file"
        raise UsageError(f"{what} has {size:,} bytes; the limit is {MAX_TEXT:,}", hint=hint)
    return value


def require_no_cycle(tasks: TaskIndex, task_id: str, needs: Sequence[str], parent: str) -> None:
    """Refuse new dependencies, or a new parent, that lead back to the task itself.

    An epic waits for its parts, so none of them can wait for it.
    """
    if not needs and not parent:
        return
    parents = {task.id: (task.parent,) if task.parent else () for task in tasks}
    if parent and (path := _find_path(parent, task_id, parents)):
        raise _make_cycle_error("be its own ancestor", [task_id, *path])
    waits = {task.id: list(task.depends_on) for task in tasks}
    for task in tasks:
        if task.parent in tasks and tasks[task.parent].is_epic:
            waits[task.parent].append(task.id)
    for need in needs:
        if path := _find_path(need, task_id, waits):
            raise _make_cycle_error("wait for itself", [task_id, *path])
    if parent in tasks and tasks[parent].is_epic and (path := _find_path(task_id, parent, waits)):
        raise _make_cycle_error("wait for itself", [*path, task_id])


def _find_path(start: str, end: str, graph: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the shortest path between two tasks, with both; None if there is none."""
    path = [] if start == end else find_shortest_path(start, end, graph)
    return None if path is None else [*path, end]


def _make_cycle_error(what: str, path: Sequence[str]) -> CubError:
    cycle = " → ".join(path)
    return CubError(f"{path[0]} would {what}: {cycle}", hint="nothing was changed")


def _check_title(value: str | None) -> str | None:
    if value is None:
        return None
    title = value.strip()
    if not title:
        raise UsageError("the title is empty", hint='pass a title, such as "Fix the login"')
    if len(title.splitlines()) > 1 or len(title) > MAX_TITLE:
        hint = "put the rest in --description"
        raise UsageError(f"a title must be one line of at most {MAX_TITLE} characters", hint=hint)
    return title


def _check_type(value: str | None) -> str | None:
    if value is None or value in TASK_TYPES:
        return value
    near = suggest_similar(value.lower(), TASK_TYPES)
    hint = f"did you mean {near!r}?" if near else f"choose from {', '.join(TASK_TYPES)}"
    raise UsageError(f"unknown type {value!r}", hint=hint)


def _check_priority(value: str | None) -> int | None:
    priority = normalize_priority(value)
    if value is not None and type(priority) is not int:
        raise UsageError(
            f"unknown priority {value!r}", hint="choose from 0 (highest) to 4, or P0 to P4"
        )
    return priority  # type: ignore[no-any-return]


def _split_set(values: Sequence[str] | None, read: Callable[[str], str]) -> list[str] | None:
    return None if values is None else sorted({read(word) for word in split_words(values)})


def _check_texts(values: Sequence[str] | None, what: str) -> list[str] | None:
    if values is None:
        return None
    texts = [check_text(value.strip(), what) or "" for value in values]
    return list(dict.fromkeys(filter(None, texts)))


def _require_commands(checks: Sequence[str] | None) -> Sequence[str] | None:
    """Return the checks; UsageError for an empty one, which any attempt would pass."""
    if checks and not all(map(str.strip, checks)):
        hint = "is a variable of your shell not set?"
        raise UsageError("the value is empty", where="--check", hint=hint)
    return checks


def split_words(values: Sequence[str]) -> list[str]:
    """Return the words of repeatable options, each of which may have several between commas."""
    words = (word.strip() for value in values for word in value.split(","))
    return [word for word in words if word]
