"""A session's file loads up to its last whole turn, wherever it is cut, and has no secrets."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
)
from cub.agent.session_file import (
    MAX_SUMMARY,
    SessionSummary,
    SessionWriter,
    read_session,
    read_summary,
    shorten_text,
)
from cub.errors import CubError
from cub.tokens import TokenUsage
from tests.forked import ForkedFunction

START = SessionSummary("a", "/home/ada/bakery", "src", "fake", "2026-11-28", "Bake it.")
TURNS = 20
CUTS = 100
KEY = "sk-ant-api03-" + "aB3dE5gH7" * 11 + "AA"


def sum_up(turns: int) -> SessionSummary:
    active, tokens = f"2026-11-28T09:{turns:02}", TokenUsage(turns, 1)
    return START._replace(active=active, turns=turns, tokens=tokens, usd=turns / 8)


def make_turn(number: int) -> list[Message]:
    """A prompt, a call with its result, and an answer; each in words of its own."""
    one = ToolCall(f"c{number}", "Read", {"file_path": f"{number}.py"})
    result = ToolResult(f"c{number}", (TextBlock(f"line {number}\n" * 9),))
    return [
        make_user_message(f"prompt {number} — 面包"),
        Message("assistant", (TextBlock("I look."), one)),
        Message("user", (result,)),
        Message("assistant", (TextBlock(f"answer {number}"),)),
    ]


def list_states(turns: int) -> list[list[Message]]:
    """The conversation after each turn; in the middle, a summary takes the place of old turns."""
    states, messages = list[list[Message]](), list[Message]()
    for number in range(turns):
        if number == turns // 2:
            messages = [make_user_message("a summary"), *messages[-4:]]
        messages = [*messages, *make_turn(number)]
        states.append(messages)
    return states


def write_states(path: Path, write: Callable[[int, bytes], int] = os.write) -> None:
    writer = SessionWriter(path, write=write)
    for number, state in enumerate(list_states(TURNS), 1):
        writer.save(state, sum_up(number))
    writer.close()


def test_a_session_comes_back_with_its_sum_up(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_states(path)
    saved = read_session(path)
    assert saved == (sum_up(TURNS), list_states(TURNS)[-1], [], [])
    assert read_summary(path) == sum_up(TURNS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_checks_said_before_a_session_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = SessionWriter(path)
    for baseline in ([], [{"command": "make"}], [{"command": "make"}]):
        writer.save(make_turn(1), sum_up(1), baseline)
    writer.close()
    assert len(path.read_bytes().splitlines()) == 5  # it is written once
    saved = read_session(path)
    assert (saved.messages, saved.damaged) == (make_turn(1), [])
    assert saved.baseline == [{"command": "make"}]


def find_turn_ends(data: bytes) -> list[int]:
    """Where the line of each turn ends; without its line feed it is whole as well."""
    ends, end = [], 0
    for line in data.splitlines(keepends=True):
        end += len(line)
        ends += [end - 1] if line.startswith(b'{"type":"messages"') else []
    return ends


def test_cut_at_any_byte_it_has_the_turns_that_are_whole(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "a.jsonl"
    write_states(whole)
    data, states = whole.read_bytes(), [[], *list_states(TURNS)]
    ends = find_turn_ends(data)
    assert len(ends) == TURNS
    near = {end + step for end in ends for step in range(-2, 4) if end + step <= len(data)}
    for size in sorted({*range(data.index(b"\n"), len(data), 29), *near}):
        cut.write_bytes(data[:size])
        turns = sum(end <= size for end in ends)
        assert read_session(cut).messages == states[turns], size
        assert turns - 1 <= read_summary(cut).turns <= max(turns, 1)


def test_a_cut_session_goes_on(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "a.jsonl"
    write_states(whole)
    data = whole.read_bytes()
    after = [*list_states(TURNS)[-1], make_user_message("and now?")]
    for size in range(data.index(b"\n"), len(data) + 1, 101):
        cut.write_bytes(data[:size])
        saved = read_session(cut)
        writer = SessionWriter(cut, saved.messages)
        writer.reopen()
        writer.save(after, sum_up(TURNS + 1))
        writer.close()
        assert cut.read_bytes().startswith(data[:size])
        assert read_session(cut)[:2] == (sum_up(TURNS + 1), after), size
        assert read_summary(cut) == sum_up(TURNS + 1)


def kill_at(limit: int, path: Path) -> None:
    """Write the session, and die by SIGKILL when so many bytes of it are on the disk."""
    left = [limit]

    def write(descriptor: int, data: bytes) -> int:
        left[0] -= os.write(descriptor, data[: left[0]])
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return len(data)

    write_states(path, write)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that dies is forked")
def test_a_kill_costs_at_most_the_turn_that_is_being_written(tmp_path: Path) -> None:
    write_states(tmp_path / "whole.jsonl")
    data, states = (tmp_path / "whole.jsonl").read_bytes(), [[], *list_states(TURNS)]
    start, ends = data.index(b"\n") + 1, find_turn_ends(data)
    for number in range(CUTS):
        limit = start + (len(data) - start) * number // (CUTS - 1)
        path = tmp_path / f"{number}.jsonl"
        with ForkedFunction(partial(kill_at, limit, path), os.environ) as process:
            assert process.wait() == -signal.SIGKILL
        assert path.read_bytes() == data[:limit]
        assert read_session(path).messages == states[sum(end <= limit for end in ends)]


_MESSAGES = st.lists(st.sampled_from([make_user_message(word) for word in "abc"]), max_size=6)


@given(st.lists(_MESSAGES, max_size=6))
def test_any_change_of_a_conversation_is_kept(states: list[list[Message]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        writer = SessionWriter(path)
        for state in [[make_user_message("go")], *states]:
            writer.save(state, sum_up(1))
            assert read_session(path).messages == state
        writer.close()


def save_message(path: Path, *blocks: Block) -> Message:
    """Save a message of the model; return it as it comes back."""
    writer = SessionWriter(path)
    writer.save([Message("assistant", blocks)], sum_up(1))
    writer.close()
    return read_session(path).messages[0]


def test_secrets_are_masked_wherever_they_are(tmp_path: Path) -> None:
    message = save_message(
        tmp_path / "a.jsonl",
        TextBlock(f"It is {KEY}."),
        ToolCall("c", "Bash", {"command": ["run", {"key": f"login {KEY}"}]}),
        ToolResult("c", (TextBlock(KEY),)),
        ReasoningBlock("deepseek", f"Use {KEY}", {"reasoning_content": f"Use {KEY}"}),
    )
    assert message.blocks == (
        TextBlock("It is [masked]."),
        ToolCall("c", "Bash", {"command": ["run", {"key": "login [masked]"}]}),
        ToolResult("c", (TextBlock("[masked]"),)),
        ReasoningBlock("deepseek", "Use [masked]", {"reasoning_content": "Use [masked]"}),
    )


def test_images_and_what_a_service_wants_back_stay_as_they_are(tmp_path: Path) -> None:
    blocks = (
        ImageBlock("image/png", KEY),
        ToolCall("c", "Read", {}, "", {"gemini": {"thought_signature": KEY}}),
    )
    assert save_message(tmp_path / "a.jsonl", *blocks).blocks == blocks


def test_reasoning_that_is_bound_to_a_system_prompt_is_left_out(tmp_path: Path) -> None:
    bound = ReasoningBlock("anthropic/claude-x", "Hm.", {"thinking": "Hm.", "signature": "x"})
    assert save_message(tmp_path / "a.jsonl", bound, TextBlock("Yes.")).text == "Yes."
    assert b"signature" not in (tmp_path / "a.jsonl").read_bytes()


@pytest.mark.parametrize("text", ["Bake it. " * 1_000, "\x01" * 10_000, "面包/" * 2_000])
def test_what_a_list_reads_is_short(tmp_path: Path, text: str) -> None:
    path, short = tmp_path / "a.jsonl", shorten_text(text)
    summary = sum_up(9)._replace(root=short, folder=short, model=short, prompt=short)
    writer = SessionWriter(path)
    writer.save([make_user_message("x" * 10_000)], summary)
    writer.close()
    first, _, last = path.read_bytes().splitlines()
    assert first == last
    assert len(last) < MAX_SUMMARY
    assert read_summary(path) == summary
    assert text.startswith(short.removesuffix("…"))


def test_a_prompt_is_one_line_without_secrets() -> None:
    assert shorten_text(f" Use\n\n {KEY}. ") == "Use [masked]."


def test_a_full_disk_leaves_whole_lines_and_the_rest_follows(tmp_path: Path) -> None:
    sizes = [10_000, 10, 10_000]

    def write(descriptor: int, data: bytes) -> int:
        return os.write(descriptor, data[: sizes.pop(0)])

    path, states = tmp_path / "a.jsonl", list_states(3)
    writer = SessionWriter(path, write=write)
    writer.save(states[0], sum_up(1))
    before = path.read_bytes()
    with pytest.raises(OSError, match="No space"):
        writer.save(states[1], sum_up(2))
    assert path.read_bytes() == before
    writer.save(states[2], sum_up(3))
    writer.close()
    assert read_session(path) == (sum_up(3), states[2], [], [])


def test_a_deleted_session_does_not_go_on_without_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = SessionWriter(path)
    writer.save(make_turn(1), sum_up(1))
    path.unlink()
    with pytest.raises(FileNotFoundError):
        writer.save(make_turn(2), sum_up(2))
    writer.close()
    assert not path.exists()


def test_one_process_at_a_time_works_on_a_session(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first, second = SessionWriter(path), SessionWriter(path)
    first.save(make_turn(1), sum_up(1))
    with pytest.raises(BlockingIOError, match="another process works on this session"):
        second.reopen()
    first.close()
    second.reopen()
    second.close()


@pytest.mark.parametrize("damage", [b"\xff", b"", b'{"type":"messages"}', b"[" * 100_000])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_a_damaged_line_costs_itself(tmp_path: Path, turn: int, damage: bytes) -> None:
    path = tmp_path / "a.jsonl"
    states = [[one for n in range(end) for one in make_turn(n)] for end in (1, 2, 3)]
    states.append([*states[-1][:-1], make_user_message("Changed.")])
    writer = SessionWriter(path)
    for number, state in enumerate(states, 1):
        writer.save(state, sum_up(number))
    writer.close()
    lines = path.read_bytes().split(b"\n")
    lines[1 + 2 * turn] = damage
    path.write_bytes(b"\n".join(lines))
    saved = read_session(path)
    assert (saved.summary, saved.damaged) == (sum_up(4), [2 + 2 * turn])
    start = 4 * turn
    lost = [Message("user", ())] * 4
    expected = [*states[2][:start], *lost, *states[2][start + 4 :]][:-1]
    assert saved.messages == [*expected, make_user_message("Changed.")]


@pytest.mark.parametrize("edit", [
    lambda data: data.replace(b"\n", b"\r\n"),
    lambda data: b"\xef\xbb\xbf" + data,
    lambda data: data.replace(b'":', b'": ').replace(b',"', b', "'),
    lambda data: data.partition(b"\n")[2],
])  # fmt: skip
def test_a_file_that_was_saved_by_an_editor_is_read(
    tmp_path: Path, edit: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.jsonl"
    write_states(path)
    path.write_bytes(edit(path.read_bytes()))
    assert read_session(path) == (sum_up(TURNS), list_states(TURNS)[-1], [], [])


def test_numbers_that_no_session_has_cost_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_states(path)
    change = b'{"type":"messages","at":%d,"drop":%d,"add":[]}\n'
    with path.open("ab") as file:
        file.write(change % (10**15, 0) + change % (-1, 0) + change % (0, -1))
    saved = read_session(path)
    assert (saved.messages, len(saved.damaged)) == (list_states(TURNS)[-1], 3)


@pytest.mark.parametrize("line", [1, -1])
def test_what_a_newer_cub_wrote_is_refused(tmp_path: Path, line: int) -> None:
    path = tmp_path / "a.jsonl"
    write_states(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b'"v":1', b'"v":2', 1)
    path.write_bytes(b"".join(lines))
    with pytest.raises(CubError, match="this was saved by a newer cub") as caught:
        read_session(path)
    assert caught.value.where == f"{path}:2" if line == 1 else str(path)
    assert caught.value.hint.startswith("upgrade cub")


@pytest.mark.parametrize("data", [b"{}\n", b'{"v":1,"type":"x"}\n', b"\0" * 9_000])
def test_another_file_is_not_a_session(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    for read in (read_session, read_summary):
        with pytest.raises(CubError, match="this is not a saved session") as caught:
            read(path)
        assert caught.value.hint == f"`cub code sessions delete {START.id}` deletes it"
