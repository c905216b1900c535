"""Syntax errors: found where a grammar can be relied on, and nowhere else."""

from __future__ import annotations

import pytest

from cub.repomap.listing.languages import index_grammars
from cub.repomap.symbols.syntax_errors import SyntaxFault, find_syntax_error

_BROKEN = {
    "python": b"x = 1\ndef broken(:\n",
    "javascript": b"let x = 1\nfunction f( {\n",
    "typescript": b"let x: number = 1\nlet y: = ) 1\n",
    "tsx": b"let x = 1\nconst a = <b>\n",
    "go": b"package a\nfunc f( {\n",
    "rust": b"fn a() {}\nfn f( {\n",
    "java": b"class A {}\nclass B { void f( { }\n",
    "php": b"<?php\nfunction f( {\n",
    "ruby": b"x = 1\ndef f(\n",
    "lua": b"x = 1\nfunction f(\n",
    "scala": b"object A\nclass B(\n",
}
_SOUND = {
    "python": b"x = 1\ndef fine(): pass\n",
    "javascript": b"let x = 1\nfunction f() {}\n",
    "typescript": b"let x: number = 1\n",
    "tsx": b"const a = <b></b>\n",
    "go": b"package a\nfunc f() {}\n",
    "rust": b"fn f() {}\n",
    "java": b"class B { void f() { } }\n",
    "php": b"<?php\nfunction f() {}\n",
    "ruby": b"def f()\nend\n",
    "lua": b"function f() end\n",
    "scala": b"class B(a: Int)\n",
}


def test_every_judged_language_has_its_case() -> None:
    checked = {name for name, language in index_grammars().items() if language.syntax_checked}
    assert set(_BROKEN) == set(_SOUND) == checked


@pytest.mark.parametrize("language", _BROKEN)
def test_an_error_is_found_in_its_line(language: str) -> None:
    fault = find_syntax_error(language, _BROKEN[language])
    assert fault is not None
    assert fault.line == 2


@pytest.mark.parametrize("language", _SOUND)
def test_a_sound_file_has_none(language: str) -> None:
    assert find_syntax_error(language, _SOUND[language]) is None
    assert find_syntax_error(language, b"") is None


@pytest.mark.parametrize("language", _SOUND)
def test_what_is_missing_at_the_end_of_a_long_file_is_found(language: str) -> None:
    text = _SOUND[language] + b"\n" * 5_000 + _BROKEN[language].split(b"\n")[1]
    fault = find_syntax_error(language, text)
    assert fault is not None
    assert fault.line <= text.count(b"\n") + 1


def test_python_says_what_is_wrong() -> None:
    expected = SyntaxFault(1, "SyntaxError: '(' was never closed")
    assert find_syntax_error("python", b"print(1\n") == expected


@pytest.mark.parametrize(
    "text",
    [b"print 'Python 2'\n", b"exec 'x' in y\n", b"(" * 5_000],
    ids=["print", "exec", "deep"],
)
def test_where_python_and_the_grammar_differ_nobody_knows(text: bytes) -> None:
    assert find_syntax_error("python", text) is None


@pytest.mark.parametrize("language", ["c", "cpp", "csharp", "kotlin", "swift", "bash", ""])
def test_grammars_that_err_too_often_are_not_asked(language: str) -> None:
    assert find_syntax_error(language, b"def broken(:\n((\n") is None
