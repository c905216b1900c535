from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cub.checks.failing_items import (
    FailingItem,
    compare_items,
    fingerprint_items,
    fingerprint_output,
    mask_volatile,
)
from tests.examples import few_examples

WORDS = st.text(st.sampled_from("abc xyz[]()'=,"), max_size=20)
ITEMS = st.builds(
    FailingItem,
    st.sampled_from(["test", "error", "build", "type", "lint"]),
    st.sampled_from(["tests/test_a.py::test_x", "tests/test_a.py::test_x[1]", "a.c:1:2", "a.c:3"]),
    st.sampled_from(["", "assert 1 == 2", "assert 1 == 3", "no flour"]),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no flour", "no flour"),
        ("got 3 of 12.5, not -1e-05", "got <number> of <number>, not <number>"),
        ("at 0x7f876a1c54b0>", "at <address>>"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id <uuid>"),
        ("commit 59807616e1fa2540724bfbac14d7976d7e4a3860", "commit <hex>"),
        ("took 1.5s", "took <duration>"),
        ("took 1m 30s", "took <duration>"),
        ("took 250 ms", "took <duration>"),
        ("on 2026-11-21T09:54:29.676162+00:00", "on <time>"),
        ("on 2026-11-21 09:54:29,570", "on <time>"),
        ("at 09:54:29", "at <time>"),
        ("on Nov 21 09:54:29 2026", "on <time>"),
        ("in ovens.py:12", "in ovens.py<line>"),
        ("in ovens.py:12:5: too hot", "in ovens.py<line>: too hot"),
        ("in /tmp/pytest-of-ada/pytest-12/test_x0/a.txt", "in <tmp>/a.txt"),
        ("in /tmp/tmpab3_x/a.txt'", "in <tmp>/a.txt'"),
        ("in /var/folders/zz/abc123/T/tmpab/a.txt", "in <tmp>/a.txt"),
        ("in /private/var/folders/zz/abc123/T/tmpab/a.txt", "in <tmp>/a.txt"),
        (r"in C:\Users\ada\AppData\Local\Temp\tmpab\a.txt", r"in <tmp>\a.txt"),
        ("seed=12345", "seed=<number>"),
        ("a decade, a facade, Mayor", "a decade, a facade, Mayor"),
    ],
)
def test_what_differs_by_chance_is_masked(text: str, expected: str) -> None:
    assert mask_volatile(text) == expected


@few_examples
@given(st.text())
def test_any_text_can_be_masked(text: str) -> None:
    assert not [sign for sign in mask_volatile(text) if sign in "0123456789"]


@few_examples
@given(st.lists(ITEMS), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(items: list[FailingItem], random: Random) -> None:
    shuffled = [*items, *items[:2]]
    random.shuffle(shuffled)
    assert fingerprint_items(shuffled) == fingerprint_items(items)


@few_examples
@given(
    WORDS, st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 10**6), st.floats(0, 10**6)
)
def test_lines_numbers_durations_and_addresses_do_not_matter(
    words: str, one: int, two: int, first: float, second: float
) -> None:
    def told(number: int, seconds: float) -> str:
        message = f"{words} at {number:#x}, line {number}, a.py:{number}: {seconds:.3f} s, {number}"
        return fingerprint_items([FailingItem("lint", f"a.py:{number}:{number}", message)])

    assert told(one, first) == told(two, second)


