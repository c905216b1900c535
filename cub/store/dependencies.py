"""Find the tasks that can be started, in their order, and cycles that keep others from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import IN_PROGRESS, OPEN, RETRY

DependencyGraph = Mapping[str, Sequence[str]]
IsExpired = Callable[[Record | None], bool]


class ReadyTasks(NamedTuple):
    """Hold the tasks that can be started, the first one first, and what keeps others from it.

    `cycles` are tasks that wait for each other; `dangling` maps a task to ids that do not exist.
    """

    summaries: list[TaskSummary]
    cycles: list[list[str]]
    dangling: dict[str, list[str]]


def find_ready_tasks(tasks: TaskIndex, is_expired: IsExpired) -> ReadyTasks:
    """Return the tasks that are not started, or have an expired lease, and wait for nothing.

    Sorted by priority, untried before retried, how many tasks wait for them, creation and id.
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
    free.sort(key=lambda task: _sort_key(task, waited_for))
    return ReadyTasks(free, find_cycles(waiting), dangling)


def _sort_key(task: TaskSummary, waited_for: Mapping[str, int]) -> tuple[object, ...]:
    tried, unblocks = task.status == RETRY, waited_for.get(task.id, 0)
    return task.priority, tried, -unblocks, task.created_at or "~", task.id


def is_startable(task: TaskSummary, is_expired: IsExpired) -> bool:
    """Return whether a task is not claimed."""
    return task.status in (OPEN, RETRY) or (task.status == IN_PROGRESS and is_expired(task.lease))


def list_blockers(task: TaskSummary, tasks: TaskIndex) -> list[str]:
    """Return what a task waits for: dependencies that are not done, or do not exist."""
    known = tasks.summaries
    return [key for key in task.depends_on if key not in known or not known[key].is_done]


def find_cycles(graph: DependencyGraph) -> list[list[str]]:
    """Return one cycle of each group of nodes that all lead to each other.

    A cycle begins with its smallest node.
    """
    # Most tasks wait only for tasks that wait for nothing: they are in no cycle.
    edges = ((node, [key for key in others if key in graph]) for node, others in graph.items())
    graph = {node: others for node, others in edges if others}
    cycles = []
    for group in _iter_groups(graph):
        start = min(group)
        if len(group) > 1 or start in graph[start]:
            cycle = find_shortest_path(start, start, {node: graph[node] for node in group})
            cycles.append(cycle or [start])
    return sorted(cycles)


def find_shortest_path(start: str, end: str, graph: DependencyGraph) -> list[str] | None:
    """Return the shortest path from `start` to `end` over at least one edge, without `end`.

    Return None if there is none.
    """
    previous: dict[str, str] = {}
    edge = [start]
    while edge:
        next_edge: list[str] = []
        for node in edge:
            for other in sorted(graph.get(node, ())):
                if other == end:
                    return _trace_path(node, start, previous)
                if other not in previous and other != start:
                    previous[other] = node
                    next_edge.append(other)
        edge = next_edge
    return None


def _trace_path(node: str, start: str, previous: Mapping[str, str]) -> list[str]:
    path = [node]
    while path[-1] != start:
        path.append(previous[path[-1]])
    return path[::-1]


def _iter_groups(graph: DependencyGraph) -> Iterator[set[str]]:
    """Yield strongly connected components, by Kosaraju's two passes and without recursion."""
    reversed_graph: dict[str, list[str]] = {node: [] for node in graph}
    for node, others in graph.items():
        for other in others:
            if other in reversed_graph:
                reversed_graph[other].append(node)
    seen: set[str] = set()
    for node in reversed(_order_by_finish(graph)):
        if group := _reach_from(node, reversed_graph, seen):
            yield group


def _order_by_finish(graph: DependencyGraph) -> list[str]:
    """Return all nodes, each after those that it leads to, except in cycles."""
    order: list[str] = []
    seen: set[str] = set()
    for root in graph:
        work = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while work:
            others = work[-1][1]
            other = next((key for key in others if key in graph and key not in seen), None)
            if other is None:
                order.append(work.pop()[0])
            else:
                seen.add(other)
                work.append((other, iter(graph[other])))
    return order


def _reach_from(node: str, graph: DependencyGraph, seen: set[str]) -> set[str]:
    """Return the nodes that a node leads to and that are not in `seen`."""
    group: set[str] = set()
    work = [] if node in seen else [node]
    while work:
        group.add(top := work.pop())
        seen.add(top)
        work += [key for key in graph[top] if key not in seen]
    return group
