"""What holds for definitions in every language."""

from __future__ import annotations

import pytest

from cub.repomap.symbols.definitions import find_definitions
from tests.repomap.grammar_names import GRAMMAR_NAMES, SAMPLES, make_sample
from tests.repomap.symbols.definitions_c import CASES as C
from tests.repomap.symbols.definitions_dynamic import CASES as DYNAMIC
from tests.repomap.symbols.definitions_jvm import CASES as JVM
from tests.repomap.symbols.definitions_python import CASES as PYTHON
from tests.repomap.symbols.definitions_scripts import CASES as SCRIPTS
from tests.repomap.symbols.definitions_systems import CASES as SYSTEMS
from tests.repomap.symbols.shown import lines, shown

CASES = (*C, *DYNAMIC, *JVM, *PYTHON, *SCRIPTS, *SYSTEMS)


@pytest.mark.parametrize(("language", "source", "expected"), CASES)
def test_definitions_have_their_signatures(language: str, source: str, expected: str) -> None:
    assert shown(language, source) == lines(expected)


def test_every_language_has_a_grammar_and_a_sample() -> None:
    assert tuple(SAMPLES) == GRAMMAR_NAMES


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
def test_a_byte_order_mark_and_crlf_change_no_name(language: str) -> None:
    text = make_sample(language)
    plain = find_definitions(language, text)
    marked = find_definitions(language, b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    assert plain
    assert plain[0].name == "f"
    assert marked == plain


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
def test_an_empty_file_defines_nothing(language: str) -> None:
    assert find_definitions(language, b"") == ()


def test_a_language_without_a_grammar_is_not_parsed() -> None:
    assert find_definitions("cobol", b"") is None


def test_a_long_module_of_lua_returns_what_a_short_one_does() -> None:
    start, end = "local M = {}\nfunction M.run() end\n", "return M\n"
    for count in (0, 300, 301, 302, 1_000):
        text = start + "-- So it goes on.\n" * count + end
        assert shown("lua", text) == ["2 function run | function M.run()"]


def test_carriage_returns_are_no_part_of_a_signature() -> None:
    (found,) = find_definitions("python", b"def f(\r\n    a,\r\n    b,\r\n):\r\n    pass\r\n") or ()
    assert found.signature == "def f(a, b)"


def test_overloads_are_kept_once() -> None:
    source = """
    class A {
      int read() {}
      int read(int most) {}
      int other() {}
    }
    """
    expected = """
    1 -class A | class A
    2 -method A.read | int read()
    4 -method A.other | int other()
    """
    assert shown("java", source) == lines(expected)


def test_a_definition_is_preferred_to_its_prototype() -> None:
    source = """
    int twice(int);
    int other(void);
    int twice(int x) { return 2 * x; }
    """
    expected = """
    2 function other | int other(void)
    3 function twice | int twice(int x)
    """
    assert shown("c", source) == lines(expected)


def test_names_of_more_than_100_characters_are_left_out() -> None:
    source = f"def {'a' * 100}(): ...\ndef {'b' * 101}(): ...\n"
    assert [one.name for one in find_definitions("python", source.encode()) or ()] == ["a" * 100]


def test_a_signature_keeps_160_characters() -> None:
    parameters = ", ".join(f"parameter_{number}" for number in range(30))
    (found,) = find_definitions("python", f"def f({parameters}): ...\n".encode()) or ()
    assert len(found.signature) <= 160
    assert found.signature.startswith("def f(parameter_0, parameter_1, ")
    assert found.signature.endswith(", …)")


def test_a_file_of_more_than_10000_definitions_is_cut() -> None:
    source = "".join(f"a{number} = 1\n" for number in range(10_100))
    assert len(find_definitions("python", source.encode()) or ()) == 10_000


def test_the_lines_before_an_error_and_behind_it_count() -> None:
    source = """
    def before(): ...
    broken = = 1
    class After:
        def method(self): ...
    """
    names = [one.rpartition(" | ")[0] for one in shown("python", source)]
    assert {"1 function before", "3 class After", "4 method After.method"} <= set(names)
