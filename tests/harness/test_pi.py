from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.native_harness import NativeOptions
from cub.harness.pi import PiHarness
from cub.tokens import TokenUsage
from tests.examples import few_examples
from tests.harness.agent_streams import (
    PlayedStream,
    join_lines,
    make_objects,
    make_request,
    play_stream,
)

HARNESS = PiHarness()
# Streams of the real pi against cub's model server, without deltas and the user's messages.
SAMPLES = Path(__file__).parents[2] / "golden/harness/pi"


def play_recorded(name: str) -> PlayedStream:
    return play_stream(HARNESS, (SAMPLES / f"{name}.jsonl").read_bytes())


def play_message(reason: str, text: str = "", **more: Any) -> PlayedStream:
    message = {"role": "assistant", "stopReason": reason, **more}
    message["content"] = [{"type": "text", "text": text}]
    return play_stream(HARNESS, join_lines({"type": "message_end", "message": message}))


def test_the_command_appends_the_system_prompt(tmp_path: Path) -> None:
    environ = {"PI_CODING_AGENT_DIR": str(tmp_path / "none")}
    harness = PiHarness(NativeOptions(("--approve",), environ, "local/m"))
    command = harness.build_command(make_request(tmp_path, arguments=("--no-context-files",)))
    assert command.argv == (
        "pi", "--mode", "json", "--append-system-prompt", str(tmp_path / "system.md"),
        "--model", "local/m", "--approve", "--no-context-files",
    )  # fmt: skip
    assert command.stdin == b"Do it."
    assert command.environ == {"PI_OFFLINE": "1", **environ}
    slash = harness.build_command(make_request(tmp_path, prompt="/login"))
    assert slash.stdin == b"Task:\n\n/login"


@pytest.mark.parametrize("is_projects", [False, True])
def test_a_file_that_pi_appends_by_itself_is_named_as_well(
    tmp_path: Path, is_projects: bool
) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    folder = project / ".cub/runs/1"
    for path in (user, project / ".pi", folder):
        path.mkdir(parents=True)
    own = user / "APPEND_SYSTEM.md"
    own.write_text("Mine.")
    if is_projects:  # pi takes it in the place of the user's
        own = project / ".pi/APPEND_SYSTEM.md"
        own.write_text("Ours.")
    harness = PiHarness(NativeOptions((), {"PI_CODING_AGENT_DIR": str(user)}))
    argv = harness.build_command(make_request(folder)).argv
    appended = [argv[at + 1] for at, word in enumerate(argv) if word == "--append-system-prompt"]
    assert appended == [str(own), str(folder / "system.md")]


