from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.store.dependencies import ReadyTasks, find_cycles, find_ready_tasks, find_shortest_path
from cub.store.jsonl import Record
from cub.store.leases import LeaseChecker, make_lease
from cub.store.task_index import TaskIndex
from tests.examples import few_examples
from tests.store.records import closed, day, task

NODES = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(NODES, st.lists(NODES, max_size=3))
MANY = [10_000, pytest.param(100_000, marks=pytest.mark.thorough)]


def reached(graph: dict[str, list[str]], start: str) -> set[str]:
    """Where edges lead from a node, the slow way."""
    found: set[str] = set()
    for _ in graph:
        found |= {other for node in found | {start} for other in graph.get(node, ())}
    return found


@few_examples
@given(GRAPHS)
def test_circles_are_those_that_reaching_tells(graph: dict[str, list[str]]) -> None:
    lead = {node: reached(graph, node) for node in graph}
    groups = {
        frozenset(other for other in graph if other in lead[node] and node in lead[other])
        for node in graph
        if node in lead[node]
    }
    found = find_cycles(graph)
    assert found == sorted(found)
    assert len(found) == len(groups)
    for circle in found:
        assert any(set(circle) <= group and circle[0] == min(group) for group in groups)
        assert len(set(circle)) == len(circle)
        following = [*circle[1:], circle[0]]
        assert all(two in graph[one] for one, two in zip(circle, following, strict=True))


@few_examples
@given(GRAPHS, NODES, NODES)
def test_a_path_is_one_and_the_shortest(graph: dict[str, list[str]], start: str, end: str) -> None:
    found = find_shortest_path(start, end, graph)
    assert (found is not None) == (end in reached(graph, start))
    if found is not None:
        assert found[0] == start
        assert all(b in graph[a] for a, b in zip(found, [*found[1:], end], strict=True))
        near = {start}
        for _ in found[1:]:
            near = {other for node in near for other in graph.get(node, ())}
            assert end not in near


@pytest.mark.parametrize("many", MANY)
def test_long_chains_are_no_trouble(many: int) -> None:
    chain = {str(number): [str(number + 1)] for number in range(many)}
    assert find_cycles(chain) == []
    backwards = dict(reversed(chain.items()))
    assert find_cycles(backwards) == []


@pytest.mark.parametrize("many", MANY)
def test_long_circles_are_no_trouble(many: int) -> None:
    chain = {str(number): [str(number + 1)] for number in range(many)}
    circle = find_cycles({**chain, str(many): ["0"]})
    assert len(circle) == 1
    assert len(circle[0]) == many + 1
    assert circle[0][:3] == ["0", "1", "2"]


LIVING, DEAD = 1, 2
WATCH = LeaseChecker(day(5), "here", lambda pid: pid == LIVING)


def found(*records: Record) -> ReadyTasks:
    return find_ready_tasks(TaskIndex.from_records(records), WATCH.is_expired)


def ids(*records: Record) -> list[str]:
    return [row.id for row in found(*records).summaries]


@pytest.mark.parametrize(
    ("values", "is_ready"),
    [
        ({}, True),
        ({"status": "retry"}, True),
        ({"status": "parked"}, False),
        ({"status": "closed"}, False),
        ({"status": "in_progress"}, False),
        ({"status": "in review"}, False),
        ({"issue_type": "epic"}, False),
        ({"issue_type": "bug"}, True),
        ({"status": "open", "lease": {"expires": day(9)}}, True),
    ],
)
def test_which_tasks_are_ready(values: dict[str, Any], is_ready: bool) -> None:
    assert ids(task("a", **values)) == ["a"] * is_ready


@pytest.mark.parametrize(
    ("values", "lapsed"),
    [
        ({"expires": day(6)}, False),
        ({"expires": day(5)}, True),
        ({"expires": "2026-01-05T01:00:00+02:00"}, True),
        ({"expires": "2026-01-31T01:00:00Z"}, False),
        ({"expires": "2027-01-05T01:00:00Z"}, True),
        ({"expires": "9999-12-31T23:59:59Z", "host": "there"}, True),
        ({"expires": day(6), "host": "here", "pid": LIVING}, False),
        ({"expires": day(4), "host": "here", "pid": LIVING}, True),
        ({"expires": day(6), "host": "here", "pid": DEAD}, True),
        ({"expires": day(6), "host": "there", "pid": DEAD}, False),
        ({"expires": day(6), "host": "here", "pid": "2"}, False),
        ({}, False),
    ],
)
def test_a_task_is_free_again_when_its_lease_has_lapsed(
    values: dict[str, Any], lapsed: bool
) -> None:
    assert ids(task("a", status="in_progress", lease=values)) == ["a"] * lapsed


