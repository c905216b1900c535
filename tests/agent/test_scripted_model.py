from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent.conversation import Message, ToolCall, make_user_message
from cub.agent.model import ModelError, ModelRequest, ReplyEnd, TextDelta, ToolDefinition
from cub.agent.scripted_model import ScriptedModel, load_scripted_model
from cub.errors import CubError
from cub.tokens import TokenUsage

TOOLS = (ToolDefinition("Read", "Reads.", {}),)
SCRIPT = """\
conversations:
  - when: again
    replies: [{text: The second time.}]
  - replies:
      - text: I look.
        calls:
          - Read: {file_path: a.py, limit: 5}
          - Bash: {command: ls}
        usage: {input: 10, output: 2}
      - {text: Too long, stop: max_tokens}
"""


def load(tmp_path: Path, text: str) -> ScriptedModel:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scripted_model(path, "script.yaml")


def request(prompt: str) -> ModelRequest:
    return ModelRequest("", (make_user_message(prompt),), TOOLS, 100)


def test_replies_are_played_one_for_each_request(tmp_path: Path) -> None:
    model = load(tmp_path, SCRIPT)
    assert model.name == "scripted/script.yaml"
    assert list(model.stream_reply(request("go"))) == [
        TextDelta("I look."),
        ToolCall("call_1", "Read", {"file_path": "a.py", "limit": 5}),
        ToolCall("call_2", "Bash", {"command": "ls"}),
        ReplyEnd("tool_use", TokenUsage(10, 2)),
    ]
    assert list(model.stream_reply(request("go"))) == [
        TextDelta("Too long"),
        ReplyEnd("max_tokens"),
    ]
    with pytest.raises(ModelError, match="no further reply") as caught:
        list(model.stream_reply(request("go")))
    assert not caught.value.is_retryable


def test_the_last_prompt_decides_or_else_one_before(tmp_path: Path) -> None:
    script = """\
    conversations:
      - {when: one, replies: [{text: First.}, {text: More.}]}
      - {when: two, replies: [{text: Second.}]}
    """
    model, messages, texts = load(tmp_path, script), list[Message](), list[str]()
    for prompt in ("one", "and?", "two"):
        messages.append(make_user_message(prompt))
        first, *_ = model.stream_reply(ModelRequest("", messages, TOOLS, 100))
        assert isinstance(first, TextDelta)
        texts.append(first.text)
    assert texts == ["First.", "More.", "Second."]


def test_the_first_conversation_that_fits_the_prompt_is_played(tmp_path: Path) -> None:
    events = list(load(tmp_path, SCRIPT).stream_reply(request("once again")))
    assert events[0] == TextDelta("The second time.")


def test_a_request_without_tools_gets_a_summary(tmp_path: Path) -> None:
    model = load(tmp_path, SCRIPT)
    events = list(model.stream_reply(ModelRequest("", (make_user_message("go"),), (), 100)))
    assert isinstance(events[0], TextDelta)
    assert next(model.stream_reply(request("go"))) == TextDelta("I look.")


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("", "script.yaml", "empty"),
        ("[]", ":1:1", "expected a mapping"),
        ("conversation: []", ":1:1", "unknown key 'conversation'"),
        ("conversations: {}", ":1:16", "expected a list"),
        ("conversations: [{when: x}]", ":1:17", "expected a list"),
        ("conversations: [{replies: [{text: 5}]}]", ":1:35", "expected a string"),
        ("conversations: [{replies: [{stop: never}]}]", ":1:35", "'never' is not one of"),
        ("conversations: [{replies: [{calls: [Read]}]}]", ":1:37", "expected a mapping"),
        ("conversations: [{replies: [{calls: [{A: {}, B: {}}]}]}]", ":1:37", "not one call"),
        ("conversations: [{replies: [{usage: {input: -1}}]}]", ":1:44", "integer of at least 0"),
    ],
)
def test_a_script_that_is_not_valid_names_the_place(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    with pytest.raises(CubError, match=message) as caught:
        load(tmp_path, text)
    assert caught.value.where.endswith(where)


def test_a_script_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(CubError, match="no such file"):
        load_scripted_model(tmp_path / "no.yaml", "no.yaml")
