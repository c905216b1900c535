"""Sessions that a person types, as they look on the screen."""

from __future__ import annotations

import re
import signal
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import dedent

import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from tests.cli.typed_session import TypedSession, open_session
from tests.conftest import Cub

REPLIES = """\
    conversations:
      - when: "Again"
        replies:
          - text: I remember.
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
              - Bash: {command: "touch started; until test -e go; do sleep 0.1; done"}
          - text: Good.
"""


@pytest.fixture
def bakery(project: Path) -> Path:
    (project / "bread.py").write_text("def dozens(loaves):\n    return loaves // 12\n")
    (project / "replies.yaml").write_text(dedent(REPLIES))
    return project


def code(
    bakery: Path, home: Path, *words: str, columns: int = 100
) -> AbstractContextManager[TypedSession]:
    words = ("code", "--model", "scripted/replies.yaml", *words)
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


def wait_in_tool(session: TypedSession, bakery: Path) -> None:
    """A prompt whose command runs until it is stopped."""
    count = session.screen.count("Answer:") + 1
    session.type("Wait.\r")
    session.wait_until(lambda screen: screen.count("Answer:") == count)
    session.type("y\r")
    session.wait_until(lambda _: (bakery / "started").exists())


@pytest.mark.parametrize("columns", [100, 60])
def test_a_session_looks_as_it_should(
    bakery: Path, home: Path, cub: Cub, columns: int, file_regression: FileRegressionFixture
) -> None:
    key = cub("task", "add", "Go on", "--check", "test -e started").out.strip()
    with code(bakery, home, columns=columns) as session:
        mend(session)
        assert (bakery / "bread.py").read_text().endswith("return -(-loaves // 12)\n")
        wait_in_tool(session, bakery)
        session.type("\x03")
        session.wait_for("The agent stopped: cancelled")
        session.wait_for_prompt()
        session.send(f"/task {key}", "is in progress")
        session.send("/compact --force", "summarized: ")
        session.type("/quit\r")
        assert session.finish() == 0
        shown = session.screen.replace(key, "project-12345")
    with code(bakery, home, "--continue", columns=columns) as session:
        session.send("Again?", "I remember.")
        session.type("\x04")
        assert session.finish() == 0
        shown += f"\n\n[--continue]\n\n{session.screen}\n"
    shown = re.sub(r"(?<=Resumed )\w{10}", "k3f9a2c4d5", shown)
    shown = re.sub(r"(?<=summarized: ).*(?= tokens)", "9,999 -> 999", shown)
    file_regression.check(shown, basename=f"session-{columns}")


