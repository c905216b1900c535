"""A section that has lost both markers, in a whole project: refused, shown, and repaired."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from textwrap import fill

import pytest

from cub.actions.init_update import InitOptions, plan_init
from cub.actions.repair import describe_repair_next_step
from cub.edit.document import Document
from cub.edit.sections import find_section, get_bytes_outside
from cub.errors import CubError
from cub.project.project import Project
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import carry_out, change, init, remove, rows, settled, update, write
from tests.actions.repairs import look, repair
from tests.edit.broken import END
from tests.examples import keep_few


def strip(file: Path, *, comments: bool = True) -> bytes:
    """Take the markers out, and with `comments` all of the header, as a formatter may."""
    document = Document(file.read_bytes())
    section = find_section(document)
    assert section is not None
    body = section.end - 1 - len(section.body)
    gone = {section.end - 1, *range(section.start, body if comments else section.start + 1)}
    lines = (line for number, line in enumerate(document.lines) if number not in gone)
    file.write_bytes(b"".join(lines))
    return file.read_bytes()


@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md"])
def test_no_second_copy_is_written(bakery: Path, name: str, comments: bool) -> None:
    before = strip(bakery / name, comments=comments)
    for command in (init, update, remove):
        with pytest.raises(CubError, match="without its BEGIN and END markers") as caught:
            command(bakery)
        assert caught.value.where == f"{name}:3"
        assert "cub repair" in caught.value.hint
    assert (bakery / name).read_bytes() == before


def test_status_says_where_it_is(bakery: Path) -> None:
    strip(bakery / "AGENTS.md")
    row = rows(bakery)["AGENTS.md"]
    assert (row.state, row.line) == ("unmarked at line 3", 3)


@pytest.mark.parametrize("comments", [False, True])
def test_markers_come_back(bakery: Path, comments: bool) -> None:
    whole = (bakery / "AGENTS.md").read_bytes()
    strip(bakery / "AGENTS.md", comments=comments)
    repair(bakery, 1)
    assert (bakery / "AGENTS.md").read_bytes() == whole
    assert not look(bakery).broken_files
    assert settled(bakery)


def test_the_copy_goes_and_init_writes_the_section(bakery: Path) -> None:
    whole = (bakery / "AGENTS.md").read_bytes()
    strip(bakery / "AGENTS.md")
    plan = repair(bakery, 2)
    assert (bakery / "AGENTS.md").read_bytes() == b"# Bakery\n\n"
    assert (
        describe_repair_next_step(Project.load(bakery), plan)
        == "Run `cub init` to add a new section."
    )
    init(bakery)
    assert (bakery / "AGENTS.md").read_bytes() == whole.replace(b"# Bakery\n\n", b"# Bakery\n\n\n")


@pytest.mark.parametrize("comments", [False, True])
def test_the_copy_becomes_yours_and_nobody_asks_again(bakery: Path, comments: bool) -> None:
    lost = strip(bakery / "AGENTS.md", comments=comments)
    found = look(bakery).choices[-1]
    assert found.edit.reason == "keep all text as yours"
    assert found.why.endswith("; a new section is added")
    repair(bakery, found.n)
    document = Document((bakery / "AGENTS.md").read_bytes())
    section = find_section(document)
    assert section is not None
    assert (
        get_bytes_outside(document, section).strip()
        == lost[:10] + lost[lost.index(b"## C") :].strip()
    )
    assert settled(bakery)


def reflow(text: str, width: int) -> str:
    """Wrap every paragraph and item anew, as an editor does."""
    items = re.sub(r"\n(?=- )", "\n\n", text).split("\n\n")
    return "\n\n".join(fill(" ".join(item.split()), width) for item in items) + "\n"


EDITS: dict[str, Callable[[str], str]] = {
    "a word": lambda text: text.replace("Work in tasks", "Work in our tasks"),
    "the heading": lambda text: text.replace("## Cub Integration", "# How we work"),
    "no heading": lambda text: text.replace("## Cub Integration\n\n", ""),
    "bullets and emphasis": lambda text: re.sub(r"(?m)^- (\w+)", r"* **\1**", text),
    "no line breaks": lambda text: reflow(text, 10_000),
    "short lines": lambda text: reflow(text, 40),
    "a line more": lambda text: text.replace("- Claim", "- Bake first.\n- Claim"),
    "a line less": lambda text: text.replace("- Search for code", ""),
    "one in twelve words": lambda text: re.sub(r"((?:\w+\W+){11})\w+", r"\1bread", text),
}


def text_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("<!--")]


@pytest.mark.parametrize(
    ("edit", "name", "comments"),
    keep_few(product(EDITS, ["AGENTS.md", "CLAUDE.md"], [False, True]), 9),
)
def test_an_edited_text_is_not_doubled_and_its_markers_come_back(
    bakery: Path, edit: str, name: str, comments: bool
) -> None:
    file = bakery / name
    lost = strip(file, comments=comments).decode()
    at = lost.index("## Cub")
    mine = lost[at:].rstrip("\n")
    edited = EDITS[edit](mine + "\n") + "\nMore of mine.\n"
    file.write_text(lost[:at] + edited)
    with pytest.raises(CubError, match="without its BEGIN and END markers") as caught:
        init(bakery)
    # A formatter may have wrapped it: the digest that is left shows that no word is another.
    is_wrapped = edit in ("no line breaks", "short lines") and not comments
    known = r": cub's own text" if is_wrapped else r": cub's text with edits, \d+% of it"
    assert re.search(known, caught.value.details[-1])
    marked, *_ = look(bakery).choices
    assert marked.edit.reason.startswith("restore both markers")
    repair(bakery)
    document = Document(file.read_bytes())
    section = find_section(document)
    assert section is not None
    assert section.author == ("cub" if edit in ("no line breaks", "short lines") else "edited")
    assert text_lines(file.read_text()) == text_lines(lost[:at] + edited)
    update(bakery, edited="replace")
    assert settled(bakery)


@pytest.mark.parametrize("comments", [False, True])
def test_an_edited_text_becomes_yours_and_nobody_asks_again(bakery: Path, comments: bool) -> None:
    file = bakery / "AGENTS.md"
    edited = strip(file, comments=comments).replace(b"Work in tasks", b"Work in our tasks")
    file.write_bytes(edited)
    found = look(bakery).choices[-1]
    assert found.edit.reason == "keep all text as yours"
    assert found.why.endswith("; a new section is added")
    repair(bakery, found.n)
    assert edited[edited.index(b"## Cub") :] in file.read_bytes()
    assert settled(bakery)


def test_after_the_other_choices_nobody_asks_again_either(bakery: Path) -> None:
    """Cub's text that stays word for word, its only marker gone, would be found as unmarked."""
    change(bakery / "AGENTS.md", END.encode(), b"")
    mended, bare = look(bakery).choices
    assert "a new section" not in mended.why
    assert bare.why.endswith("; a new section is added")
    repair(bakery, bare.n)
    assert settled(bakery)


