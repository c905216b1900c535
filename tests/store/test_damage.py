from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from cub.store.jsonl import decode_record, encode_record
from cub.store.task_index import TaskIndex
from tests.examples import few_examples
from tests.store.records import task

KEYS = ["t-1", "t-2", "t-3", "t-4"]
GOOD = [encode_record(task(key, notes="é\u2028\0", labels=["a"], x={"y": [1]})) for key in KEYS]
PIECES = st.binary(max_size=4) | st.sampled_from(
    [b"||||||| base", b"=======", b"<<<<<<< a", b"\xef\xbb\xbf", b"{", b"}", b'"', b"[" * 5000]
)


@st.composite
def damaged(draw: st.DrawFn, line: bytes) -> bytes:
    """A line with some of its bytes gone, or others among them or in their place."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(line)))
        end = draw(
            st.integers(start, min(len(line), start + draw(st.sampled_from([0, 1, 9, 999]))))
        )
        line = line[:start] + draw(PIECES).replace(b"\n", b"") + line[end:]
    return line


def taken_for_a_marker(line: bytes) -> bool:
    marks = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
    return line[:7] in marks and line[7:8] in (b"", b" ")


@few_examples
@given(st.integers(0, 3), st.data())
def test_a_damaged_line_costs_itself_alone(at: int, data: st.DataObject) -> None:
    bad = data.draw(damaged(GOOD[at]))
    tasks = TaskIndex.parse(b"\n".join([*GOOD[:at], bad, *GOOD[at + 1 :]]))
    others = [key for key in KEYS if key != KEYS[at]]
    assume(not set(others) & set(tasks.duplicate_ids))  # it says that it is another one
    for key in others:
        assert encode_record(tasks.read_record(key)) == GOOD[KEYS.index(key)]
    lost = set(tasks.summaries) == set(others)
    text = (bad.removeprefix(b"\xef\xbb\xbf") if at == 0 else bad).strip()
    if lost and text and not taken_for_a_marker(text):
        assert [one.line.text for one in tasks.rejected_lines] == [text]
        kept = bad.removeprefix(b"\xef\xbb\xbf") if at == 0 else bad
        assert [one.content for one in tasks.rejected_lines] == [kept]
    else:
        assert tasks.rejected_lines == []


def test_a_line_without_an_id_is_no_task() -> None:
    lines = [b'{"title":"x"}', b'{"id":""}', b'{"id":null}', b'{"id":true}', b'{"id":[1]}', b"7"]
    tasks = TaskIndex.parse(b"\n".join([GOOD[0], *lines, b'{"id":7}']))
    assert [one.line.text for one in tasks.rejected_lines] == lines
    assert {one.reason for one in tasks.rejected_lines} == {
        "not a task: it has no id",
        "not a JSON object",
    }
    assert set(tasks.summaries) == {"t-1", "7"}
    assert decode_record(tasks.read_line("7")) == {"id": 7}
    assert tasks.read_record("7") == {"id": "7", "status": "open"}