@few_examples
@given(st.text(max_size=8), st.text(max_size=8))
def test_different_names_of_tests_differ(one: str, two: str) -> None:
    assume(one != two)
    first, second = (
        FailingItem("test", f"tests/test_a.py::test_x[{name}]", "no") for name in (one, two)
    )
    assert fingerprint_items([first]) != fingerprint_items([second])
    assert compare_items([first], [second]) == ((second,), (first,), ())


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("tests/a.py::test_a1", "tests/a.py::test_a2"),
        ("tests/a.py::test_a[1]", "tests/a.py::test_a[2]"),
        ("shop.TestClock/10:30", "shop.TestClock/10:45"),
        ("src/a1.ts:1:1", "src/a2.ts:1:1"),
    ],
)
def test_numbers_in_names_matter(one: str, two: str) -> None:
    assert fingerprint_items([FailingItem("test", one, "")]) != fingerprint_items(
        [FailingItem("test", two, "")]
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("src/a.ts:1:5", "src/a.ts:12:9"),
        ("src/a.py:1", "src/a.py:2"),
        ("src/lib.rs - heat (line 5)", "src/lib.rs - heat (line 8)"),
    ],
)
def test_lines_at_the_end_of_a_name_do_not_matter(one: str, two: str) -> None:
    before, after = FailingItem("type", one, "no"), FailingItem("type", two, "no")
    assert fingerprint_items([before]) == fingerprint_items([after])
    assert compare_items([before], [after]) == ((), (), (after,))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("test_u.T.test_a (path='/tmp/tmp1a/x')", "test_u.T.test_a (path='/tmp/tmp2b/x')"),
        ("a.test.js > bakes in /tmp/bread-Xy1", "a.test.js > bakes in /tmp/bread-Zz2"),
        (
            "test_a[8b713da0-9c30-45a3-bb1f-bf6b7bdf56fa]",
            "test_a[7b50ab49-c6df-43a9-a093-36964b999c75]",
        ),
        ("test_a (<Oven at 0x7ff8>)", "test_a (<Oven at 0x7aa9>)"),
    ],
)
def test_a_name_with_a_temporary_path_or_an_address_is_no_new_test(one: str, two: str) -> None:
    before, after = FailingItem("test", one, ""), FailingItem("test", two, "")
    assert compare_items([before], [after]) == ((), (), (after,))


def test_other_messages_are_other_failures() -> None:
    one, two = (FailingItem("test", "test_x", message) for message in ("no flour", "no oven"))
    assert fingerprint_items([one]) != fingerprint_items([two])


def test_without_items_the_tail_counts() -> None:
    assert fingerprint_items([]) == fingerprint_items([], " \n") == ""
    assert fingerprint_items([], "killed after 3 s\n") == fingerprint_items(
        [], "killed after 14.5 s"
    )
    assert fingerprint_items([], "killed") != fingerprint_items([], "crashed")
    item = FailingItem("test", "test_x", "")
    assert fingerprint_items([item], "killed") == fingerprint_items([item])
    assert len(fingerprint_items([item])) == 16


def test_a_test_is_the_same_however_it_fails() -> None:
    before = [FailingItem("test", "test_x", "no flour"), FailingItem("test", "test_y", "")]
    after = [FailingItem("error", "test_x", "no oven"), FailingItem("test", "test_z", "")]
    assert compare_items(before, after) == ((after[1],), (before[1],), (after[0],))


def test_of_findings_that_look_alike_each_counts() -> None:
    before = [FailingItem("lint", f"a.py:{line}:1", "F401 unused") for line in (1, 2, 3)]
    after = [FailingItem("lint", f"a.py:{line}:1", "F401 unused") for line in (5, 6)]
    assert compare_items(before, after) == ((), (before[2],), tuple(after))


