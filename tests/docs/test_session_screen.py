"""The tutorial's picture shows a session as it looks today."""

from __future__ import annotations

import os
from xml.etree import ElementTree as ET

import pytest

from tests.docs.session_screen import COLUMNS, FILE, draw_session, type_session


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_the_picture_is_what_a_session_shows() -> None:
    drawn = draw_session(type_session())
    assert drawn == FILE.read_text(encoding="utf-8"), "run `python -m tests.docs.session_screen`"


def test_the_picture_is_small_and_still() -> None:
    picture = FILE.read_text(encoding="utf-8")
    assert len(picture) < 20_000
    texts = [*ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert max(len("".join(text.itertext())) for text in texts) <= COLUMNS
    assert {text.get("style") for text in texts} == {"animation:none"}
