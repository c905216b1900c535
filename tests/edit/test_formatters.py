"""Formatters that people run over their Markdown leave a section as current as it was."""

from __future__ import annotations

import mdformat
import pytest

from cub.edit.document import Document
from cub.edit.owned import seal, unseal
from cub.edit.sections import find
from cub.edit.writing import put
from cub.prompt.instructions import render
from cub.prompt.templates import shipped
from tests.prompt.test_templates import NEEDS


@pytest.mark.parametrize("name", NEEDS)
def test_mdformat_is_no_edit(name: str) -> None:
    templates = shipped()
    body = render(templates, templates.version, NEEDS[name])
    written = put(Document(b"# Rules\n\n* Be kind.\n"), body, templates.version).document
    formatted = Document(mdformat.text(written.data.decode()).encode())
    section = find(formatted)
    assert section is not None
    assert section.is_current(body, templates.version)
    assert b"- Be kind." in formatted.data


def test_mdformat_leaves_cubs_own_files_intact() -> None:
    sealed = seal(shipped().file("runloop.md"), 1, "<!-- {} -->").decode()
    found = unseal(mdformat.text(sealed).encode())
    assert found is not None
    assert found.intact
