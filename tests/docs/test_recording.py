"""The README's recording shows what `cub demo` prints today."""

from __future__ import annotations

import os
import shutil
from xml.etree import ElementTree as ET

import pytest

from tests.docs.recording import COLUMNS, FILE, draw_recording, read_recording, record_demo


@pytest.mark.thorough
@pytest.mark.skipif(
    os.name != "posix" or shutil.which("git") is None, reason="the demo's run needs git"
)
def test_the_recording_is_what_the_demo_prints() -> None:
    drawn = draw_recording(record_demo())
    assert drawn == FILE.read_text(encoding="utf-8"), "run `python -m tests.docs.recording`"


def test_the_recording_is_one_small_picture() -> None:
    """Without fonts, scripts or pictures from elsewhere, which no page would load."""
    picture = FILE.read_text(encoding="utf-8")
    assert len(picture) < 40_000
    names = {element.tag.rpartition("}")[2] for element in ET.fromstring(picture).iter()}
    assert names <= {"svg", "title", "style", "rect", "text", "tspan"}
    assert picture.count("http") == 1  # the namespace
    assert "url(" not in picture


def test_each_line_is_drawn_with_its_styles() -> None:
    drawn = draw_recording(["\x1b[31m\x1b[1m<error>\x1b[0m & more", "", "end"])
    assert '<tspan class="red bold">&lt;error&gt;</tspan> &amp; more</text>' in drawn
    texts = [element.get("y") for element in ET.fromstring(drawn) if "text" in element.tag]
    assert texts == ["30", "68"]


def test_the_picture_begins_with_content_and_cuts_no_line() -> None:
    first, *_, last = ET.parse(FILE).iter("{http://www.w3.org/2000/svg}text")
    assert first.get("style") == "animation:none"
    assert last.get("style", "").startswith("animation-delay:")
    lines = read_recording()
    assert max(map(len, lines)) <= COLUMNS
    assert not [line for line in lines if "…" in line]
