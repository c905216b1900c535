"""Choices for broken markers, by the bytes that they leave."""

from __future__ import annotations

from hashlib import sha256

import pytest

from cub.edit.document import BOM, Document
from cub.edit.repair.marker_choices import list_repair_choices
from tests.edit.broken import BEGIN, END, MINE, NEXT, TEXT, inside, section
from tests.edit.readers import read_section
from tests.edit.strategies import BODY

IN = inside()
HEAD = IN[: IN.index("##")]


def _offered(text: str) -> list[str]:
    document = Document(text.encode(), "AGENTS.md")
    return [choice.data.decode() for choice in list_repair_choices(document, lambda _: None)]


@pytest.mark.parametrize(
    ("title", "text", "results"),
    [
        ("nothing is broken", section(), []),
        ("no marker at all", "# Title\n<<<<<<< HEAD\n=======\n>>>>>>> topic\n", []),
        (
            "END is lost, its blank line is not",
            BEGIN + IN + "\n" + TEXT,
            [section() + "\n" + TEXT, BODY + "\n\n" + TEXT],
        ),
        (
            "END is lost with its blank line",
            BEGIN + IN.rstrip("\n") + "\n" + TEXT,
            [section() + TEXT, BODY + TEXT],
        ),
        ("END is lost with the last line end", BEGIN + IN.rstrip(),
            [section().rstrip(), BODY.rstrip()]),
        ("BEGIN is lost", TEXT + IN + END, [TEXT + section(), TEXT + "\n" + BODY + "\n"]),
        ("a section twice, one of them edited", section("edited") + TEXT + section(),
            [section("edited") + TEXT,
             inside("edited").removeprefix(HEAD.rstrip("\n") + "\n") + TEXT + section(),
             inside("edited").removeprefix(HEAD.rstrip("\n") + "\n") + TEXT + "\n" + BODY + "\n"]),
        (
            "BEGIN and its header twice",
            BEGIN + HEAD + section(),
            [section(), "\n\n" + BODY + "\n"],
        ),
        (
            "a whole section inside a section",
            section().replace("- Work", section(body=NEXT) + "- Work"),
            [section(), section(body=NEXT),
             "\n## Cub Integration\n\n\n" + NEXT + "\n- Work on one task.\n\n"],
        ),
        (
            "an edited pair around your text",
            BEGIN + TEXT + END + END,
            [BEGIN + TEXT + END, TEXT],
        ),
    ],
)  # fmt: skip
def test_choices_leave_these_bytes(title: str, text: str, results: list[str]) -> None:
    found = _offered(text)
    assert [data.lstrip("\n") for data in found] == [r.lstrip("\n") for r in results], title


def test_an_older_digest_proves_as_much() -> None:
    old = f"<!-- sha256:{sha256(BODY.strip().encode()).hexdigest()} -->\n"
    whole = BEGIN + old + "\n" + BODY + "\n" + END + TEXT
    assert _offered(whole.replace(END, ""))[0] == whole
    assert _offered(whole.replace(BEGIN, ""))[0] == whole


def test_an_older_digest_that_does_not_fit_is_a_line_of_text() -> None:
    line = f"<!-- sha256:{'0' * 64} -->\n"
    assert _offered(TEXT + line + BODY + END) == [TEXT + line + BODY]


def test_the_newest_of_several_sections_comes_first() -> None:
    newer = section(body=NEXT).replace("SECTION v1", "SECTION v2")
    assert _offered(section() + TEXT + newer)[0] == TEXT + newer


def test_a_sample_in_a_fence_is_left_alone() -> None:
    sample = "```\n" + section() + "```\n"
    assert _offered(sample + END) == [sample]
    assert _offered(sample + BEGIN + IN)[0] == sample + section()
    header = "```\n" + HEAD + "```\n"
    assert _offered(header + END) == [header]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_marker_that_is_put_back_has_the_line_end_of_the_file(end: str) -> None:
    whole = (TEXT + section() + TEXT).replace("\n", end)
    assert _offered(whole.replace(END.replace("\n", end), ""))[0] == whole
    assert _offered(whole.replace(BEGIN.replace("\n", end), ""))[0] == whole


def test_a_byte_order_mark_stays_first() -> None:
    document = Document(BOM + (IN + END).encode())
    found = [choice.data for choice in list_repair_choices(document, lambda _: None)]
    assert found == [BOM + section().encode(), BOM + b"\n" + BODY.encode() + b"\n"]


def test_lines_never_become_one() -> None:
    document = Document(b"a\r" + BEGIN.encode() + b"\nb\r")
    assert list_repair_choices(document, lambda _: None)[0].data == b"a\r\n\nb\r"


def test_edits_inside_a_proven_region_do_not_stretch_it() -> None:
    text = section().replace(END, MINE + END) + TEXT + section()
    kept = read_section(_offered(text)[0].encode())
    assert kept.author == "edited"
    assert MINE in _offered(text)[0]


def test_two_beginnings_of_one_body_are_not_two_sections() -> None:
    """Both digests fit the same lines: either BEGIN may stay, and the body stays with it."""
    text = BEGIN + HEAD + section().replace("- Work", END + "- Work")
    document = Document(text.encode())
    first, second, _ = list_repair_choices(document, lambda _: None)
    assert first.data.decode().replace("\n\n\n", "\n\n") == section()
    assert second.data.decode() == "\n" + section()
    assert first.title == "keep the section in lines 1-16, remove the markers in lines 6 and 13"
    assert second.title == "keep the section in lines 6-16, remove the markers in lines 1 and 13"
