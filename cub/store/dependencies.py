"""Which tasks can be begun, in which order; and what keeps the others from it.

Circles in what waits for what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import IN_PROGRESS, OPEN, RETRY

DependencyGraph = Mapping[str, Sequence[str]]

_ROUNDS = 3  # in a long chain, each takes away one node alone


def find_cycles(graph: DependencyGraph) -> list[list[str]]:
    """One circle of each group of nodes that all lead to each other, its smallest node first."""
    found = []
    for group in _groups(_prune_leaves(graph)):
        start = min(group)
        if len(group) > 1 or start in graph[start]:
            circle = find_shortest_path(start, start, {node: graph[node] for node in group})
            found.append(circle or [start])
    return sorted(found)


def find_shortest_path(start: str, end: str, graph: DependencyGraph) -> list[str] | None:
    """The shortest way from `start` to `end` along at least one edge, without `end` itself."""
    came: dict[str, str] = {}
    edge = [start]
    while edge:
        found: list[str] = []
        for node in edge:
            for other in sorted(graph.get(node, ())):
                if other == end:
                    return _back(node, start, came)
                if other not in came and other != start:
                    came[other] = node
                    found.append(other)
        edge = found
    return None


def _back(node: str, start: str, came: Mapping[str, str]) -> list[str]:
    way = [node]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


def _prune_leaves(graph: DependencyGraph) -> DependencyGraph:
    """The graph without most of the nodes that are in no circle: those that lead nowhere in it."""
    for _ in range(_ROUNDS):
        within = ((node, [one for one in others if one in graph]) for node, others in graph.items())
        graph = {node: others for node, others in within if others}
    return graph


def _groups(graph: DependencyGraph) -> Iterator[set[str]]:
    """Strongly connected components, in two passes (Kosaraju), and without recursion."""
    against: dict[str, list[str]] = {node: [] for node in graph}
    for node, others in graph.items():
        for other in others:
            if other in against:
                against[other].append(node)
    seen: set[str] = set()
    for node in reversed(_order_by_finish(graph)):
        if group := _reach_from(node, against, seen):
            yield group


def _order_by_finish(graph: DependencyGraph) -> list[str]:
    """All nodes, each behind those that it leads to, as far as there is no circle."""
    order: list[str] = []
    seen: set[str] = set()
    for root in graph:
        work = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while work:
            others = work[-1][1]
            other = next((one for one in others if one in graph and one not in seen), None)
            if other is None:
                order.append(work.pop()[0])
            else:
                seen.add(other)
                work.append((other, iter(graph[other])))
    return order


def _reach_from(node: str, graph: DependencyGraph, seen: set[str]) -> set[str]:
    """What a node leads to and nobody has seen yet."""
    group: set[str] = set()
    work = [] if node in seen else [node]
    while work:
        group.add(top := work.pop())
        seen.add(top)
        work += [one for one in graph[top] if one not in seen]
    return group


IsExpired = Callable[[Record | None], bool]


class ReadyTasks(NamedTuple):
    """Tasks to begin, the first one first; and what can never be begun unless somebody mends it:
    circles of tasks that wait for each other, and ids that are waited for and don't exist.
    """

    summaries: list[TaskSummary]
    cycles: list[list[str]]
    dangling: dict[str, list[str]]


def find_ready_tasks(tasks: TaskIndex, is_expired: IsExpired) -> ReadyTasks:
    """Tasks that are open or to be tried again, or whose lease has lapsed, and wait for nothing.

    In order: priority, fresh before tried, how many tasks wait for it, the elder, the id.
    """
    waited_for: dict[str, int] = {}
    free: list[TaskSummary] = []
    known = tasks.summaries
    waiting: dict[str, list[str]] = {}
    dangling: dict[str, list[str]] = {}
    for task in tasks:
        if task.is_closed:
            continue
        needs = list_blockers(task, tasks) if task.depends_on else []
        if needs:
            waiting[task.id] = needs
            for key in needs:
                waited_for[key] = waited_for.get(key, 0) + 1
            if missing := [key for key in needs if key not in known]:
                dangling[task.id] = missing
        elif not task.is_epic and is_startable(task, is_expired):
            free.append(task)
    free.sort(key=lambda task: _place(task, waited_for))
    return ReadyTasks(free, find_cycles(waiting), dangling)


def _place(task: TaskSummary, waited_for: Mapping[str, int]) -> tuple[object, ...]:
    tried, unblocks = task.status == RETRY, waited_for.get(task.id, 0)
    return task.priority, tried, -unblocks, task.created_at or "~", task.id


def is_startable(task: TaskSummary, is_expired: IsExpired) -> bool:
    """Whether a task is nobody's."""
    return task.status in (OPEN, RETRY) or (task.status == IN_PROGRESS and is_expired(task.lease))


def list_blockers(task: TaskSummary, tasks: TaskIndex) -> list[str]:
    """What a task waits for: dependencies that are not done, or don't exist."""
    found = tasks.summaries
    return [key for key in task.depends_on if key not in found or not found[key].is_done]
