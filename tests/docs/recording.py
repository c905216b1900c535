"""`python -m tests.docs.recording`: draw the README's recording, what `cub demo` prints.

Ids, times and durations differ from run to run, so fixed ones replace them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET

from tests.conftest import environment

FILE = Path(__file__).parents[2] / "docs" / "assets" / "recording.svg"
_REPLACEMENTS = (
    (
        r"(?<=  attempts work in a clone ).*",
        "and cannot change your files; cub merges accepted work",
    ),
    (r"\d{8}-\d{6}-\w{4}", "20261125-101500-k3f9"),
    (r"(?:shop|bakery)-[a-z0-9]{5,}\b", "shop-h7d2m"),
    (r"\b\d\d:\d\d:\d\d\b", "10:15:00"),
    (r"\b\d+(\.\d)? s(?=[,)])", "1.2 s"),
    (r"(?<=  check)(.*\()1\.2 s\)", r"\g<1>0.2 s)"),
)
_HASH = re.compile(r"(?<=commit )[0-9a-f]{7,}|(?:^|(?<=^  ))[0-9a-f]{7,}(?= )", re.MULTILINE)
_STYLE = re.compile(r"\x1b\[(\d+)m")
_CLASSES = {"1": "bold", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}
_LEFT, _TOP, _LINE, _WIDTH = 18, 30, 19, 788  # pixels
COLUMNS = 96
_SECONDS = 0.25  # for each line
_AT_ONCE = 5  # lines that are there from the start: no picture is empty
_TITLE = "cub demo: an attempt fails, its retry passes and is committed"
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"
 xml:space="preserve" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
 font-size="13">
<title>{title}</title>
<style>
rect {{ fill: #f6f8fa; stroke: #8c959f }}
text {{ fill: #1f2328; white-space: pre; animation: appear 1ms both }}
.bold {{ font-weight: 700 }}
.red {{ fill: #cf222e }}
.green {{ fill: #1a7f37 }}
.yellow {{ fill: #9a6700 }}
.cyan {{ fill: #1b7c83 }}
@keyframes appear {{ from {{ opacity: 0 }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ animation: none }} }}
@media (prefers-color-scheme: dark) {{
rect {{ fill: #0d1117; stroke: #6e7681 }}
text {{ fill: #e6edf3 }}
.red {{ fill: #ff7b72 }}
.green {{ fill: #3fb950 }}
.yellow {{ fill: #d29922 }}
.cyan {{ fill: #39c5cf }}
}}
</style>
<rect x="1" y="1" width="{frame_width}" height="{frame_height}" rx="8"/>
"""


def record_demo() -> list[str]:
    """What `cub demo` prints on a terminal of COLUMNS, with its styles."""
    import pty  # not on Windows

    master, terminal = pty.openpty()
    with tempfile.TemporaryDirectory() as folder, os.fdopen(master, "rb") as screen:
        environ = {**environment(Path(folder)), "NO_COLOR": "", "FORCE_COLOR": "1"}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with subprocess.Popen(
            [sys.executable, "-m", "cub", "demo"],
            cwd=folder,
            env={**environ, "PATH": path, "TMPDIR": folder, "COLUMNS": str(COLUMNS)},
            stdout=terminal,
        ) as process:
            os.close(terminal)
            printed = b"".join(_read_screen(screen)).decode()
        assert process.returncode == 0
    return normalize_output(printed.replace("\r\n", "\n").rstrip("\n")).split("\n")


def _read_screen(screen: IO[bytes]) -> Iterator[bytes]:
    with suppress(OSError):  # Linux reports the end of a terminal as an error
        yield from screen


def read_recording() -> list[str]:
    """The lines of text in the picture."""
    texts = ET.parse(FILE).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]


def normalize_output(text: str) -> str:
    """What cub printed, with fixed ids, times and durations."""
    for pattern, replacement in _REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    fixed: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        short = match[0][:7]
        fixed.setdefault(short, ("b4e01f2", "7c9d3a8", "e5a6f10")[len(fixed)])
        return fixed[short]

    return _HASH.sub(replace, text)


def draw_recording(lines: list[str], title: str = _TITLE, *, at_once: int = _AT_ONCE) -> str:
    """The lines as a picture in which one appears after the other; without animation, all."""
    height = _TOP + _LINE * len(lines)
    size = {"width": _WIDTH, "frame_width": _WIDTH - 2, "height": height}
    head = _HEAD.format(frame_height=height - 2, title=title, **size)
    drawn = (_draw_line(number, line, at_once) for number, line in enumerate(lines) if line)
    return f"{head}{''.join(drawn)}</svg>\n"


def _draw_line(number: int, line: str, at_once: int) -> str:
    y, delay = _TOP + _LINE * number, _SECONDS * (number - at_once)
    animation = "animation:none" if delay < 0 else f"animation-delay:{delay:g}s"
    parts = "".join(_draw_parts(line))
    return f'<text x="{_LEFT}" y="{y}" style="{animation}">{parts}</text>\n'


def _draw_parts(line: str) -> Iterator[str]:
    classes: list[str] = []
    for number, part in enumerate(_STYLE.split(line)):
        if number % 2:
            classes = [*classes, _CLASSES[part]] if part in _CLASSES else []
        elif part:
            text = escape(part, quote=False)
            yield f'<tspan class="{" ".join(classes)}">{text}</tspan>' if classes else text


if __name__ == "__main__":
    FILE.write_text(draw_recording(record_demo()), encoding="utf-8")
