from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.agent.shell_commands import UNKNOWN, UNKNOWN_TEXT, Redirection, read_command_line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 'b c' \"d e\"", ["a", "b c", "d e"]),
        ("a\\ b c\\\nd", ["a b", "cd"]),
        ("r\"m\" 'x'y\"\"", ["rm", "xy"]),
        ("a '' \"\"", ["a", "", ""]),
        ("a $'\\x72\\155\\n\\e' $'it\\'s'", ["a", "rm\n\x1b", "it's"]),
        ('a "\\$x \\a \\\\ b"', ["a", "$x \\a \\ b"]),
        ("a {b,c} d{e,{f,g}}h", ["a", "b", "c", "deh", "dfh", "dgh"]),
        ("a '{b,c}' {b\\,c} {b} {}", ["a", "{b,c}", "{b,c}", "{b}", "{}"]),
        ('a$IFS-b${IFS}c "$IFS"', ["a", "-b", "c", UNKNOWN_TEXT]),
        ('a $x "b$y" z`date`', ["a", UNKNOWN, f"b{UNKNOWN_TEXT}", f"z{UNKNOWN}"]),
        ("a ~ ~/x ~root '*' *.py", ["a", "~", "~/x", f"{UNKNOWN}~root", "*", "*.py"]),
        ("a x=y $ == -- -", ["a", "x=y", "$", "==", "--", "-"]),
    ],
)  # fmt: skip
def test_words_are_those_that_the_program_gets(text: str, words: list[str]) -> None:
    assert list(read_command_line(text).commands[0].words) == words


@pytest.mark.parametrize(
    ("text", "redirections"),
    [
        ("a > b 2>&1", [Redirection("b", "write")]),
        ("a &>> 'b c' < d", [Redirection("b c", "append"), Redirection("d")]),
        ("a 2>&- >&3 <&4", []),
        ("a >& b; c >| d", [Redirection("b", "write"), Redirection("d", "write")]),
        ("{ a; b; } > c", [Redirection("c", "write")]),
        ("a <<< x", []),
    ],
)
def test_redirections_name_their_files(text: str, redirections: list[Redirection]) -> None:
    assert list(read_command_line(text).redirections) == redirections


@pytest.mark.parametrize(
    "text",
    [
        "a \\", "a 'b", "a (b)", "a\rb", "a\x0bb", "a\u2028b", "a <<E\nx", "((a))",
        "a[1]=b", "a() { b; }", "a=(b)", "$\na b", "PATH=b", "export a=b",
        "a $((b))", "a ${b@P}", "a ${b:=c}", "a ${!b}",
        "a <<E; b <<F\nE\nF", "a <<E\n`b`\nE", "a {1..3}", "a > b{c,d}", "[[ a -eq b ]]", "a\\\nb",
        "for PATH in a; do b; done", "select a in b; do c; done", "a !(b)", "a " + "b" * 30_000,
    ],
)  # fmt: skip
def test_what_bash_may_read_otherwise_is_not_certain(text: str) -> None:
    assert not read_command_line(text).is_certain


@given(st.text(max_size=80))
@example("\U000a9350\xad*~\U000b94d2\u0132{\U00107d48@")  # the grammar alone crashes
def test_any_text_can_be_read(text: str) -> None:
    for command in read_command_line(text).commands:
        assert command.words


@given(
    st.lists(
        st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"]), min_size=1),
        min_size=1,
    )
)
def test_quoted_words_are_read_back(words: list[str]) -> None:
    line = read_command_line(shlex.join(["a", *words]))
    assert line.is_certain
    assert list(line.commands[0].words) == ["a", *words]
