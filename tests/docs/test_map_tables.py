"""What docs/explanation/map.md says in numbers is what the code reckons with."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cub.repomap.listing.file_kinds import FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.ranking.reference_graph import (
    USER_FACTORS,
    build_reference_graph,
    list_graph_files,
)
from cub.repomap.ranking.symbol_rank import (
    DAMPING,
    INDEX_FILE_FACTOR,
    INNER_INDEX_FILE_FACTOR,
    MEMBER_FACTOR,
    RANK_POWER,
    VARIABLE_FACTOR,
)
from cub.repomap.render.map_body import _ABOUT, _COMMANDS, _LAYOUT, _SYMBOLS, TOKEN_MARGIN
from cub.repomap.render.symbol_lines import SIGNATURE_SHARE, SIGNATURE_WIDTH
from cub.repomap.symbols.file_facts import Definition, FileFacts
from cub.repomap.symbols.scan import MAX_SOURCE_BYTES
from tests.docs.pages import DOCS
from tests.docs.test_tables import rows
from tests.repomap.grammar_names import GRAMMAR_NAMES

PAGE = DOCS / "explanation" / "map.md"
TEXT = " ".join(PAGE.read_text(encoding="utf-8").split())

# For each column of the table: a name, and the class that it is a member of.
COLUMNS = [("bake_bread", ""), ("bake", ""), ("bake_bread", "Oven"), ("bake", "Oven")]
# For each row: where the user stands, what it says, and what it imports.
USERS = {
    "names it with its module": ("shop/sale.py", "{owner}.{name}", ""),
    "imports its module": ("shop/sale.py", "{said}", "oven"),
    "imports its name": ("shop/sale.py", "{said}", "{name}"),
    "imports from its directory": ("shop/sale.py", "{said}", "kitchen"),
    "is in the same directory": ("kitchen/cook.py", "{said}", ""),
    "says its name": ("shop/sale.py", "{said}", ""),
}


def references(path: str, facts: FileFacts, *definitions: Definition) -> list[tuple[str, Fraction]]:
    """Why and how much a file refers to definitions, each in an oven.py of its own."""
    defined = [
        (f"kitchen{n or ''}/oven.py", FileKind.SOURCE, FileFacts("", "", (definition,)))
        for n, definition in enumerate(definitions)
    ]
    graph = build_reference_graph(list_graph_files([*defined, (path, FileKind.SOURCE, facts)]))
    found = [use for uses in graph.uses for use in uses.values()]
    return [(reason, Fraction(weight)) for weight, reason in found]


def definition_of(name: str, owner: str = "") -> Definition:
    return Definition(name, "function", 1, f"def {name}()", owner)


def test_each_kind_of_evidence_weighs_what_the_page_says() -> None:
    table = {row[0]: row[1:] for row in rows(PAGE, "The file that refers")}
    assert list(table) == list(USERS)
    for reason, cells in table.items():
        path, says, imports = USERS[reason]
        for cell, (name, owner) in zip(cells, COLUMNS, strict=True):
            words = {"name": name, "said": f".{name}" if owner else name, "owner": owner or "oven"}
            facts = FileFacts(says.format(**words), imports.format(**words))
            found = references(path, facts, definition_of(name, owner))
            if cell:
                assert found == [(reason, Fraction(cell))], (reason, name, owner)
            else:
                assert found[0][0] != reason, (reason, name, owner)


def test_several_definitions_share_as_the_page_says() -> None:
    table = list(rows(PAGE, "Definitions"))
    assert [row[0] for row in table] == ["1", "2", "3", "4", "5"]
    for count, share in table:
        several = [definition_of("bake_bread")] * int(count)
        found = references("shop/sale.py", FileFacts("oven.bake_bread", ""), *several)
        assert {weight for _, weight in found} == ({Fraction(share)} - {Fraction(0)}), count


def test_the_factors_are_those_of_the_weights() -> None:
    told = [float(row[1]) for row in rows(PAGE, "What")]
    assert told == [
        INDEX_FILE_FACTOR,
        INNER_INDEX_FILE_FACTOR,
        VARIABLE_FACTOR,
        MEMBER_FACTOR,
    ]
    assert f"file rank ^ {RANK_POWER} " in TEXT
    assert (USER_FACTORS[FileKind.TEST], USER_FACTORS[FileKind.DOCS]) == (0.5, 0.5)
    assert "at half the weight of source" in TEXT


def test_the_shares_are_those_of_the_page() -> None:
    told = [int(row[1].removesuffix(" %")) for row in rows(PAGE, "Part")]
    assert told == [round(100 * share) for share in (_ABOUT, _COMMANDS, _LAYOUT, _SYMBOLS)]
    assert SIGNATURE_SHARE == 0.25
    assert "A quarter of their room goes to signatures" in TEXT


def test_the_languages_are_those_that_are_parsed() -> None:
    told = {row[0]: row[1].replace("`", "").split() for row in rows(PAGE, "Language")}
    grammars = set()
    for name, endings in told.items():
        for ending in endings:
            language = detect_language(f"a.{ending}")
            assert language is not None, ending
            assert language.name == name, ending
            grammars.add(language.grammar)
    assert grammars == set(GRAMMAR_NAMES)


@pytest.mark.parametrize(
    "limit",
    [
        f"damping is {DAMPING}",
        f"divided by {TOKEN_MARGIN}",
        f"at most {SIGNATURE_WIDTH} characters",
        f"longer than {MAX_SOURCE_BYTES:,} bytes",
    ],
)
def test_the_numbers_in_the_text_are_those_of_the_code(limit: str) -> None:
    assert limit in TEXT.replace("Damping", "damping")
