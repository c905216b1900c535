"""What a person says of a task, checked: texts of a sane size, known words, ids in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """The fields that a command line may set; None for those that it does not."""

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
        """The fields of a record. CubError for what no task can say."""
        said: Mapping[str, Any] = {
            "title": _title(self.title),
            "issue_type": _type(self.type),
            "priority": _priority(self.priority),
            "parent": tasks.find_id(self.parent) if self.parent else None,
            "depends_on": _ids(self.depends_on, tasks),
            "labels": _labels(self.labels),
            "acceptance_criteria": _texts(self.accept, "an acceptance criterion"),
            "checks": _texts(self.checks, "a check"),
            "description": check_text(self.description, "the description"),
        }
        return {key: value for key, value in said.items() if value is not None}


def check_text(value: str | None, what: str) -> str | None:
    """A text of a size that a store can hold in a line, and a prompt can use."""
    size = len((value or "").encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT:
        raise UsageError(
            f"{what} has {size:,} bytes; the most are {MAX_TEXT:,}",
            hint="put the long part into a file of the project, and name that file",
        )
    return value


def require_no_cycle(tasks: TaskIndex, task_id: str, needs: Sequence[str], parent: str) -> None:
    """Refuse new needs, or a new parent, that lead back to the task itself. An epic waits for its
    parts, so that none of them can wait for it.
    """
    if not needs and not parent:
        return
    parents = {row.id: (row.parent,) if row.parent else () for row in tasks}
    if parent and (way := _way(parent, task_id, parents)):
        raise _circle("be its own ancestor", [task_id, *way])
    waits = {row.id: list(row.depends_on) for row in tasks}
    for row in tasks:
        if row.parent in tasks and tasks[row.parent].is_epic:
            waits[row.parent].append(row.id)
    for need in needs:
        if way := _way(need, task_id, waits):
            raise _circle("wait for itself", [task_id, *way])
    if parent in tasks and tasks[parent].is_epic and (way := _way(task_id, parent, waits)):
        raise _circle("wait for itself", [*way, task_id])


def _way(start: str, end: str, graph: Mapping[str, Sequence[str]]) -> list[str] | None:
    """The shortest way between two tasks, both included; None where there is none."""
    found = [] if start == end else find_shortest_path(start, end, graph)
    return None if found is None else [*found, end]


def _circle(what: str, way: Sequence[str]) -> CubError:
    circle = " → ".join(way)
    return CubError(f"{way[0]} would {what}: {circle}", hint="nothing was changed")


def _title(value: str | None) -> str | None:
    if value is None:
        return None
    title = value.strip()
    if not title:
        raise UsageError("a task needs a title")
    if len(title.splitlines()) > 1 or len(title) > MAX_TITLE:
        hint = "the rest belongs into --description"
        raise UsageError(f"a title is one line of at most {MAX_TITLE} characters", hint=hint)
    return title


def _type(value: str | None) -> str | None:
    if value is None or value in TASK_TYPES:
        return value
    near = suggest_similar(value.lower(), TASK_TYPES)
    hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(TASK_TYPES)}"
    raise UsageError(f"no type {value!r}", hint=hint)


def _priority(value: str | None) -> int | None:
    found = normalize_priority(value)
    if value is not None and type(found) is not int:
        raise UsageError(f"no priority {value!r}", hint="0 to 4, or P0 to P4; 0 comes first")
    return found  # type: ignore[no-any-return]


def _ids(values: Sequence[str] | None, tasks: TaskIndex) -> list[str] | None:
    if values is None:
        return None
    return sorted({tasks.find_id(value) for value in split_words(values)})


def _labels(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else sorted(set(split_words(values)))


def _texts(values: Sequence[str] | None, what: str) -> list[str] | None:
    if values is None:
        return None
    kept = [check_text(value.strip(), what) or "" for value in values]
    return list(dict.fromkeys(filter(None, kept)))


def split_words(values: Sequence[str]) -> list[str]:
    """Words of options that may be repeated, and may have several words between commas."""
    words = (word.strip() for value in values for word in value.split(","))
    return [word for word in words if word]
