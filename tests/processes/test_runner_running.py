from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.processes.command import CommandSpec, OutputChunk, ProcessResult, TimeLimits
from cub.processes.runner import RunningCommand
from tests.processes.programs import Make, lives
from tests.written_files import write_program

pytestmark = pytest.mark.usefixtures("nothing_left")


def run(
    command: CommandSpec,
    limits: TimeLimits = TimeLimits(),  # noqa: B008
) -> tuple[ProcessResult, bytes, bytes]:
    """How it ended, its stdout and its stderr."""
    with RunningCommand(command, limits) as running:
        pieces = list(running.iter_output())
    said = [b"".join(one.data for one in pieces if one.stream == name) for name in ("out", "err")]
    return running.result, said[0], said[1]


def test_an_exit_code_and_both_streams_are_told(make: Make) -> None:
    ended, out, err = run(make.shell("echo to out; echo to err >&2; exit 7"))
    assert ended[:4] == (7, None, "", "")
    assert 0 < ended.seconds < 30
    assert (out, err) == (b"to out\n", b"to err\n")


def test_a_signal_is_told(make: Make) -> None:
    assert run(make.shell("kill -9 $$"))[0][:4] == (None, signal.SIGKILL, "", "")


def test_a_missing_program_is_told_in_the_systems_words(make: Make) -> None:
    assert run(make.program("no-such-program"))[0][:4] == (
        None,
        None,
        "",
        "no such file or directory",
    )


def test_a_file_that_is_no_program_is_told(make: Make) -> None:
    (make.folder / "plain").write_text("x")
    assert run(make.program("./plain"))[0].start_error == "permission denied"


def test_a_missing_folder_is_told_by_its_name(make: Make) -> None:
    gone = make.folder / "gone"
    ended = run(CommandSpec(("true",), gone, make.environ))[0]
    assert ended.start_error == f"{gone}: no such file or directory"


def test_an_exit_code_of_127_is_no_missing_program(make: Make) -> None:
    assert run(make.shell("exit 127"))[0][:4] == (127, None, "", "")


@pytest.mark.parametrize("argv", [(), ("",)])
def test_no_command_is_an_error(argv: tuple[str, ...], make: Make) -> None:
    with pytest.raises(CubError, match="there is no command to run"):
        run(CommandSpec(argv, make.folder, make.environ))


def test_a_zero_byte_is_an_error(make: Make) -> None:
    with pytest.raises(CubError, match="zero byte"):
        run(make.program("echo", "a\0b"))


def test_a_letter_that_no_system_can_write_is_an_error(make: Make) -> None:
    with pytest.raises(CubError, match="can't be written"):
        run(make.program("echo", "\ud800"))


def test_it_runs_in_its_folder(make: Make) -> None:
    assert run(make.program("pwd"))[1] == os.fsencode(make.folder.resolve()) + b"\n"


def test_it_has_exactly_its_environment(make: Make) -> None:
    # In the C locale, Python itself would add LC_CTYPE.
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C", "A": "x=y\n", "B": "\udcff"}
    out = run(CommandSpec(("env", "-0"), make.folder, environ))[1]
    want = {os.fsencode(f"{name}={value}") for name, value in environ.items()}
    assert set(out.split(b"\0")[:-1]) == want


def test_the_path_of_its_own_environment_finds_it(make: Make) -> None:
    program = write_program(make.folder / "bin/hello", "#!/bin/sh\necho hello")
    command = CommandSpec(("hello",), make.folder, {"PATH": str(program.parent)})
    assert run(command)[1] == b"hello\n"


def test_arguments_and_output_are_bytes_that_nobody_touches(make: Make) -> None:
    odd = b"\xff\xfe \xc3\r\n\t$HOME"
    assert run(make.program("printf", "%s", os.fsdecode(odd)))[1] == odd
    every = bytes(range(256))
    assert run(make.program("cat", stdin=every))[1] == every


def test_stdin_is_empty_unless_given(make: Make) -> None:
    assert run(make.program("cat"))[:2][1] == b""


def test_a_megabyte_goes_in_and_out(make: Make) -> None:
    data = os.urandom(1_000_000)
    ended, out, _ = run(make.program("cat", stdin=data))
    assert (ended.exit_code, out == data) == (0, True)


def test_a_command_need_not_read_its_stdin(make: Make) -> None:
    data = bytes(1_000_000)
    assert run(make.program("true", stdin=data))[0].exit_code == 0
    assert run(make.shell("exec 0<&-; sleep 0.1; echo on", stdin=data))[:2][1] == b"on\n"
    assert run(make.shell("sleep 0.1", stdin=data))[0][:3] == (0, None, "")


def test_an_argument_may_be_as_long_as_the_system_lets_it(make: Make) -> None:
    assert len(run(make.program("printf", "%s", "x" * 120_000))[1]) == 120_000
    assert run(make.program("printf", *["x" * 120_000] * 100))[0].start_error.startswith("arg")


def test_pieces_are_small_and_come_while_it_runs(make: Make) -> None:
    os.mkfifo(make.folder / "go")
    with RunningCommand(make.shell("echo now; read x < go; head -c 300000 /dev/zero")) as running:
        pieces = running.iter_output()
        assert next(pieces) == OutputChunk("out", b"now\n")
        (make.folder / "go").write_text("x\n")
        sizes = [len(one.data) for one in pieces]
    assert (sum(sizes), max(sizes) <= 65_536) == (300_000, True)


def test_ticks_come_while_it_is_silent(make: Make) -> None:
    with RunningCommand(make.shell("read x"), tick_seconds=0.01) as running:
        assert set(running.iter_output()) <= {OutputChunk("", b"")}
    with RunningCommand(make.program("sleep", "60"), tick_seconds=0.01) as running:
        pieces = running.iter_output()
        assert [next(pieces) for _ in range(5)] == [OutputChunk("", b"")] * 5
        running.terminate()
        list(pieces)
    assert running.result[:3] == (None, signal.SIGINT, "ended")


def test_merged_streams_keep_their_order(make: Make) -> None:
    text = "for n in 1 2 3 4 5 6 7 8 9; do echo out; echo err >&2; done"
    with RunningCommand(make.shell(text), merges_streams=True) as running:
        pieces = list(running.iter_output())
    assert {one.stream for one in pieces} == {"out"}
    assert b"".join(one.data for one in pieces) == b"out\nerr\n" * 9


def test_a_block_left_early_ends_it(make: Make) -> None:
    with RunningCommand(make.shell("echo $$; exec sleep 60")) as running:
        process = int(next(running.iter_output()).data)
    assert running.result[:3] == (None, signal.SIGKILL, "ended")
    assert not lives(process)


def test_no_file_stays_open(make: Make) -> None:
    def opened() -> set[str]:
        return {file.name for file in Path("/dev/fd").iterdir() if file.exists()}

    before = opened()
    run(make.shell("echo x", stdin=b"x"))
    run(make.program("no-such-program", stdin=bytes(100_000)))
    with pytest.raises(CubError):
        run(make.program(""))
    assert opened() == before
