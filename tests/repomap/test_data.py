"""The tables of the map have the shape that the code counts on, which checks nothing itself."""

from __future__ import annotations

import re

import pytest

from cub.repomap.data import load_table
from cub.repomap.listing.languages import Language, index_grammars, list_languages
from cub.repomap.outline.conventions import _TOOL_TABLES
from cub.repomap.symbols.identifiers import _IMPORTS, _ORIGINS
from cub.repomap.symbols.language_rules import EXPORT_RULES, MATCH_REWRITERS, SIGNATURE_REWORDERS
from cub.repomap.symbols.signatures import _COMMENTS, _MODIFIERS

LANGUAGES = list_languages()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda row: f"{row.name} {row.grammar}")
def test_each_language_is_of_known_words(language: Language) -> None:
    for value, default in zip(language[2:], Language("", ())[2:], strict=True):
        assert type(value) is (list if default == () and value != () else type(default))
    assert all(ending and not ending.startswith(".") for ending in language.endings)
    assert language.exported in EXPORT_RULES
    assert language.reword in {"", *SIGNATURE_REWORDERS}
    assert language.definitions in {"", "lua", *MATCH_REWRITERS}
    assert {"upper_case", "const"}.issuperset(language.constants)
    assert language.comments in _COMMENTS
    assert language.modifiers in _MODIFIERS
    assert language.imports in _IMPORTS
    is_parsed = bool(language.grammar) and not language.component
    assert bool(language.depth and language.sentinel) is is_parsed
    assert is_parsed or not (language.queries or language.module or language.syntax_checked)


def test_no_two_languages_share_an_ending_or_a_parsed_grammar() -> None:
    endings = [ending for language in LANGUAGES for ending in language.endings]
    assert len(endings) == len(set(endings))
    grammars = [row.grammar for row in LANGUAGES if row.grammar and not row.component]
    assert len(grammars) == len(set(grammars))


def test_each_word_of_the_code_is_one_of_a_language() -> None:
    parsed = list(index_grammars().values())
    assert {row.exported for row in parsed} == set(EXPORT_RULES)
    assert {row.reword for row in parsed} == {"", *SIGNATURE_REWORDERS}
    assert {row.comments for row in parsed} == set(_COMMENTS)
    assert {row.modifiers for row in parsed} == set(_MODIFIERS)
    assert {row.imports for row in parsed} == set(_IMPORTS)
    assert set(_ORIGINS) < set(_IMPORTS)


def test_the_rules_of_key_files_are_patterns() -> None:
    parts = dict(load_table("key_files"))
    paths = parts.pop("entry_points")
    assert list(paths) == ["program", "library"]
    assert all(re.compile(one).groups == 0 for one in [*paths["program"], *paths["library"]])
    assert list(parts) == ["about", "parts", "around"]
    for rules in parts.values():
        assert len({rule["what"] for rule in rules}) == len(rules)
        for rule in rules:
            assert set(rule) <= {"what", "patterns", "prose", "most", "anywhere"}
            assert all(re.compile(pattern).groups == 0 for pattern in rule["patterns"])
            assert rule.get("most", 1) > 0


def test_the_tools_of_conventions_have_patterns() -> None:
    tables = load_table("conventions")
    assert list(tables) == [*_TOOL_TABLES, "strict"]
    for name in _TOOL_TABLES:
        for tool, files in tables[name].items():
            assert tool.strip() == tool != ""
            assert not re.fullmatch(files or "-", "")
    for row in tables["strict"]:
        assert set(row) == {"file", "pattern", "checker"}
        re.compile(row["pattern"], re.MULTILINE)
