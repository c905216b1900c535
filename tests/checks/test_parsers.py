from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.checks.items import LONGEST, Item
from cub.checks.parsers import MOST, parse
from tests.conftest import GOLDEN
from tests.examples import few_examples

SAMPLES = sorted((GOLDEN / "checks").glob("*/*.txt"))
LINES = sorted({line for case in SAMPLES for line in case.read_bytes().decode().split("\n")})
MIXED = ("ruff/concise", "mypy/default", "pytest/default")
PASSING = """<testsuite name="pytest"><testcase classname="a" name="b"/></testsuite>\n"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE bomb [<!ENTITY a "loaf"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="x"><failure message="&b;"/></testcase></testsuites>
"""


def _sample(name: str) -> str:
    return (GOLDEN / "checks" / f"{name}.txt").read_bytes().decode()


def test_the_items_of_several_tools_come_in_the_order_of_the_log() -> None:
    parts = [_sample(name) for name in MIXED]
    together = parse("== ruff\n" + "== next\n".join(parts))
    assert list(together) == [item for part in parts for item in parse(part)]


def test_passing_tools_around_a_failing_one_change_nothing() -> None:
    names = ("mypy/passing", "jest/passing", "go/verbose", "cargo/passing", "ruff/passing")
    log = "".join(_sample(name) for name in names)
    assert parse(log) == parse(_sample("go/verbose"))


def test_a_test_that_two_reports_tell_is_one() -> None:
    log = _sample("pytest/default")
    report = _sample("junit/pytest")
    assert set(parse(log + report)) == {*parse(log), parse(_sample("junit/pytest"))[0]}


def test_what_a_failing_test_wrote_is_no_finding() -> None:
    captured = _sample("clang/errors") + _sample("ruff/concise") + "--- FAIL: TestX (0.00s)\n"
    log = _sample("pytest/no-summary")
    inside = log.replace("making a label\n", captured)
    assert parse(inside) == parse(log)
    assert parse(inside + _sample("ruff/concise")) == parse(log) + parse(_sample("ruff/concise"))


def test_two_runs_of_pytest_are_read_each_for_itself() -> None:
    other = _sample("pytest/no-summary").replace("test_ovens", "test_shops")
    log = _sample("pytest/default")
    assert parse(log + other) == parse(log) + parse(other)


@pytest.mark.parametrize("lines", [2_000, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_items_are_few_and_short(lines: int) -> None:
    log = "".join(f"a.py:{line}:1: F401 {'long ' * 200}\n" for line in range(lines))
    found = parse(log)
    assert len(found) == MOST
    assert {len(item.message) for item in found} == {LONGEST}
    assert found[0].message.startswith("F401 long long")
    assert found[0].message.endswith("…")


def test_messages_are_on_one_line() -> None:
    case = '<testcase name="x"><failure message="a &#9; b&#10;c"/></testcase>'
    assert parse(f"<testsuite>{case}</testsuite>") == (Item("test", "x", "a b"),)


@pytest.mark.parametrize(
    "log",
    [
        "",
        "\n\n",
        "\x00" * 1000,
        "\x1b[" * 1000,
        "a" * 1_000_000,
        "FAILED " * 10_000,
        "(" * 100_000,
        '{"Time":' + "[" * 100_000,
        '{"Action":"output","Package":1,"Output":"FAIL"}',
        '{"Action":["fail"]}',
        "not ok 1 - no plan was told",
        "--- FAIL: no duration\nFAIL",
        "=== FAILURES ===\n=== 1 passed in 0.1s ===",
        "<testsuite>" * 10_000,
        "<testsuites>" + "<testsuite>" * 50_000 + "</testsuite>" * 50_000 + "</testsuites>",
        PASSING,
        BOMB,
        BOMB.replace("DOCTYPE bomb [<!ENTITY", "ENTITY"),
    ],
    ids=lambda log: log[:20],
)
def test_hostile_and_empty_logs_have_no_items(log: str) -> None:
    assert parse(log) == ()


def test_a_report_behind_a_bomb_is_read() -> None:
    assert parse(BOMB + _sample("junit/surefire")) == parse(_sample("junit/surefire"))


def test_a_report_may_stand_inside_a_log() -> None:
    report = _sample("junit/vitest")[: _sample("junit/vitest").index("</testsuites>") + 13]
    assert parse(f"running\n{report}\ndone\n") == parse(report)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(parse(text)) <= MOST


@few_examples
@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_lines_of_tools_in_any_order_are_read(lines: list[str]) -> None:
    for item in parse("\n".join(lines)):
        assert item.where
        assert len(item.message) <= LONGEST
        assert "\n" not in item.where + item.message


@few_examples
@given(st.sampled_from(SAMPLES).map(lambda path: path.read_bytes().decode()), st.data())
def test_a_log_that_was_cut_off_is_read(log: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(log)))
    end = data.draw(st.integers(start, len(log)))
    assert all(item.where for item in parse(log[start:end]))