@pytest.mark.parametrize("version", ["0.74.2", "1.6.0"])
def test_messages_add_up(version: str) -> None:
    played = play_recorded(f"{version}-chat-work")
    assert played.list_texts("tool") == ["bash printf a > new.txt; sleep 0.2"]
    assert played.list_texts("text") == ["I write it.\n", "I did it.\n\nStatus: done\n"]
    transcript = played.transcript
    assert len(transcript.session) == 36
    assert transcript.model == "scripted"
    assert transcript.tokens == TokenUsage(2000, 100)
    assert transcript.usd == pytest.approx(0.0022)
    assert transcript.final_message == "I did it.\n\nStatus: done"
    assert played.is_success()
    assert not played.is_success(1)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("1.6.0-chat-cut", "service", "terminated: other side closed"),
        ("1.6.0-chat-web-page", "service", "Stream ended without finish_reason"),
        ("1.6.0-chat-error-500", "service", "500: boom"),
        ("1.6.0-chat-no-network", "service", "Connection error"),
        ("1.6.0-chat-empty", "service", "the service's reply is empty"),
        ("1.6.0-chat-wrong-key", "login", "401: invalid x-api-key"),
        ("1.6.0-chat-no-such-model", "setup", "404: The model `no-such-model` does not exist"),
        ("1.6.0-chat-prompt-too-long", "setup", "400: This model's maximum context length"),
        ("1.6.0-chat-error-400", "setup", "400: 'reasoning.effort': 'x' is not valid"),
        ("1.6.0-chat-limit", "limit", "429: Slow down."),
        ("1.6.0-chat-quota", "limit", "429: You exceeded your current quota"),
        ("1.6.0-anthropic-wrong-key", "login", "401 invalid x-api-key"),
        ("1.6.0-anthropic-error-400", "setup", "400 tools.3: this is not valid"),
        ("1.6.0-anthropic-limit", "limit", "429 Slow down."),
        ("1.6.0-responses-wrong-key", "login", "local API error (401): invalid x-api-key"),
        ("1.6.0-responses-error-400", "setup", "local API error (400): 'reasoning.effort'"),
        ("1.6.0-responses-limit", "limit", "local API error (429): Slow down."),
        ("0.74.2-chat-cut", "service", "terminated"),
        ("0.74.2-chat-empty", "service", "the service's reply is empty"),
        ("0.74.2-chat-wrong-key", "login", "401 invalid x-api-key"),
        ("0.74.2-chat-no-such-model", "setup", "404 The model `no-such-model` does not exist"),
        ("0.74.2-chat-error-400", "setup", "400 'reasoning.effort': 'x' is not valid"),
        ("0.74.2-chat-prompt-too-long", "setup", "400 This model's maximum context length"),
        ("0.74.2-chat-quota", "limit", "429 You exceeded your current quota"),
    ],
)
def test_real_failures_have_their_class(name: str, kind: str, words: str) -> None:
    played = play_recorded(name)
    assert played.refusal
    assert played.refusal.message.startswith(words)
    # A quota that is used up is a matter of the login for some services.
    assert played.transcript.refusal
    assert played.transcript.refusal.kind == kind
    assert played.lacks_reply
    assert not played.is_success()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("1.6.0-chat-refusal", "I can't help with that request."),
        ("1.6.0-chat-empty-refusal", "the model refused: Provider finish_reason: content_filter"),
        ("1.6.0-anthropic-refusal", "I can't help with that request."),
        ("0.74.2-chat-refusal", "I can't help with that request."),
        ("0.74.2-anthropic-refusal", "I can't help with that request."),
    ],
)
def test_a_refusal_of_the_model_is_a_reply(name: str, words: str) -> None:
    played = play_recorded(name)
    assert played.refusal is None
    assert played.transcript.final_message == words
    assert not played.lacks_reply
    assert not played.is_success()


def test_a_refusal_of_the_api_responses_is_words_like_others() -> None:
    transcript = play_recorded("1.6.0-responses-refusal").transcript
    assert transcript.final_message == "I can't help with that request."
    assert HARNESS.is_success(transcript, 0)


def test_a_reply_after_a_failure_ends_it() -> None:
    failed = {"role": "assistant", "stopReason": "error", "errorMessage": "500 boom"}
    good = {"role": "assistant", "stopReason": "stop", "content": [{"text": "Done."}]}
    lines = join_lines(*({"type": "message_end", "message": one} for one in (failed, good)))
    transcript = play_stream(HARNESS, lines).transcript
    assert transcript.refusal is None
    assert HARNESS.is_success(transcript, 0)


def test_what_was_cut_is_no_words_of_a_model() -> None:
    played = play_message("error", "I will lo", errorMessage="terminated")
    assert "I will lo\n" not in played.list_texts("text")
    assert HARNESS.lacks_reply(played.transcript)


def test_a_refused_connection_is_no_refusal_of_the_model() -> None:
    played = play_message("error", errorMessage="connect: connection refused")
    assert played.refusal_kind == "service"


def test_stderr_tells_of_a_missing_key() -> None:
    errors = "Warning: x\nNo API key found for anthropic.\nUse /login to log into a provider.\n"
    refused = ("login", None, "No API key found for anthropic.")
    assert play_stream(HARNESS, "", errors).refusal == refused


_KEYS = ("type", "id", "message", "role", "content", "text", "stopReason", "usage", "cost", "total",
         "args", "toolName", "errorMessage")  # fmt: skip


@few_examples
@given(st.lists(make_objects(_KEYS), max_size=5))
def test_any_stream_can_be_read(trees: list[Any]) -> None:
    kinds = ("session", "message_end", "tool_execution_start")
    lines = [{**tree, "type": kinds[at % 3]} for at, tree in enumerate(trees)]
    lines += [{"type": "message_end", "message": {**tree, "role": "assistant"}} for tree in trees]
    play_stream(HARNESS, join_lines(*lines))
