"""Sessions that a person types, as they look on the screen."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import dedent

import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from tests.cli.typed_session import TypedSession, open_session

REPLIES = """\
    conversations:
      - replies:
          - text: |
              # What it does

              This project counts bread in **dozens**, in `bread.py`, with one function of one line
              that everybody should be able to read. This line is longer than a narrow terminal is.

              - `dozens(loaves)` divides by twelve, and rounds down, which is wrong if a dozen has
                been started
              - there is a test

              ```python
              def dozens(loaves):
                  return loaves // 12
              ```

              | File | Lines |
              |---|---|
              | `bread.py` | 2 |
            usage: {input: 1900, output: 100}
          - text: I look at the code.
            calls:
              - Read: {file_path: bread.py}
              - Read: {file_path: nothing.py}
            usage: {input: 2100, output: 60}
          - text: It rounds down.
            calls:
              - Edit:
                  file_path: bread.py
                  old_string: "loaves // 12"
                  new_string: "-(-loaves // 12)"
              - Bash: {command: python3 -m unittest -q}
            usage: {input: 300, output: 90, cache_read: 1900}
          - text: dozens rounds up now.
            usage: {input: 200, output: 20, cache_read: 2200}
          - text: I wait.
            calls:
              - Bash: {command: echo started > started; sleep 60}
          - text: Good.
"""


@pytest.fixture
def bakery(project: Path) -> Path:
    (project / "bread.py").write_text("def dozens(loaves):\n    return loaves // 12\n")
    (project / "replies.yaml").write_text(dedent(REPLIES))
    return project


def code(bakery: Path, home: Path, columns: int = 100) -> AbstractContextManager[TypedSession]:
    words = ("code", "--model", "scripted/replies.yaml")
    return open_session(*words, cwd=bakery, home=home, columns=columns)


def mend(session: TypedSession) -> None:
    """A prompt with two questions: one is answered with yes, the other one with words."""
    session.send("What is this?", "bread.py  2")
    session.type("Mend it.\r")
    session.type("y\r", "Answer:")
    session.wait_until(lambda screen: screen.count("Answer:") == 2)
    session.type("use pytest\r")
    session.wait_for("dozens rounds up now.")
    session.wait_for_prompt()


@pytest.mark.parametrize("columns", [100, 60])
def test_a_session_looks_as_it_should(
    bakery: Path, home: Path, columns: int, file_regression: FileRegressionFixture
) -> None:
    with code(bakery, home, columns) as session:
        mend(session)
        assert (bakery / "bread.py").read_text().endswith("return -(-loaves // 12)\n")
        session.type("Wait.\r")
        session.wait_until(lambda screen: screen.count("Answer:") == 3)
        session.type("y\r")
        session.wait_until(lambda _: (bakery / "started").exists())
        session.type("\x03")
        session.wait_for("The agent stopped: cancelled")
        session.wait_for_prompt()
        file_regression.check(session.screen + "\n", basename=f"session-{columns}")
        session.send("Go on.", "Good.")
        session.type("/quit\r")
        assert session.finish() == 0
        assert "6 turns" in session.screen
