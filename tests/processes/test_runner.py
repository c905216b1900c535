from __future__ import annotations

import io
import re
from typing import Any

import pytest

from cub.processes.command import StopRequest, TimeLimits
from cub.processes.runner import run_and_capture
from tests.processes.programs import Make

pytestmark = pytest.mark.usefixtures("nothing_left")
CUT = "\n… {} bytes left out …\n"


def test_all_is_kept_in_the_order_it_came(make: Make) -> None:
    done = run_and_capture(make.shell("echo a; echo b >&2; echo c; exit 2"))
    assert (done.result.exit_code, done.out, done.total) == (2, b"a\nb\nc\n", 6)


def test_of_very_much_the_two_ends_are_kept(make: Make) -> None:
    text = "echo begin; head -c 50000000 /dev/zero; echo end"
    done = run_and_capture(make.shell(text), max_bytes=1_000_000)
    assert done.total == 50_000_010
    cut = CUT.format("49,000,010").encode()
    assert len(done.out) == 1_000_000 + len(cut)
    assert done.out.startswith(b"begin\n\0")
    assert done.out.endswith(b"\0end\n")
    assert done.out[500_000:].startswith(cut)


@pytest.mark.parametrize("most", [0, 1, 2, 9, 10, 11, 25])
def test_whatever_is_kept_is_the_two_ends(make: Make, most: int) -> None:
    # One byte at a time, and all at once.
    for pause in ("", "sleep 0.01;"):
        text = f"for n in 0 1 2 3 4 5 6 7 8 9; do printf $n; {pause} done"
        done = run_and_capture(make.shell(text), max_bytes=most)
        kept = re.sub("\n… [0-9]+ bytes left out …\n", "|", done.out.decode())
        whole = "0123456789"
        cut = f"{whole[: most // 2]}|{whole[10 - (most - most // 2) :]}"
        assert (kept, done.total) == (whole if most >= 10 else cut, 10)


def test_what_is_kept_goes_into_a_file_too(make: Make) -> None:
    for most in (4, 1000):
        file = io.BytesIO()
        done = run_and_capture(make.shell("printf 0123456789"), max_bytes=most, log=file)
        assert file.getvalue() == done.out


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_what_was_said_in_the_file(make: Make, error: type[BaseException]) -> None:
    class Interrupted(io.BytesIO):
        def write(self, data: Any) -> int:
            if not self.tell():
                super().write(data)
                raise error
            return super().write(data)

    file = Interrupted()
    with pytest.raises(error):
        run_and_capture(make.shell("printf 123456789; exec sleep 60"), max_bytes=12, log=file)
    assert file.getvalue() == b"123456789"


def test_limits_and_stops_are_heeded(make: Make) -> None:
    stop = StopRequest()
    stop.request()
    assert run_and_capture(make.program("sleep", "60"), stop=stop).result.cause == "stopped"
    assert run_and_capture(make.program("sleep", "60"), TimeLimits(wall=0.1)).result.cause == "wall"
    stop.close()


def test_a_shell_line_may_have_a_stdin(make: Make) -> None:
    assert run_and_capture(make.shell("cat; pwd", b"in\n")).out.startswith(b"in\n/")
