"""Tests that an attempt takes away: by the totals of runners, by files and by names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cub.actions.run.check_comparison import CheckComparison, compare_check
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.removed_tests import (
    RemovedTests,
    TestFiles,
    compare_test_files,
    find_removed_tests,
)
from cub.checks.failing_items import FailingItem
from cub.checks.runner_totals import count_tests
from cub.checks.static_tests import list_static_tests
from cub.place.changes import FileChange

TEST_FILE = "tests/test_ovens.py"
CHANGED = TestFiles(paths=(TEST_FILE,))
DELETED = TestFiles(paths=(TEST_FILE,), deleted=(TEST_FILE,))
FAILURE = FailingItem("test", f"{TEST_FILE}::test_heat", "too hot")
OLD = """
def test_heat():
    assert heat(180) == "warm"

def test_cool():
    oven.open()
    assert cool() is None
"""
HEAT = OLD[: OLD.index("def test_cool")]


def _result(log: str, code: int = 0, *items: FailingItem) -> CheckResult:
    return CheckResult("pytest -q", code, items=items, totals=count_tests(log))


def _compare(before: CheckResult, after: CheckResult) -> CheckComparison:
    return compare_check(after, before, is_own=False)


def _find(
    before: CheckResult,
    after: CheckResult,
    files: TestFiles = CHANGED,
    inputs: tuple[str, ...] = (),
) -> RemovedTests | None:
    return find_removed_tests([_compare(before, after)], files, inputs)


@pytest.mark.parametrize(
    ("before", "after", "files", "inputs", "reason"),
    [
        ("5 passed in 1s", "2 passed in 1s", DELETED, (),
         "3 tests of `pytest -q` that ran before no longer run: tests/test_ovens.py was deleted"),
        ("5 passed in 1s", "4 passed, 1 skipped in 1s", CHANGED, (),
         "1 test of `pytest -q` that ran before no longer runs: tests/test_ovens.py was changed"),
        ("5 passed in 1s", "4 passed, 1 xfailed in 1s", TestFiles(), ("conftest.py",) * 2,
         "1 test of `pytest -q` that ran before no longer runs: conftest.py was changed"),
        ("Ran 5 tests in 1s\n\nOK", "Ran 0 tests in 0s\n\nOK", TestFiles(), (),
         "5 tests of `pytest -q` that ran before no longer run"),
        ("5 passed in 1s", "nothing", TestFiles(), (),
         "5 tests of `pytest -q` that ran before no longer run"),
        ("1..3\n# tests 3\n# pass  3", "", TestFiles(), ("package.json",),
         "3 assertions of `pytest -q` that ran before no longer run: package.json was changed"),
        ("1..3\n# tests 3\n# pass  3", "1..2\n# tests 2\n# pass  2", CHANGED, (),
         f"1 assertion of `pytest -q` that ran before no longer runs: {TEST_FILE} was changed"),
        ("", "", DELETED, (), "tests/test_ovens.py was deleted"),
    ],
)  # fmt: skip
def test_fewer_tests_than_before_are_removed_tests(
    before: str, after: str, files: TestFiles, inputs: tuple[str, ...], reason: str
) -> None:
    found = _find(_result(before), _result(after), files, inputs)
    assert found
    assert found.reason == reason
    assert not found.hides_failure


@pytest.mark.parametrize(
    ("before", "after", "files", "inputs"),
    [
        ("5 passed in 1s", "5 passed in 1s", CHANGED, ()),
        ("5 passed in 1s", "9 passed, 2 skipped in 1s", CHANGED, ()),
        # The code under test may lead to fewer assertions.
        ("1..3\n# tests 3\n# pass  3", "1..2\n# tests 2\n# pass  2", TestFiles(), ()),
        # Another runner has taken over.
        ("1..3\n# tests 3\n# pass  3", "ℹ tests 2\nℹ suites 0\nℹ pass 2",  # noqa: RUF001
         TestFiles(), ("package.json",)),
        ("no summary", "none", CHANGED, ("conftest.py",)),
    ],
)  # fmt: skip
def test_as_many_tests_as_before_are_fine(
    before: str, after: str, files: TestFiles, inputs: tuple[str, ...]
) -> None:
    assert _find(_result(before), _result(after), files, inputs) is None


def test_a_tool_may_show_the_log_of_a_failing_run_only() -> None:
    red = _result("1 failed, 4 passed in 1s", 1, FAILURE)
    assert _find(red, _result("all hooks passed")) is None
    assert _find(red, _result("all hooks passed"), inputs=("package.json",))


def test_a_failing_test_of_a_plugin_prints_summaries_of_its_own() -> None:
    red = _result("=== 3 passed in 0.1s ===\n1 failed, 4 passed in 1s", 1, FAILURE)
    assert _find(red, _result("5 passed in 1s")) is None
    assert _find(red, _result("4 passed in 1s"))


def test_a_check_may_select_other_tests_if_none_fail() -> None:
    red = replace(_result("2 failed, 1 passed in 1s", 1, FAILURE), command="pytest --lf")
    green = replace(_result("2 passed in 1s"), command="pytest --lf")
    skipped = replace(_result("2 skipped in 1s"), command="pytest --lf")
    assert _find(red, green) is None
    assert _find(red, skipped)


def test_output_that_is_not_known_as_a_whole_is_not_compared() -> None:
    assert _find(_result("5 passed in 1s"), CheckResult("pytest -q", 0)) is None
    assert _find(CheckResult("pytest -q", 0), _result("5 passed in 1s")) is None


@pytest.mark.parametrize(
    ("before", "after", "files"),
    [
        ("1 failed, 4 passed in 1s", "4 passed in 1s", CHANGED),
        ("not ok 1 - heats", "", DELETED),
        ("1 failed, 4 passed in 1s", "5 passed in 1s",
         TestFiles((TEST_FILE,), vanished=tuple(list_static_tests(TEST_FILE, OLD)))),
    ],
)  # fmt: skip
def test_a_known_failure_that_went_away_with_its_test_is_not_fixed(
    before: str, after: str, files: TestFiles
) -> None:
    found = _find(_result(before, 1, FAILURE), _result(after), files)
    assert found
    assert found.hides_failure


def test_a_known_failure_that_is_fixed_beside_a_removed_test_is_fixed() -> None:
    """The totals say that all of this check's tests ran."""
    red, green = _result("1 failed, 4 passed in 1s", 1, FAILURE), _result("5 passed in 1s")
    found = _find(red, green, TestFiles(("old.test.js",), deleted=("old.test.js",)))
    assert found
    assert not found.hides_failure


