"""Whatever is broken: a choice leaves a well-formed file, and takes no line that may be yours."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import assume, example, given
from hypothesis import strategies as st

from cub.edit.document import BOM, Document, split_lines
from cub.edit.markers import filter_html_lines, find_markers
from cub.edit.repair.marker_choices import MAX_CHOICES, list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.sections import find_section, is_header_comment, is_legacy_digest_comment
from cub.errors import CubError
from tests.edit.broken import BEGIN, END, inside
from tests.edit.strategies import ANYTHING, ENDS, MARKERS
from tests.examples import few_examples

YOURS = ["{}", "- {}", "    {}", "> {}", "{}  ", "<!-- {} -->", "<div>{}", "## {}"]
ODD = ["\n", "```\n", "- \n", "</div>\n", "  \n", "---\n"]


class Piece(NamedTuple):
    """Some lines of a file; `body` are those of a section's body that its digest proves."""

    text: str
    body: tuple[str, ...] = ()


@st.composite
def pieces(draw: st.DrawFn) -> list[Piece]:
    """Markers, whole sections and parts of them, and your lines, every line a different one."""
    found = []
    for number in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(["yours", "odd", "begin", "end", *["section"] * 4]))
        if kind == "yours":
            line = draw(st.sampled_from(YOURS)).format(f"yours {number}")
            found.append(Piece(line + "\n"))
        elif kind == "odd":
            found.append(Piece(draw(st.sampled_from(ODD))))
        elif kind in ("begin", "end"):
            found.append(Piece({"begin": BEGIN, "end": END}[kind]))
        else:
            found += draw(_section(number))
    return found


@st.composite
def _section(draw: st.DrawFn, number: int) -> list[Piece]:
    """A section, perhaps without a marker, perhaps with a stray one in it."""
    kind = draw(st.sampled_from(["intact", "intact", "edited", "unknown"]))
    body = f"## Cub {number}\n\n- Work on {number}.\n- Rest from {number}.\n"
    text = inside(kind, body, f"- edit {number}\n")  # type: ignore[arg-type]
    lines = [line for line in body.splitlines() if line]
    stray = draw(st.sampled_from(["", "", BEGIN, END]))
    text = text.replace("- Rest", stray + "- Rest")
    found = [Piece(BEGIN)] if draw(st.integers(0, 3)) else []
    found.append(Piece(text, tuple(lines) if kind == "intact" else ()))
    return [*found, Piece(END)] if draw(st.integers(0, 3)) else found


def offered(document: Document) -> list[RepairChoice]:
    """The choices; a conflict that only a person can resolve is no example."""
    try:
        return list_repair_choices(document, lambda _: None)
    except CubError:
        assume(False)
        raise


def telling(document: Document) -> list[bytes]:
    """The lines that are neither blank nor markers nor cub's comments, as CommonMark sees them."""
    texts = [document.get_line(n) for n in range(len(document.lines))]  # no byte order mark
    own = [
        n
        for n, text in enumerate(texts)
        if is_header_comment(text) or is_legacy_digest_comment(text)
    ]
    gone = {marker.line for marker in find_markers(document)} | filter_html_lines(document, own)
    lines = (text for n, text in enumerate(texts) if n not in gone)
    return [line.rstrip(b"\r\n") for line in lines if line.strip()]


@few_examples
@given(pieces(), st.sampled_from(ENDS), st.booleans())
def test_only_what_a_digest_proves_goes(found: list[Piece], end: str, closed: bool) -> None:
    text = "".join(piece.text for piece in found)
    text = text if closed else text.removesuffix("\n")
    document = Document(text.replace("\n", end).encode(), "AGENTS.md")
    bodies = [{line.encode() for line in piece.body} for piece in found if piece.body]
    before = telling(document)
    for choice in offered(document):
        after = [line for line in telling(document.replace_data(choice.data)) if line in before]
        gone = {line for line in before if line not in after}
        assert after == [line for line in before if line not in gone]
        assert gone == {line for body in bodies if body <= gone for line in body}


@few_examples
@given(pieces(), st.sampled_from(ENDS))
def test_every_choice_leaves_one_section_or_none(found: list[Piece], end: str) -> None:
    document = Document("".join(piece.text for piece in found).replace("\n", end).encode())
    kept = [find_section(document.replace_data(choice.data)) for choice in offered(document)]
    try:
        assert find_section(document) is None or not kept
    except CubError:
        assert kept.pop() is None
        assert None not in kept
        assert len(kept) < MAX_CHOICES


@few_examples
@given(ANYTHING)
@example(
    b"\xef\xbb\xbf<!-- cub:digest sha256-0123456789abcdef -->\n<!-- END CUB MANAGED SECTION -->"
)
def test_no_file_is_too_odd(data: bytes) -> None:
    document = Document(data)
    for choice in offered(document):
        find_section(document.replace_data(choice.data))
        left = iter([line.rstrip(b"\r\n") for line in split_lines(choice.data.removeprefix(BOM))])
        assert all(line in left for line in yours(document))


@few_examples
@given(st.lists(st.sampled_from([*MARKERS, *MARKERS, "x"]), min_size=20, max_size=60))
def test_dozens_of_markers_are_a_few_choices(lines: list[str]) -> None:
    document = Document("\n".join(lines).encode())
    assume(len(find_markers(document)) > 2)
    assert 1 <= len(offered(document)) <= MAX_CHOICES


def yours(document: Document) -> list[bytes]:
    """The lines of `document` that must stay, markers and conflict lines aside."""
    edges = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
    return [line for line in telling(document) if not line.startswith(edges)]
