"""docs/reference/doctor.md has one section for each code, with its severity and group."""

from __future__ import annotations

import re

from cub.actions.doctor.findings import CODES, GROUPS
from tests.docs.pages import DOCS

PAGE = (DOCS / "reference" / "doctor.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### (D\d+)\n\n(Error|Warning|Information)\. ", re.MULTILINE)
NAMES = {"error": "Error", "warning": "Warning", "info": "Information"}


def test_each_code_has_a_section_with_its_severity() -> None:
    expected = [(code, NAMES[severity]) for code, severity in CODES.items()]
    assert SECTION.findall(PAGE) == expected
    assert re.findall(r"^### (.+)$", PAGE, re.MULTILINE) == [*CODES]


def test_each_group_has_a_heading() -> None:
    groups = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert [name.lower() for name in groups] == [title.lower() for title in GROUPS.values()]
