"""What the sources hold to so that they run on Windows and macOS, where no test here runs."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from cub.cli import output, terminal

CUB = Path(__file__).parents[1] / "cub"
SOURCES = sorted(CUB.rglob("*.py"))
_POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
_FINE = ("as_posix", "parts")


def _parsed(source: Path) -> ast.Module:
    """The syntax tree of a file; every node knows the one around it."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return tree


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """The syntax trees of all sources. They are large: no module that tests import has them."""
    return {source.relative_to(CUB).as_posix(): _parsed(source) for source in SOURCES}


def _at_import(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports when it is imported itself."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        statement = todo.pop()
        if isinstance(statement, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield (statement.module or "").partition(".")[0]
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            todo += statement.body


def _calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """The calls of functions and methods with these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in names:
                yield node


def _taken(node: ast.AST) -> str:
    """The attribute that is taken of a value; "" for none."""
    parent = getattr(node, "parent", None)
    return parent.attr if isinstance(parent, ast.Attribute) else ""


def _said(function: ast.FunctionDef) -> Iterator[str]:
    """Arguments of a function that are `Path`, and that it makes words of as they are."""
    arguments = [*function.args.args, *function.args.kwonlyargs]
    paths = {a.arg for a in arguments if a.annotation and ast.unparse(a.annotation) == "Path"}
    words = [node.value for node in ast.walk(function) if isinstance(node, ast.FormattedValue)]
    words += [call.args[0] for call in _calls(function, "str") if call.args]
    yield from (node.id for node in words if isinstance(node, ast.Name) and node.id in paths)


def test_no_module_needs_what_windows_lacks(trees: dict[str, ast.Module]) -> None:
    found = {name: {*_at_import(tree)} & _POSIX_ONLY for name, tree in trees.items()}
    assert {name for name, modules in found.items() if modules} == set()


def test_paths_below_a_folder_become_words_with_slashes(trees: dict[str, ast.Module]) -> None:
    calls = ((n, call) for n, tree in trees.items() for call in _calls(tree, "relative_to"))
    odd = [(name, ast.unparse(call)) for name, call in calls if _taken(call) not in _FINE]
    assert odd == []


def test_folders_in_messages_and_in_json_have_slashes(trees: dict[str, ast.Module]) -> None:
    functions = (
        (name, node)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )
    assert [(name, f.name, word) for name, f in functions for word in _said(f)] == []


def test_paths_of_the_project_are_joined_with_slashes() -> None:
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        assert "os.path.join" not in text
        assert "os.altsep" not in text
        assert text.count("os.sep") == text.count('.replace(os.sep, "/")')


def test_text_is_read_and_written_with_an_encoding(trees: dict[str, ast.Module]) -> None:
    calls = ((n, c) for n, tree in trees.items() for c in _calls(tree, "read_text", "write_text"))
    odd = [(n, ast.unparse(c)) for n, c in calls if "encoding" not in {k.arg for k in c.keywords}]
    assert odd == []


def test_there_are_sources() -> None:
    assert len(SOURCES) > 40


def test_what_is_printed_has_lf_even_where_text_streams_write_crlf() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8", newline="\r\n")
    with redirect_stdout(stream), redirect_stderr(stream):
        terminal.configure_streams()
        output.print_line("--- a/x")
        output.print_line("+++ b/x")
    assert written.getvalue() == b"--- a/x\n+++ b/x\n"
    stream.close()
