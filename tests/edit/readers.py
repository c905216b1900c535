"""The section and the header of a text that has one."""

from __future__ import annotations

from cub.edit.document import Document
from cub.edit.file_header import FileHeader, parse_file_header
from cub.edit.sections import Section, find_section


def read_section(text: Document | bytes) -> Section:
    section = find_section(text if isinstance(text, Document) else Document(text))
    assert section is not None
    return section


def read_header(data: bytes) -> FileHeader:
    header = parse_file_header(data)
    assert header is not None
    return header
