"""`python -m tests.docs.session_screen`: draw the picture of a session in the tutorial.

The session is typed in a terminal, with the project and the scripted model of the tutorial.
"""

from __future__ import annotations

import os
import re
import tempfile
from itertools import groupby
from pathlib import Path

from tests.cli.typed_session import TypedSession, open_session
from tests.conftest import git
from tests.docs.pages import DOCS
from tests.docs.recording import draw_recording

FILE = DOCS / "assets" / "session.svg"
TITLE = "cub code: the agent asks before it edits, runs the test, and the edit is undone"
COLUMNS, LINES = 96, 40
_FILE_BLOCK = re.compile(
    r"^```\w+\n# (?P<name>\S+\.(?:py|yaml))\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_CODES = {"red": "31", "green": "32", "brown": "33", "cyan": "36"}


def type_session() -> list[str]:
    """Hold the session of the tutorial; the lines of its screen, with styles."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "bakery")
        home.mkdir()
        project.mkdir()
        page = (DOCS / "tutorial-code.md").read_text(encoding="utf-8")
        for match in _FILE_BLOCK.finditer(page):
            (project / match["name"]).write_text(match["text"], encoding="utf-8")
        (project / ".gitignore").write_text("__pycache__/\n")
        git(project, "init", "-q")
        for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
            git(project, "config", key, value)
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", "Count bread")
        words = ("code", "--model", "scripted/replies.yaml")
        with open_session(*words, cwd=project, home=home, columns=COLUMNS, lines=LINES) as session:
            _type_prompts(session)
            return [*_read_lines(session)]


def _type_prompts(session: TypedSession) -> None:
    session.wait_for_prompt()
    session.type("Why does the test fail? Mend it.\r")
    session.type("y\r", "Answer:")
    session.wait_until(lambda text: text.count("Answer:") == 2)
    session.type("y\r")
    session.wait_for("dozens rounds up now.")
    session.wait_for_prompt()
    session.type("/undo\r")
    session.type("y\r", "[y/N]")
    session.wait_for("brings them back")
    session.wait_for_prompt()


def _read_lines(session: TypedSession) -> list[str]:
    """The lines of the screen, with the codes of their colors, and without times."""
    lines = []
    for row in session.read_styles():
        parts = []
        for (color, is_bold), group in groupby(row, lambda cell: (cell.fg, cell.bold)):
            codes = [*filter(None, [_CODES.get(color), "1" if is_bold else None])]
            text = "".join(cell.data for cell in group)
            marks = "".join(f"\x1b[{code}m" for code in codes)
            parts.append(f"{marks}{text}\x1b[0m" if marks else text)
        lines.append(re.sub(r"\d\.\d{3}s", "0.001s", "".join(parts)).rstrip())
    return lines


def draw_session(lines: list[str]) -> str:
    """The picture, in which all lines are there from the start."""
    return draw_recording(lines, TITLE, at_once=len(lines))


if __name__ == "__main__":
    os.umask(0o022)
    FILE.write_text(draw_session(type_session()), encoding="utf-8")
