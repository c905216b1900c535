"""Why a command failed, by what real runtimes print: golden/checks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.checks.failure_reasons import MAX_REASON, find_first_error, find_last_error, find_reason
from tests.checks.samples import SAMPLES as NAMES
from tests.checks.samples import read_sample
from tests.examples import few_examples

SAMPLES = {
    "node/assertion": (
        "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 200 !== 180 "
        "(/home/ada/bakery/assert.js:3)"
    ),
    "node/cause": "Error: no bread today (/home/ada/bakery/cause.mjs:2)",
    "node/crash": "RangeError: too hot: 400 (/home/ada/bakery/oven.js:2)",
    "node/crash-npm": "RangeError: too hot: 400 (/home/ada/bakery/oven.js:2)",
    "node/json": (
        "SyntaxError: Expected property name or '}' in JSON at position 1 "
        "(/home/ada/bakery/json.js:1)"
    ),
    "node/module-missing": (
        "Error: Cannot find module './no-such-oven' (/home/ada/bakery/missing.js:1)"
    ),
    "node/rejection": "Error: too hot (/home/ada/bakery/reject.js:1)",
    "node/rejection-value": 'UnhandledPromiseRejection: "the oven is cold"',
    "node/script-missing": 'npm error Missing script: "tset"',
    "node/syntax": "SyntaxError: Unexpected token '{' (/home/ada/bakery/syntax.js:2)",
    "node/syntax-npm": "SyntaxError: Unexpected token '{' (/home/ada/bakery/syntax.js:2)",
    "node/syntax-shell": "SyntaxError: Unexpected token '{' (/home/ada/bakery/syntax.js:2)",
    "node/thrown-text": "cold (/home/ada/bakery/string.js:1)",
    "ruby/abort": "the oven is cold",
    "ruby/cause": "ArgumentError: no bread today (cause.rb:4)",
    "ruby/crash": "ArgumentError: too hot: 400 (throws.rb:2)",
    "ruby/module-missing": "LoadError: cannot load such file -- no_such_oven (missing.rb:1)",
    "ruby/nil": "NoMethodError: undefined method `heat' for nil:NilClass (nil.rb:2)",
    "ruby/rake": "ArgumentError: too hot: 400 (throws.rb:2)",
    "ruby/rake-raises": "no oven",
    "ruby/syntax": (
        "syntax.rb:2: syntax error, unexpected local variable or method, expecting ')'"
    ),
    "java/class-missing": "Error: Could not find or load main class NoSuchClass",
    "java/crash": "java.lang.RuntimeException: no bread (Throws.java:8)",
    "java/null": (
        'java.lang.NullPointerException: Cannot invoke "String.length()" because "<local1>" is '
        "null (Null.java:4)"
    ),
    "java/syntax": "Syntax.java:2: error: ';' expected",
    "bash/command-missing": "command.sh: line 3: no_such_oven: command not found",
    "bash/file-missing": "cat: no-such-recipe: No such file or directory",
    "bash/syntax": "syntax.sh: line 4: syntax error near unexpected token `}'",
    "bash/unset": "unset.sh: line 3: OVEN: unbound variable",
    "bash/unset-make": "unset.sh: line 3: OVEN: unbound variable",
    "dash/command-missing": "command.sh: 3: no_such_oven: not found",
    "dash/syntax": 'syntax.sh: 4: Syntax error: "}" unexpected (expecting "fi")',
    "dash/unset": "unset.sh: 3: OVEN: parameter not set",
    "python/assertion": "AssertionError (/home/ada/bakery/asserts.py:2)",
    "python/cause": "RuntimeError: no bread today (/home/ada/bakery/chained.py:8)",
    "python/crash": "ValueError: too hot: 400 (/home/ada/bakery/throws.py:3)",
    "python/group": ("ExceptionGroup: two ovens (2 sub-exceptions) (/home/ada/bakery/group.py:1)"),
    "python/library": (
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 "
        "column 2 (char 1) (/home/ada/bakery/deep.py:2)"
    ),
    "python/lines": "ValueError: too hot: 400 degrees (/home/ada/bakery/multi.py:1)",
    "python/module-missing": (
        "ModuleNotFoundError: No module named 'no_such_oven' (/home/ada/bakery/missing.py:1)"
    ),
    "python/syntax": "SyntaxError: '(' was never closed",
    "python/syntax-imported": "SyntaxError: '(' was never closed (/home/ada/bakery/syntax.py:1)",
    "go/run-fatal": "2026/11/22 17:44:05 the oven is cold",
    "go/run-nil": (
        "panic: runtime error: invalid memory address or nil pointer dereference "
        "(/home/ada/bakery/nilmap/main.go:7)"
    ),
    "go/run-panic": "panic: too hot: 400 (/home/ada/bakery/throws/main.go:7)",
    "ordinary/argparse": "bake.py: error: the following arguments are required: loaves",
    "ordinary/python-traceback": "ValueError: too hot: 999 (/home/ada/bakery/app.py:6)",
    "ordinary/rust-panic": ("index out of bounds: the len is 0 but the index is 3 (src/main.rs:1)"),
}
RUNTIMES = ("bash/", "dash/", "java/", "node/", "python/", "ruby/")
LINES = sorted(
    {line for name in NAMES if name.startswith(RUNTIMES) for line in read_sample(name).split("\n")}
)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_reason_is_what_is_wrong(name: str) -> None:
    assert find_reason(read_sample(name)) == SAMPLES[name]
    colored = "\x1b[31m" + read_sample(name).replace("\n", "\x1b[0m\r\n\x1b[31m")
    assert find_reason(colored) == SAMPLES[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_what_stands_around_it_changes_nothing(name: str) -> None:
    around = f"> bake@1.0.0 test\n> make test\n\nheating\n{read_sample(name)}\nexit status 1\n"
    around += "make[1]: *** [Makefile:2: test] Error 1\nmake: Leaving directory '/home/ada'\n"
    around += "error Command failed with exit code 1.\n ELIFECYCLE  Test failed.\n"
    assert find_reason(around) == SAMPLES[name]


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("", ""),
        ("\n \n", ""),
        ("3 problems\n", "3 problems"),
        ("checking\n0 errors\nFailed: 0, passed: 7\n2 loaves are burnt\n", "2 loaves are burnt"),
        ("oven: error: too hot\noven: error: no flour\nsee oven.log\n", "oven: error: too hot"),
        ("[ERROR] no flour\n[ERROR] BUILD FAILURE\n", "[ERROR] no flour"),
        ("make: *** No rule to make target 'tset'.  Stop.\n",
         "make: *** No rule to make target 'tset'.  Stop."),
        ("}\n\n  ^^^\n", "^^^"),
        ("thread 'main' panicked at 'no flour', src/main.rs:3:5\nnote: run with `X=1`\n",
         "no flour (src/main.rs:3)"),
    ],
)  # fmt: skip
def test_where_no_runtime_tells_it(output: str, reason: str) -> None:
    assert find_reason(output) == " ".join(reason.split())


def test_the_last_words_of_a_program_are_those_before_its_end() -> None:
    assert find_last_error(read_sample("node/crash")) == "RangeError: too hot: 400"
    assert (
        find_last_error("error: no token yet\nwaiting\nno flour\nNode.js v20.1.0\n") == "no flour"
    )
    assert find_last_error("exit status 1\n") == "exit status 1"


def test_the_first_error_stands_before_the_usage_of_a_program() -> None:
    usage = "Usage: bake [options]\n  --log-level  [choices: INFO, ERROR]\n"
    assert find_first_error(f"error: unexpected argument '-x' found\n{usage}").startswith(
        "error: un"
    )
    assert find_first_error(f"{usage}bake: error: unrecognized arguments: -x\n").startswith(
        "bake: "
    )
    assert find_first_error(f"\n{usage}") == "Usage: bake [options]"
    assert find_first_error(read_sample("node/crash")) == "RangeError: too hot: 400"
    assert find_first_error("") == ""
    assert find_last_error("") == ""


def test_a_reason_is_one_line_and_short() -> None:
    found = find_reason("Traceback (most recent call last):\nValueError: " + "hot " * 900)
    assert len(found) == MAX_REASON
    assert found.endswith("…")


@few_examples
@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_lines_of_runtimes_in_any_order_have_a_reason(lines: list[str]) -> None:
    for found in (find_reason("\n".join(lines)), find_last_error("\n".join(lines))):
        assert len(found) <= MAX_REASON
        assert "\n" not in found
        assert bool(found) or not "".join(lines).strip()


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(find_reason(text)) <= MAX_REASON
