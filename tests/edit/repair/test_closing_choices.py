from __future__ import annotations

import pytest

from cub.edit.document import Document
from cub.edit.repair.marker_choices import list_repair_choices
from cub.edit.repair.repair_choice import RepairChoice
from cub.edit.section_writer import render_section
from tests.edit.readers import read_section
from tests.edit.strategies import BODY

SECTION = render_section(BODY, 1, b"\n") + b"\n"


def list_choices(data: bytes) -> list[RepairChoice]:
    return list_repair_choices(Document(data, "AGENTS.md"), lambda _: None)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("opener", "what", "closer"),
    [
        (b"<!-- todo", "comment", b"-->"),
        (b"   <!--", "comment", b"-->"),
        (b"```sh", "code fence", b"```"),
        (b"~~~~", "code fence", b"~~~~"),
        (b"<pre>", "raw HTML", b"</pre>"),
        (b"<SCRIPT x>", "raw HTML", b"</script>"),
    ],
)
def test_what_hides_the_end_of_a_section_can_be_closed(
    opener: bytes, what: str, closer: bytes, ending: bytes
) -> None:
    broken = SECTION.replace(b"- Work", opener + b"\n\n- Work")
    data = (b"# Mine\n\n<!-- whole -->\n" + broken + b"\nMore.\n").replace(b"\n", ending)
    first = list_choices(data)[0]
    assert first.title == f"close the {what} that starts in line 11"
    read_section(first.data)
    assert first.data.endswith(b"More." + ending)
    assert sorted(first.data.split(ending)) == sorted([*data.split(ending), closer])


def test_nothing_is_closed_where_that_would_not_help() -> None:
    begin = SECTION[: SECTION.index(b"<!-- END")]
    for data in (begin + b"<!-- todo\n", begin + b"<!-- whole -->\n", b"```\n" + SECTION + b"\n"):
        assert not any(choice.title.startswith("close") for choice in list_choices(data))
