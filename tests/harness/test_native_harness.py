"""What cub's own agents have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cub.harness.base import AgentEvent
from cub.harness.native_harness import (
    JsonLineReader,
    describe_tool,
    make_message,
    prepend_system_prompt,
)
from cub.json_values import JsonObject, get_text
from tests.harness.agent_streams import make_request


class TextReader(JsonLineReader):
    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        yield from make_message(get_text(tree, "text"))


def test_objects_are_read_line_by_line_and_other_lines_left_out() -> None:
    reader = TextReader()
    data = b'warning: x\n\xff\n\n{"text": "one"}\n[1]\n{"text": "tw'
    assert list(reader.read(data)) == [AgentEvent("text", "one\n")]
    assert list(reader.read(b'o"}\r\n{broken\n  {"text": "three"}')) == [
        AgentEvent("text", "two\n")
    ]
    assert list(reader.finish()) == [AgentEvent("text", "three\n")]


def test_a_line_of_three_megabytes_is_read() -> None:
    line = json.dumps({"noise": "x" * 3_000_000, "text": "end"}).encode() + b"\n"
    reader = TextReader()
    events = [
        event
        for start in range(0, len(line), 65_536)
        for event in reader.read(line[start : start + 65_536])
    ]
    assert events == [AgentEvent("text", "end\n")]


def test_a_tool_is_described_in_a_few_words() -> None:
    assert describe_tool("Bash", {"command": "ls\n  -l", "x": 1}) == "Bash ls -l"
    assert describe_tool("Edit", {"file_path": "a.py", "old": "x"}) == "Edit a.py"
    assert describe_tool("Think", {}) == "Think"
    assert len(describe_tool("Bash", {"command": "x" * 9_000})) == 200


def test_the_system_prompt_is_above_the_prompt(tmp_path: Path) -> None:
    request = make_request(tmp_path, system_prompt="Rules.\n")
    assert prepend_system_prompt(request) == "Rules.\n\nDo it."
    assert prepend_system_prompt(request._replace(system_prompt="\n")) == "Do it."
