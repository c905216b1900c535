"""Every example of the CommonMark specification, as the user's text around a section."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cub.edit import sections
from cub.edit.document import Document
from cub.edit.section_writer import put_section, remove_section
from cub.edit.verification import describe_open_block
from tests.edit.strategies import BODY

_SPEC = os.environ.get("CUB_COMMONMARK_SPEC", "")


def _examples() -> list[str]:
    if not _SPEC:
        return []
    return [example["markdown"] for example in json.loads(Path(_SPEC).read_text("utf-8"))]


EXAMPLES = _examples()

pytestmark = pytest.mark.skipif(
    not EXAMPLES, reason="CUB_COMMONMARK_SPEC names no JSON file of the specification's examples"
)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 600


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_example_comes_back_byte_for_byte(newline: str) -> None:
    for example in EXAMPLES:
        data = example.replace("\n", newline).encode()
        document = Document.parse(data)
        done = put_section(document, BODY, 1)
        section = sections.find_section(done.document)
        assert section is not None, example
        assert bool(done.moved_to_top_reason) == bool(describe_open_block(document)), example
        assert remove_section(done.document, section) == data, example
        assert put_section(done.document, BODY, 1).document.data == done.document.data, example


def test_every_example_may_follow_the_section() -> None:
    for example in EXAMPLES:
        data = put_section(Document(b"# T\n"), BODY, 0).document.data + b"\n" + example.encode()
        document = Document.parse(data)
        before = sections.find_section(document)
        done = put_section(document, BODY, 1).document
        after = sections.find_section(done)
        assert before is not None
        assert after is not None
        assert sections.get_bytes_outside(done, after) == sections.get_bytes_outside(
            document, before
        ), example