def test_several_lines_are_one_prompt(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("one\x0atwo\x1b\rthree\\\rfour\r")
        session.wait_for("> one\n  two\n  three\n  four\n")
        session.wait_for("bread.py  2")
        session.wait_for_prompt()
        session.type("\x1b[200~five\nsix\n\x1b[201~")
        session.wait_for("> five\n  six\n")
        session.type("\r")
        session.wait_for("I look at the code.")


def test_ctrl_c_clears_and_quits_at_the_second_time(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("half a prompt")
        session.wait_for("> half a prompt")
        session.type("\x03")
        session.wait_for_prompt()
        session.type("\x03")
        session.wait_for("Press Ctrl-C again to quit.")
        session.send("/cache", "evictions")
        session.type("\x03")
        session.wait_until(lambda screen: screen.count("again to quit.") == 2)
        session.type("\x03")
        assert session.finish() == 0


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_a_question_of_a_command_is_left_by_ctrl_c_and_ctrl_d(
    bakery: Path, home: Path, key: str
) -> None:
    (bakery / "new.txt").touch()
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("/undo\r")
        session.type(key, "Stash these changes?")
        session.send("/cache", "evictions")
    assert (bakery / "new.txt").exists()


def test_what_is_typed_while_the_agent_works_is_in_the_next_prompt(
    bakery: Path, home: Path
) -> None:
    with code(bakery, home) as session:
        mend(session)
        wait_in_tool(session, bakery)
        session.type("first\rsecox\x1b[D\x1b[C\x7fnd")  # keys edit the prompt, as later
        (bakery / "go").touch()
        session.wait_for("> first\n  second")
        assert session.screen.count("first") == 1  # nothing was sent, or echoed before
        session.type("\r")
        session.wait_for("Good.")


def test_what_is_typed_while_a_command_runs_is_in_the_next_prompt(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("!echo started; until test -e go; do sleep 0.05; done\r")
        session.wait_for("\nstarted")
        session.type("first\rsecond")
        (bakery / "go").touch()
        session.wait_for("> first\n  second")
        assert session.screen.count("first") == 1  # nothing was echoed before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_session_that_waits(bakery: Path, home: Path, number: signal.Signals) -> None:
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.process.send_signal(number)
        assert session.finish() == 130


def test_a_signal_ends_what_runs_and_the_session(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        mend(session)
        wait_in_tool(session, bakery)
        session.process.send_signal(signal.SIGTERM)
        assert session.finish() == 130


def test_commands_and_files_are_completed(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("/stat")
        session.wait_for("show the models, permissions")
        session.type("\t\r")
        session.wait_for("scripted/replies.yaml")
        session.wait_for_prompt()
        session.type("Look at @bre")
        session.wait_for("bread.py")
        session.type("\t\r\r")
        session.wait_for("attached bread.py")
        session.wait_for("What it does")


def test_the_output_of_a_command_goes_with_the_next_prompt(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.send("!echo $((6 * 7)); exit 3", "exit code 3")
        assert "\n42\n" in session.screen
        session.send("What?", "What it does")
        session.send("/history", "you    What?")
        session.send("/export out.md", "Wrote out.md")
    assert "I ran `echo $((6 * 7)); exit 3` (exit code 3)" in (bakery / "out.md").read_text()


def test_prompts_are_remembered_for_the_project_alone(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.send("A first prompt", "What it does")
        session.type("\x04")
        assert session.finish() == 0
    (history,) = (home / ".local/state/cub/projects").glob("*/prompts.txt")
    assert history.stat().st_mode & 0o777 == 0o600
    with code(bakery, home) as session:
        session.wait_for_prompt()
        session.type("\x1b[A")
        session.wait_for("> A first prompt")


def test_the_mode_is_changed_by_shift_tab(bakery: Path, home: Path) -> None:
    with code(bakery, home) as session:
        session.wait_for("\nask · ")
        session.type("\x1b[Z")
        session.wait_for("\naccept-edits · ")


def test_without_colors_replies_are_shown_as_they_are_written(bakery: Path, home: Path) -> None:
    words = ("code", "--model", "scripted/replies.yaml")
    with open_session(*words, cwd=bakery, home=home, NO_COLOR="1") as session:
        session.send("What is this?", "| `bread.py` | 2 |")
        assert "# What it does" in session.screen
        assert "in **dozens**, in `bread.py`" in session.screen


@pytest.mark.parametrize("is_working", [False, True])
def test_a_terminal_that_is_closed_ends_the_session(
    bakery: Path, home: Path, is_working: bool
) -> None:
    with code(bakery, home) as session:
        mend(session)
        if is_working:
            wait_in_tool(session, bakery)
        assert session.hang_up() == 130
    (saved,) = (home / ".local/share/cub/sessions").glob("*/*.jsonl")
    assert b"dozens rounds up now." in saved.read_bytes()


BACKGROUND = """\
    conversations:
      - when: Look around
        replies:
          - calls: [{Bash: {command: "until test -e go; do sleep 0.05; done"}}]
          - text: There is nothing.
      - replies:
          - calls: [{Task: {prompt: Look around, description: Look, run_in_background: true}}]
          - text: It looks.
          - text: So there is nothing.
"""


def test_an_agent_that_ends_in_the_background_does_not_disturb_what_is_typed(
    bakery: Path, home: Path
) -> None:
    (bakery / "replies.yaml").write_text(dedent(BACKGROUND))
    with code(bakery, home, "--allow", "Bash") as session:
        session.send("Go.", "It looks.")
        session.wait_for_prompt()
        session.type("And")
        session.wait_for("> And")
        (bakery / "go").touch()
        end = "general-purpose 1 has finished: Look."
        session.wait_until(lambda screen: "> And" in screen.partition(end)[2])
        session.type(" now?\r")
        session.wait_for("> And now?")
        session.wait_for("So there is nothing.")
        session.send("/agents 1", "There is nothing.")


def test_an_agent_that_ends_while_no_prompt_waits_is_announced_with_the_next_one(
    bakery: Path, home: Path
) -> None:
    (bakery / "replies.yaml").write_text(dedent(BACKGROUND))
    with code(bakery, home, "--allow", "Bash") as session:
        session.send("Go.", "It looks.")
        session.type("!touch go; sleep 0.5\r")
        session.wait_for("general-purpose 1 has finished: Look.")
        session.wait_for_prompt()
        session.send("/agents", "done")
        assert session.screen.count("has finished") == 1
