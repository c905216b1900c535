from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.cli.terminal import escape_invisible
from tests.cli.processes import run_in_shell
from tests.cli.standing import MINE
from tests.cli.tasks import put_events
from tests.cli.terminal import in_terminal, remove_progress
from tests.command_line import Result
from tests.conftest import Cub, environment
from tests.fork_server import get_cub_command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

COMMANDS = ["init --diff", "status", "update"]
SAME = ["--help", "task --help", "config show", "status", "init", "update", "task list", "nope"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_gets_colors(project: Path, home: Path, command: str) -> None:
    screen = in_terminal(*command.split(), cwd=project, home=home)
    assert "\x1b[" in screen.text


@pytest.mark.parametrize("command", COMMANDS)
def test_who_wants_no_colors_gets_none(project: Path, home: Path, command: str) -> None:
    screens = [
        in_terminal("--no-color", *command.split(), cwd=project, home=home),
        in_terminal(*command.split(), cwd=project, home=home, NO_COLOR="1"),
        in_terminal(*command.split(), cwd=project, home=home, TERM="dumb"),
    ]
    assert [screen for screen in screens if "\x1b" in remove_progress(screen.text)] == []
    assert all(screen.text for screen in screens)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_gets_none_whatever_the_environment(cub: Cub, command: str) -> None:
    result = cub(*command.split(), NO_COLOR="", TERM="xterm", FORCE_COLOR="")
    assert "\x1b" not in result.out + result.err


def test_no_color_changes_colors_and_nothing_else(project: Path, home: Path) -> None:
    seen = []
    for wanted in ({}, {"NO_COLOR": "1"}, {"NO_COLOR": ""}):
        screens = [in_terminal(*line.split(), cwd=project, home=home, **wanted) for line in SAME]
        seen.append("".join(screen.text for screen in screens))
        cub = project / ".cub"
        assert cub.is_dir()
        shutil.rmtree(cub)
        for name in ("AGENTS.md", "CLAUDE.md"):
            (project / name).unlink()
    colored, _, empty = seen
    assert STYLE.search(remove_progress(colored))
    assert STYLE.search(remove_progress(empty))
    assert len({remove_progress(STYLE.sub("", text)) for text in seen}) == 1


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colors_can_be_forced_into_a_pipe_unless_there_are_to_be_none(cub: Cub, name: str) -> None:
    forced = cub("status", NO_COLOR="", **{name: "1"}).out
    plain = cub("status", NO_COLOR="1", **{name: "1"}).out
    assert STYLE.search(forced)
    assert STYLE.sub("", forced) == plain


posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
ALL_CLOSED = ">&- 2>&- <&-"
# The streams that are closed in the fast tier.
CLOSED = {"init": [ALL_CLOSED], "status": [">&-", "2>&-"], "update --check": ["<&-"]}
RESULTS = [
    "init --diff", "init --json", "init --dry-run", "status", "status --json", "map --json",
    "--help",
]  # fmt: skip


@pytest.mark.parametrize("command", RESULTS)
def test_stdout_is_the_result_alone(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    result = cub(*command.split())
    assert result.out
    assert not any(word in result.out for word in ("error:", "warning:", "hint:", "Done."))


@pytest.mark.parametrize("command", ["init", "update", "remove"])
def test_the_talk_is_on_stderr(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    if command != "init":
        cub("init")
        (project / ".cub" / "runloop.md").unlink()
    result = cub(command)
    if command == "init":
        assert "\nWrote " in result.err
    else:
        assert len(result.err.splitlines()) == 1
        assert result.err.startswith(("Done", "Updated"))
    assert "AGENTS.md" in result.out or ".cub/runloop.md" in result.out


def test_warnings_are_on_stderr_with_a_hint(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(b"```sh\nmake\n")
    result = cub("init", "--diff")
    assert result.err.startswith("warning: AGENTS.md: the section is added at the top: ")
    assert result.out.startswith("--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ ")


def to_a_full_stdout(arguments: Sequence[str], cwd: Path, home: Path) -> Result:
    """What cub says where its stdout takes nothing."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*get_cub_command(), *arguments],
            cwd=cwd,
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return Result(done.returncode, "", done.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", RESULTS)
def test_a_stdout_that_is_full_is_a_known_error(project: Path, home: Path, command: str) -> None:
    done = to_a_full_stdout(command.split(), project, home)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert "no space left on device" in done.err


@posix
def test_no_other_file_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """The keeper of a command gets pipes by their numbers, and the command's own streams."""
    program = (
        "import os; from pathlib import Path\n"
        "from cub.cli.terminal import configure_streams\n"
        "from cub.processes.command import make_shell_command\n"
        "from cub.processes.runner import run_and_capture\n"
        "configure_streams()\n"
        "run_and_capture(make_shell_command('echo x > said', Path(), dict(os.environ)))\n"
    )
    line = f"{shlex.join([sys.executable, '-c', program])} {ALL_CLOSED}"
    subprocess.run(line, shell=True, cwd=tmp_path, env=environment(tmp_path), check=True)
    assert (tmp_path / "said").read_text() == "x\n"


@posix
@pytest.mark.parametrize(
    ("command", "closed"),
    [
        pytest.param(command, closed, marks=() if closed in fast else pytest.mark.thorough)
        for command, fast in CLOSED.items()
        for closed in (">&-", "2>&-", "<&-", ALL_CLOSED)
    ],
)
def test_streams_may_be_closed(
    project: Path, home: Path, cub: Cub, command: str, closed: str
) -> None:
    if command != "init":
        cub("init")
    # An interpreter of its own: a stream that is closed can't be handed on to a server.
    done = run_in_shell(f"{command} {closed}", project, home, [sys.executable, "-m", "cub"])
    assert done.code in (0, 1)
    assert "Traceback" not in done.err
    assert "this is a bug" not in done.err
    assert cub("update", "--check").code == 0


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain text, `code` & <b>", "plain text, `code` & <b>"),
        ("\tindented", "\tindented"),
        ("Bäckerei 面包 🥖", "Bäckerei 面包 🥖"),
        ("⚠️ and ⚠", "⚠️ and ⚠"),
        ("👩\u200d👧 👍🏽\u200d❤️\u200d🔥", "👩\u200d👧 👍🏽\u200d❤️\u200d🔥"),
        (
            "\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937",
            "\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937",
        ),
        ("pay\u200dpal\u200c", "pay\\u200dpal\\u200c"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9bb", "a\\x9bb"),
        ("a\rb\nc\0", "a\\rb\\nc\\x00"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\xadd"),
        ("a\u00a0b\u3000c\u2028d", "a\\xa0b\\u3000c\\u2028d"),
        ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
        ("a\ufe0fb\ufe00c\U000e0101", "a\\ufe0fb\\ufe00c\\U000e0101"),
        ("\u3164\u115f\u2800\u034f", "\\u3164\\u115f\\u2800\\u034f"),
        ("caf\udce9", "caf\\udce9"),
        ("", ""),
    ],
)
def test_what_a_reader_cannot_see_is_written_out(line: str, shown: str) -> None:
    assert escape_invisible(line) == shown


# The plane of nearly all scripts, and the one of tags and selectors.
@pytest.mark.parametrize(
    "plane",
    [
        pytest.param(plane, marks=() if plane in (0, 14) else pytest.mark.thorough)
        for plane in range(sys.maxunicode + 1 >> 16)
    ],
)
def test_no_invisible_character_of_unicode_comes_through(plane: int) -> None:
    through = {
        character
        for character in map(chr, range(plane << 16, plane + 1 << 16))
        if escape_invisible(f"a{character}b") == f"a{character}b"
    }
    kinds = {unicodedata.category(c)[0] for c in through - {"\t", " "}}
    assert kinds <= {"L", "M", "N", "P", "S"}
    assert not through & {chr(c) for c in range(0xFE00, 0xFE10)}
    assert not through & {chr(c) for c in range(0xE0000, 0xE1000)}


@given(st.text(alphabet=st.characters()))
def test_a_shown_line_is_one_line_and_stays_as_it_is(line: str) -> None:
    shown = escape_invisible(line)
    assert re.sub("[\t\u200c\u200d]", "", shown).isprintable()
    assert len(shown.splitlines()) <= 1
    assert escape_invisible(shown) == shown
    shown.encode("utf-8")


LONG = "services/a-package-with-a-name-of-fifty-characters-or-so/AGENTS.md"
ATTEMPT = {
    "v": 1, "ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "task": "b-clean", "n": 2,
    "harness": "an-agent-with-a-long-name", "model": "a-model-with-a-long-name-as-well", "ok": True,
    "dur_s": 90, "tok": {"in": 1200, "out": 300}, "usd": 1.25, "usd_src": "computed",
}  # fmt: skip
LEGENDS = {
    "status": ["tokens: estimated tokens of the whole file", "edited: changed after cub wrote it"],
    "agents": ["section: how often the agent loads cub's managed section"],
    "ledger list": ["n: the number of the attempt at its task", "≈: an estimated cost"],
}


@pytest.mark.parametrize("command", LEGENDS)
def test_a_table_of_80_columns_ends_with_what_its_figures_mean(
    project: Path, cub: Cub, home: Path, command: str
) -> None:
    (project / LONG).parent.mkdir(parents=True)
    assert cub("init", str(Path(LONG).parent)).code == 0
    with (project / ".cub" / "runloop.md").open("ab") as file:
        file.write(b"mine\n")
    put_events(project, ATTEMPT)
    words = command.split()
    shown = in_terminal(*words, cwd=project, home=home, COLUMNS="80", NO_COLOR="1")
    lines = shown.text.replace("\r", "").splitlines()
    assert [line for line in lines if len(line) > 80] == []
    missing = [text for text in LEGENDS[command] if text not in lines]
    assert missing == [], shown.text
    assert LEGENDS[command][0] not in cub(*words).out