def test_an_attempt_that_breaks_the_checks_is_judged_by_them() -> None:
    assert _find(_result("5 passed in 1s"), _result("1 error in 1s", 2, FAILURE)) is None


def _compare_files(old: dict[str, str], new: dict[str, str]) -> TestFiles:
    changes = [FileChange(path, "M" if path in old else "A") for path in new]
    changes += [FileChange(path, "D") for path in old if path not in new]
    return compare_test_files(
        changes,
        lambda paths: {path: old[path].encode() for path in paths},
        lambda path: new[path].encode(),
    )


@pytest.mark.parametrize(
    "new",
    [
        {TEST_FILE: OLD.replace("heat():", "warmth():")},
        {TEST_FILE: OLD.replace('"warm"', '"hot"')},
        {TEST_FILE: OLD + "\ndef test_more():\n    assert True\n"},
        {"tests/test_other.py": OLD},
        {TEST_FILE: HEAT, "tests/test_b.py": OLD.removeprefix(HEAT)},
    ],
)  # fmt: skip
def test_a_test_may_be_renamed_and_moved(new: dict[str, str]) -> None:
    files = _compare_files({TEST_FILE: OLD}, new)
    assert (files.deleted, files.vanished, files.scripts) == ((), (), ())


HEATS = """
def test_warm():
    assert heat(180) == 9

def test_hot():
    assert heat(240) == 12
"""
HEATS_IN_ONE = """import pytest

@pytest.mark.parametrize(("n", "out"), [(180, 9), (240, 12)])
def test_heat(n, out):
    assert heat(n) == out
"""
GO_HEATS = """
func TestWarm(t *testing.T) { is(t, Heat(180), 9) }
func TestHot(t *testing.T) { is(t, Heat(240), 12) }
"""
GO_HEATS_IN_ONE = """
func TestWarm(t *testing.T) {
    for _, c := range []struct{n, out int}{{180, 9}, {240, 12}} { is(t, Heat(c.n), c.out) }
}
"""
JS_HEATS = """
it('warms', () => { expect(heat(180)).toBe(9); });
it('heats', () => { expect(heat(240)).toBe(12); });
"""
JS_BODY = "('heats to $out', (n, out) => { expect(heat(n)).toBe(out); });"
JAVA_HEAT = "@Test\nvoid heats() { assertEquals(9, heat(180)); }"
JAVA_HEAT_WITH_CASE = """
@ParameterizedTest
@CsvSource({"180, 9"})
void heats(int n, int out) { assertEquals(out, heat(n)); }
"""


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (TEST_FILE, HEATS, HEATS_IN_ONE),
        (TEST_FILE, HEATS, HEATS_IN_ONE.replace("test_heat", "test_warm")),
        ("a.test.js", JS_HEATS, f"it.each([[180, 9], [240, 12]]){JS_BODY}"),
        ("a.test.js", JS_HEATS, f"it.each`n|out\n${{180}}|${{9}}\n${{240}}|${{12}}`{JS_BODY}"),
        ("a_test.go", GO_HEATS, GO_HEATS_IN_ONE),
        ("src/test/java/ATest.java", JAVA_HEAT, JAVA_HEAT_WITH_CASE),
    ],
)
def test_tests_may_become_the_cases_of_one(path: str, old: str, new: str) -> None:
    files = _compare_files({path: old}, {path: new})
    assert (files.deleted, files.vanished) == ((), ())


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (
            TEST_FILE,
            HEATS,
            HEATS.replace("def test_hot", "def test_x(): pass\n# def test_hot").replace(
                "    assert heat(240)", "#     assert heat(240)"
            ),
        ),
        ("a.test.js", JS_HEATS, JS_HEATS.replace("it('heats'", "it('is', f);\n// it('heats'")),
        (
            "a.test.js",
            JS_HEATS,
            JS_HEATS.replace("it('heats'", "it('is', f);\n/* it('heats'") + "*/",
        ),
    ],
)
def test_a_test_in_a_comment_is_gone(path: str, old: str, new: str) -> None:
    files = _compare_files({path: old}, {path: new})
    assert [test.name for test in files.vanished] in (["test_hot"], ["heats"])


