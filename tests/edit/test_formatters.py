"""Formatters that people run over their Markdown leave a section as current as it was."""

from __future__ import annotations

import mdformat
import pytest

from cub.edit.document import Document
from cub.edit.file_header import add_file_header, parse_file_header
from cub.edit.section_writer import put_section
from cub.edit.sections import find_section
from cub.prompt.section_text import render_section
from cub.prompt.templates import load_shipped_templates
from tests.prompt.test_templates import NEEDS


@pytest.mark.parametrize("name", NEEDS)
def test_mdformat_is_no_edit(name: str) -> None:
    templates = load_shipped_templates()
    body = render_section(templates, templates.version, NEEDS[name])
    written = put_section(Document(b"# Rules\n\n* Be kind.\n"), body, templates.version).document
    formatted = Document(mdformat.text(written.data.decode()).encode())
    section = find_section(formatted)
    assert section is not None
    assert section.is_current(body, templates.version)
    assert b"- Be kind." in formatted.data


def test_mdformat_leaves_cubs_own_files_intact() -> None:
    sealed = add_file_header(
        load_shipped_templates().read_file("runloop.md"), 1, "<!-- {} -->"
    ).decode()
    found = parse_file_header(mdformat.text(sealed).encode())
    assert found is not None
    assert found.is_intact