def test_a_released_version_is_known_word_for_word(bakery: Path, next_version: TemplateSet) -> None:
    whole = (bakery / "AGENTS.md").read_bytes()
    strip(bakery / "AGENTS.md")
    with pytest.raises(CubError, match="without its BEGIN"):
        carry_out(bakery, lambda p: plan_init(p, InitOptions(templates=next_version)))
    repair(bakery, 1)
    assert (bakery / "AGENTS.md").read_bytes() == whole


def test_a_nested_pointer_is_known_too(bakery: Path) -> None:
    (bakery / "oven").mkdir()
    init(bakery, "oven/AGENTS.md")
    whole = (bakery / "oven/AGENTS.md").read_bytes()
    strip(bakery / "oven/AGENTS.md")
    with pytest.raises(CubError, match=r"oven/AGENTS\.md:1"):
        init(bakery)
    repair(bakery, 1)
    assert (bakery / "oven/AGENTS.md").read_bytes() == whole


def test_a_file_that_is_no_target_is_nobodys_business_unless_named(bakery: Path) -> None:
    write(bakery, "GEMINI.md", (strip(bakery / "CLAUDE.md")).decode())
    found = look(bakery, "GEMINI.md")
    assert [file.names for file in found.broken_files] == [("CLAUDE.md",), ("GEMINI.md",)]
    repair(bakery, 1)
    assert settled(bakery)
    assert [c.edit.reason for c in look(bakery, "GEMINI.md").choices] == [
        "restore both markers around lines 3-33",
        "drop lines 3-33",
    ]


@pytest.mark.parametrize("sealed", [True, False])
def test_a_rule_of_cursors_has_no_section_to_lose(bakery: Path, sealed: bool) -> None:
    targets = ["AGENTS.md", ".cursor/rules/cub.mdc"]
    init(bakery, targets=targets)
    rule = bakery / targets[1]
    if not sealed:
        rule.write_bytes(b"## " + rule.read_bytes().partition(b"## ")[2])
    assert not look(bakery, targets[1]).broken_files
    update(bakery)


def test_a_document_that_quotes_the_section_gets_its_own(bakery: Path) -> None:
    quoted = strip(bakery / "AGENTS.md").split(b"\n", 2)[2]
    (bakery / "AGENTS.md").write_bytes(b"# Bakery\n\n```md\n" + quoted + b"```\n")
    init(bakery)
    assert settled(bakery)


def test_of_inlined_texts_the_present_ones_are_known(bakery: Path) -> None:
    write(bakery, ".cub/config.yaml", "inline: [constitution]\n")
    update(bakery)
    whole = (bakery / "AGENTS.md").read_bytes()
    strip(bakery / "AGENTS.md")
    repair(bakery, 1)
    assert (bakery / "AGENTS.md").read_bytes() == whole