@pytest.mark.parametrize("word", ["failing", "fails", "skip", "todo"])
def test_a_test_that_is_skipped_or_has_to_fail_is_gone(word: str) -> None:
    old = "it('a', () => eq(heat(1), 2));\nit('b', () => eq(heat(2), 4));\n"
    files = _compare_files(
        {"a.test.js": old}, {"a.test.js": old.replace("it('b'", f"it.{word}('b'")}
    )
    assert [test.name for test in files.vanished] == ["b"]


def test_an_unchanged_test_does_not_stand_for_a_similar_one() -> None:
    old = HEATS.replace("heat(240) == 12", "heat(9) == 180")
    start = old[: old.index("def test_hot")]
    files = _compare_files({TEST_FILE: old}, {TEST_FILE: f"{start}def test_x():\n    pass\n"})
    assert [test.name for test in files.vanished] == ["test_hot"]


def test_a_trivial_test_does_not_stand_for_one_that_is_gone() -> None:
    start = OLD[: OLD.index("def test_cool")]
    files = _compare_files(
        {TEST_FILE: OLD}, {TEST_FILE: f"{start}def test_x():\n    assert True\n"}
    )
    assert [test.name for test in files.vanished] == ["test_cool"]
    found = _find(_result("2 passed in 1s"), _result("2 passed in 1s"), files)
    assert found
    assert found.reason == "test_cool (tests/test_ovens.py) is gone or empty"


def test_a_test_file_may_be_among_the_sources() -> None:
    files = _compare_files({"src/tests.py": OLD}, {"src/tests.py": "def test_x(): pass\n"})
    assert [test.name for test in files.vanished] == ["test_heat", "test_cool"]


def test_a_file_that_is_gone_with_its_tests_is_named_once() -> None:
    files = _compare_files({TEST_FILE: OLD, "tests/data.json": "{}"}, {})
    assert (files.deleted, files.vanished) == ((TEST_FILE,), ())


def test_a_script_is_a_test_if_no_totals_say_otherwise() -> None:
    """`node test/a.js` prints nothing."""
    files = _compare_files(
        {"test/test-a.js": "assert(heat())", "test/data.js": "x", "test/checklist.md": "x"}, {}
    )
    assert files.scripts == ("test/test-a.js",)
    assert _find(_result(""), _result(""), files)
    assert _find(_result("5 passed in 1s"), _result("5 passed in 1s"), files) is None
    moved = _compare_files({"test/test-a.js": "assert(heat())"}, {"test/b.js": "assert(heat())"})
    assert moved.scripts == ()