@pytest.mark.parametrize(("pid", "lives"), [(10**30, False), (-1, False)])
def test_odd_process_numbers_are_nobodys(pid: int, lives: bool) -> None:
    made = {**make_lease(day(1), run="r"), "pid": pid}
    assert LeaseChecker(day(1)).is_expired(made) is not lives


def test_the_lease_of_this_process_holds_until_it_ends() -> None:
    assert not LeaseChecker(day(1)).is_expired(make_lease(day(1), run="r"))
    assert LeaseChecker(day(2)).is_expired(make_lease(day(1), run="r"))
    assert "pid" not in make_lease(day(1))


@pytest.mark.parametrize(
    ("needed", "is_ready"),
    [
        (closed(task("b"), 2), True),
        (closed(task("b"), 2, "no_change"), True),
        (task("b", status="done"), True),
        (task("b", status="closed"), True),
        (closed(task("b"), 2, "wontfix"), False),
        (closed(task("b"), 2, "duplicate"), False),
        (task("b", status="cancelled"), False),
        (task("b", status="parked"), False),
        (task("b", status="in_progress"), False),
        (task("b", issue_type="epic"), False),
        (closed(task("b", issue_type="epic"), 2), True),
        (task("b", status="somewhere"), False),
    ],
)
def test_what_a_task_waits_for(needed: Record, is_ready: bool) -> None:
    assert ("a" in ids(needed, task("a", depends_on=["b"]))) is is_ready
    assert "a" not in ids(needed, task("c"), task("a", depends_on=["b", "c"]))


def test_an_id_that_does_not_exist_blocks_and_is_named() -> None:
    told = found(task("a", depends_on=["gone", "b", "lost"]), task("b"))
    assert [row.id for row in told.summaries] == ["b"]
    assert told.dangling == {"a": ["gone", "lost"]}
    assert found(closed(task("a", depends_on=["gone"]), 2)).dangling == {}


@pytest.mark.parametrize(
    ("graph", "cycles"),
    [
        ({"a": ["a"]}, [["a"]]),
        ({"b": ["a"], "a": ["b"]}, [["a", "b"]]),
        ({"a": ["b"], "b": ["c"], "c": ["a", "b"]}, [["a", "b", "c"]]),
        ({"a": ["b"], "b": ["a"], "d": ["c"], "c": ["d"]}, [["a", "b"], ["c", "d"]]),
        ({"x": ["a"], "a": ["b"], "b": ["a"]}, [["a", "b"]]),
        ({"a": ["b"], "b": ["done"]}, []),
    ],
)
def test_circles_block_and_are_named(graph: dict[str, list[str]], cycles: list[list[str]]) -> None:
    done = closed(task("done", depends_on=["done"]), 2)
    told = found(done, *(task(key, depends_on=needs) for key, needs in graph.items()))
    assert told.cycles == cycles
    assert [row.id for row in told.summaries] == (["b"] if "done" in graph.get("b", ()) else [])


def test_a_circle_is_broken_by_closing_one_of_it() -> None:
    told = found(closed(task("a", depends_on=["b"]), 2), task("b", depends_on=["a"]))
    assert (told.cycles, [row.id for row in told.summaries]) == ([], ["b"])


def test_a_doubled_task_counts_once() -> None:
    line = b'{"id":"a","status":"open","priority":1,"created_at":"%s"}\n' % day(1).encode()
    tasks = TaskIndex.parse(line + line.replace(b'"open"', b'"closed"'))
    assert find_ready_tasks(tasks, WATCH.is_expired).summaries == []
    assert [
        row.id for row in find_ready_tasks(TaskIndex.parse(line + line), WATCH.is_expired).summaries
    ] == ["a"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"priority": 0, "status": "retry"}, {"priority": 1}),
        ({"created_at": day(3)}, {"status": "retry", "created_at": day(1)}),
        ({"created_at": day(1)}, {"created_at": day(2)}),
        ({"created_at": "2026-01-01T02:00:00+02:00"}, {"created_at": day(2)}),
        ({"created_at": day(2)}, {"created_at": None}),
        ({}, {}),
        ({"priority": "P1"}, {"priority": "soon"}),
    ],
)
def test_the_order_of_two(first: dict[str, Any], second: dict[str, Any]) -> None:
    one, two = task("a", **first), task("b", **second)
    assert ids(one, two) == ids(two, one) == ["a", "b"]


def test_who_is_waited_for_by_more_comes_first() -> None:
    waiting = [task("x", depends_on=["c"]), task("y", depends_on=["c", "b"], status="parked")]
    gone = closed(task("z", depends_on=["a"]), 2)
    assert ids(task("a"), task("b"), task("c"), gone, *waiting) == ["c", "b", "a"]
    tried = task("d", status="retry")
    more = [task(f"w{number}", depends_on=["d"]) for number in range(5)]
    assert ids(task("a"), tried, *more) == ["a", "d"]
