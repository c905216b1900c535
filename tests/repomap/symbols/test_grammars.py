"""Grammars are loaded when they are needed, and may be missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.repomap.symbols.definitions import find_definitions
from cub.repomap.symbols.grammars import load_grammar
from tests.conftest import environment
from tests.repomap.grammar_names import GRAMMAR_NAMES, QUERY_NAMES


def run(code: str, home: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(home),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("language", GRAMMAR_NAMES)
def test_each_language_is_loaded_once(language: str) -> None:
    known = load_grammar(language)
    assert known is not None
    assert known is load_grammar(language)


def test_each_query_is_of_a_language() -> None:
    folder = Path(sys.modules[load_grammar.__module__].__file__ or "").parent / "queries"
    assert sorted(QUERY_NAMES) == sorted(path.stem for path in folder.iterdir())


def test_a_grammar_that_is_not_installed_costs_its_language_alone(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["tree_sitter_lua"] = None
from cub.repomap.symbols.definitions import find_definitions as definitions
print(definitions("lua", b"function f() end"), len(definitions("python", b"a = 1")))
"""
    assert run(code, tmp_path) == "None 1"


def test_without_tree_sitter_nothing_is_parsed(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["tree_sitter"] = None
from cub.repomap.symbols.definitions import find_definitions as definitions
print(definitions("python", b"a = 1"))
"""
    assert run(code, tmp_path) == "None"


def test_only_the_grammar_of_a_file_is_imported(tmp_path: Path) -> None:
    code = """
import sys
from cub.repomap.symbols.definitions import find_definitions as definitions
before = [name for name in sys.modules if name.startswith("tree_sitter")]
definitions("go", b"package a")
print(before, sorted(name for name in sys.modules if name.startswith("tree_sitter_")))
"""
    assert run(code, tmp_path) == "[] ['tree_sitter_go', 'tree_sitter_go._binding']"


def test_characters_beyond_ascii_do_not_crash_a_scanner_that_knows_no_others() -> None:
    text = "größe() { :; }\n# 🥖\necho {\U0010ffff\n".encode()
    assert [one.name for one in find_definitions("bash", text) or ()] == ["größe"]