@few_examples
@given(st.lists(ITEMS), st.lists(ITEMS))
def test_nothing_is_lost_in_a_comparison(
    before: list[FailingItem], after: list[FailingItem]
) -> None:
    change = compare_items(before, after)
    assert sorted(change.new + change.unchanged) == sorted(after)
    assert len(change.fixed) + len(change.unchanged) == len(before)
    assert compare_items(after, after) == ((), (), tuple(after))
    assert [len(part) for part in compare_items(after, before)[:2]] == [
        len(change.fixed),
        len(change.new),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("py: OK (1.23=setup[0.9]+cmd[0.3] seconds)", "py: OK (0.4=setup[0.02]+cmd[0.38] seconds)"),
        ("py: install_deps> pip install pytest\npy: FAIL", "py: FAIL"),
        ("py: exit 1 (2 seconds) /a> pytest pid=12", "py: exit 1 (3 seconds) /a> pytest pid=13"),
        ("/a/.tox/.tmp/package/1/a.tar.gz", "/a/.tox/.tmp/package/2/a.tar.gz"),
        ("# duration_ms 45.1", "# duration_ms 7"),
        ("  duration_ms: 18.057794", "  duration_ms: 6.5"),
        ('{"duration": 12, "at": 1766666666123}', '{"duration": 9, "at": 1766666667456}'),
        ("    ✓ mixes the dough (75ms)", "    ✓ mixes the dough"),
        ("log: /root/.npm/_logs/2026-11-26T20_27_52_009Z-debug-0.log",
         "log: /root/.npm/_logs/2026-11-27T00_00_00_123Z-debug-0.log"),
        ("(node:4711) Warning: old", "(node:815) Warning: old"),
        ("in coverage-12-1766666666123-0.json", "in coverage-7-1766666666999-1.json"),
        ("Time: 00:00.012, Memory: 6.00 MB", "Time: 00:01.999, Memory: 8.00 MB"),
        ("Randomized with seed 4242", "Randomized with seed 17"),
        ("Using --randomly-seed=123", "Using --randomly-seed=99"),
        ("in 0.001s, 5000.0 runs/s, 10000 assertions/s.", "in 0.1s, 50.0 runs/s, 99 assertions/s."),
        ("Total time: 1.2345 Seconds", "Total time: 2.3 Seconds"),
        ("ok  \ta/b\t0.012s", "ok  \ta/b\t(cached)"),
        ("Passed    9.98 sec", "Passed   10.02 sec"),
        ("/dev/shm/x1/a: bad", "/dev/shm/y22/a: bad"),
        ("real\t0m0.123s", "real\t0m1.456s"),
        ("elapsed time: 0.1234", "elapsed time: 0.2"),
        ("Run time = 0.1234", "Run time = 0.2345"),
        ("Time: 0.524 s, estimated 1 s", "Time: 1.2 s"),
        ("10/10 [00:01<00:00, 9.1it/s]", "10/10 [00:02<00:00, 5.3it/s]"),
        ("sh: line 1: 4711 Segmentation fault ./t", "sh: line 1: 815 Segmentation fault ./t"),
        ("==4711== Invalid read", "==815== Invalid read"),
        ("thread 'main' (4711) panicked at a.rs", "thread 'main' (815) panicked at a.rs"),
        ('  File "/p/a.py", line 3, in <module>', '  File "/p/a.py", line 9, in <module>'),
        ("    at bake (/p/a.js:3:9)", "    at bake (/p/a.js:12:9)"),
        ("/p/a.js:3\n  throw", "/p/a.js:4\n  throw"),
    ],
)  # fmt: skip
def test_an_output_is_the_same_but_for_times_and_paths(before: str, after: str) -> None:
    assert fingerprint_output(f"{before}\nend") == fingerprint_output(f"{after}\nend")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("3 problems", "2 problems"),
        ("duration is wrong: 3", "duration is wrong: 4"),
        ("expected 00:12, got 3", "expected 00:12, got 4"),
        ("a.py:3: bad", "a.py:4: bad"),
        ("✓ mixes (dough)", "✓ mixes"),
        ("pid file missing", "lock file missing"),
        ("a.js:3:1 bad", "a.js:4:1 bad"),
        ("4 Killed bees, 1 left", "4 Killed bees, 2 left"),
    ],
)
def test_an_output_is_another_if_it_says_something_else(before: str, after: str) -> None:
    assert fingerprint_output(before) != fingerprint_output(after)


def test_a_long_output_is_read_in_linear_time() -> None:
    hostile = ("x" * 30_000, "1" * 30_000, "_a" * 15_000, "1=a[1]+" * 4_000, "a: " * 10_000)
    assert len(set(map(fingerprint_output, hostile))) == len(hostile)
