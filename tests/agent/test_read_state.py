from __future__ import annotations

from pathlib import Path
from threading import Thread

from cub.agent.read_state import ReadState

PATH = Path("/p/a")


def test_a_file_is_unknown_until_it_is_recorded() -> None:
    reads = ReadState()
    assert "not read yet" in reads.explain_unknown(PATH, b"x")
    reads.record_file(PATH, b"x")
    assert reads.explain_unknown(PATH, b"x") == ""
    assert "not read yet" in reads.explain_unknown(Path("/p/b"), b"x")


def test_a_file_with_other_bytes_has_to_be_read_again() -> None:
    reads = ReadState()
    reads.record_file(PATH, b"x")
    assert "has changed" in reads.explain_unknown(PATH, b"y")
    reads.record_file(PATH, b"y")
    assert reads.explain_unknown(PATH, b"y") == ""
    assert "has changed" in reads.explain_unknown(PATH, b"x")


def test_nothing_is_known_after_it_was_cleared() -> None:
    reads = ReadState()
    reads.record_file(PATH, b"x")
    reads.clear()
    assert reads.explain_unknown(PATH, b"x") != ""


def test_threads_share_it() -> None:
    reads = ReadState()

    def record(part: int) -> None:
        for number in range(200):
            reads.record_file(Path(f"/p/{part}/{number}"), b"%d" % part)

    threads = [Thread(target=record, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = [
        reads.explain_unknown(Path(f"/p/{part}/{number}"), b"%d" % part) == ""
        for part in range(4)
        for number in range(200)
    ]
    assert sum(known) == 4 * 200
