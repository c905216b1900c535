from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.harness.base import AgentEvent
from cub.harness.codex import CodexHarness
from cub.harness.native_harness import NativeOptions
from cub.tokens import TokenUsage
from tests.examples import few_examples
from tests.harness.agent_streams import (
    NOW,
    PlayedStream,
    join_lines,
    make_objects,
    make_request,
    play_sample,
    play_stream,
)

HARNESS = CodexHarness()
LIMIT = "exceeded retry limit, last status: 429 Too Many Requests"
USAGE = {"input_tokens": 2468, "cached_input_tokens": 2000, "output_tokens": 112}
DONE = {"type": "turn.completed", "usage": USAGE}
STAMP = "2026-11-25T10:30:19.268428Z "
RETRY = (
    f"{STAMP} WARN codex_core::responses_retry: stream disconnected - retrying sampling request "
    f"(1/5 in 3599.996564738s)... turn_id=01a2 retries=1 max_retries=5 sampling_error={LIMIT}\n"
)
TELEMETRY = f"{STAMP} INFO codex_otel.trace_safe: event.name="
TAIL = " app.version=0.169.0 terminal.type=dumb model=gpt-5 slug=gpt-5\n"
ANSWER = (
    f'{TELEMETRY}"codex.sse_event" event.kind=response.completed input_token_count=1234 '
    f"output_token_count=56 cached_token_count=1000 cache_write_token_count=0{TAIL}"
)


def play(*trees: Any, errors: str = "") -> PlayedStream:
    return play_stream(HARNESS, join_lines(*trees), errors)


def item(kind: str, state: str = "completed", **values: Any) -> dict[str, Any]:
    return {"type": f"item.{state}", "item": {"id": "item_1", "type": kind, **values}}


def make_status(status: int) -> str:
    return f'{TELEMETRY}"codex.api_request" duration_ms=12 http.response.status_code={status}{TAIL}'


def test_the_command_lets_the_agent_write_into_the_project_alone(tmp_path: Path) -> None:
    command = HARNESS.build_command(make_request(tmp_path, model="gpt-5"))
    assert command.argv == (
        "codex", "exec", "--json", "--skip-git-repo-check", "-c", "allow_login_shell=false",
        "-c", 'sandbox_mode="workspace-write"', "--add-dir", str(tmp_path), "--model", "gpt-5", "-",
    )  # fmt: skip
    assert command.stdin == b"Rules.\n\nDo it."
    assert "codex_otel.trace_safe=info" in command.environ["RUST_LOG"]


def test_it_does_without_its_sandbox_where_none_can_start(tmp_path: Path) -> None:
    argv = HARNESS.build_command(make_request(tmp_path, can_nest=False)).argv
    assert argv[-3:] == ("-c", 'sandbox_mode="danger-full-access"', "-")
    assert "--dangerously-bypass-approvals-and-sandbox" not in argv


def test_bypass_and_options_change_the_command(tmp_path: Path) -> None:
    options = NativeOptions(("-c", "x=1"), {"RUST_LOG": "off"}, "o3", user_settings=False)
    request = make_request(tmp_path, permissions="bypass", system_prompt="", prompt="/init \ud800")
    command = CodexHarness(options).build_command(request)
    assert command.argv[-7:] == (
        "--dangerously-bypass-approvals-and-sandbox", "--model", "o3", "--ignore-user-config",
        "-c", "x=1", "-",
    )  # fmt: skip
    assert command.stdin == b"/init ?"
    assert command.environ == {"RUST_LOG": "off"}


def test_a_turn_has_a_session_tools_words_and_tokens() -> None:
    played = play_sample(HARNESS, "codex-t0")
    assert played.list_texts("tool") == ["exec echo hi > out.txt"]
    assert played.list_texts("text") == ["step one\n", "all done <promise>COMPLETE</promise>\n"]
    transcript = played.transcript
    assert transcript.session == "01a1f877-e943-7de0-ba89-26250edc971f"
    assert transcript.tokens == TokenUsage(468, 112, 2000, 0)
    assert transcript.final_message == "all done <promise>COMPLETE</promise>"
    assert played.is_success()
    assert not played.is_success(1)


def test_the_cut_of_long_instructions_is_a_warning() -> None:
    played = play_sample(HARNESS, "codex-bigmain-w")
    assert HARNESS.is_success(played.transcript, 0)
    assert played.transcript.final_message == "all done <promise>COMPLETE</promise>"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("codex-0.169.0-e429-bare", "limit"),
        ("codex-0.169.0-e429-retry-after-3600", "limit"),
        ("codex-0.169.0-e500", "service"),
        ("codex-e401", "login"),
        ("codex-0.169.0-nokey", "login"),
    ],
)
def test_real_failures_have_their_class(name: str, kind: str) -> None:
    played = play_sample(HARNESS, name)
    assert played.refusal_kind == kind
    assert not played.is_success(1)


@pytest.mark.parametrize("name", ["int-api", "int-tool", "term-api", "term-tool"])
def test_an_agent_that_was_ended_has_neither_success_nor_refusal(name: str) -> None:
    transcript = play_sample(HARNESS, f"codex-0.169.0-{name}").transcript
    assert not HARNESS.is_success(transcript, 0)
    assert transcript.refusal is None


def test_a_limit_that_was_overcome_is_no_refusal() -> None:
    played = play_sample(HARNESS, "codex-0.169.0-e429-retry-after-8s-then-ok")
    assert played.list_texts("limit") == [LIMIT, LIMIT]
    assert played.transcript.refusal is None


def test_a_read_only_sandbox_is_a_denial() -> None:
    played = play_sample(HARNESS, "codex-0.169.0-plain-readonly")
    assert played.transcript.denials == ["exec echo hi > out.txt"]


@pytest.mark.parametrize("is_log_first", [True, False])
def test_the_log_says_until_when_codex_sleeps(*, is_log_first: bool) -> None:
    reader = HARNESS.open_reader()
    error = {"type": "error", "message": f"Reconnecting... 1/5 ({LIMIT})"}
    out, log = join_lines(error).encode(), RETRY.encode()
    if is_log_first:
        events = [*reader.read_errors(log), *reader.read(out)]
    else:
        events = [*reader.read(out), *reader.read_errors(log)]
    assert events[-1] == AgentEvent("limit", f"{LIMIT} (try again in 3599 s)")
    refusal = play(error, errors=RETRY).refusal
    assert refusal
    assert refusal.reset_time == NOW + timedelta(seconds=3599)


def test_a_short_wait_has_no_time() -> None:
    assert play(errors=RETRY.replace("3599.996564738s", "3.496s")).events == []


def test_no_network_and_a_silent_5xx_are_failures_of_the_service() -> None:
    message = "Reconnecting... waiting for network (Connection failed: error sending request)"
    played = play({"type": "error", "message": message}, errors=make_status(503))
    texts = ["HTTP 503", "Connection failed: error sending request"]
    assert played.list_texts("service") == texts


def test_an_answer_ends_a_refusal() -> None:
    log = make_status(503) + make_status(200)
    assert play(errors=log).transcript.refusal is None
    assert play(errors=log).list_texts("model") == ["gpt-5", "gpt-5"]
    assert play(errors=make_status(200)).list_texts("model") == ["gpt-5"]


def test_tokens_of_the_log_and_of_the_turn_count_once() -> None:
    reader = HARNESS.open_reader()
    events = [
        *reader.read_errors(ANSWER.encode()),
        *reader.read(join_lines(DONE).encode()),
        *reader.read_errors(ANSWER.encode()),
    ]
    tokens = [event.tokens for event in events if event.tokens]
    assert tokens == [TokenUsage(234, 56, 1000, 0), TokenUsage(234, 56, 1000, 0)]
    assert play(DONE).transcript.tokens == TokenUsage(468, 112, 2000, 0)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("error=patch rejected: writing is blocked by read-only sandbox", ""),
        ("error=approval policy is Never; reject command", ""),
        ("error=unsupported call: apply_patch", None),
    ],
)
def test_what_codex_rejects_is_in_its_log(line: str, text: str | None) -> None:
    played = play(errors=f"{STAMP}ERROR codex_core::tools::router: {line}\n")
    assert played.list_texts("denied") == ([] if text is None else [line[6:]])


def test_a_command_that_the_sandbox_denied_is_reported_once() -> None:
    outcome = "tool_name=exec_command call_id=call_1 outcome=denied initial_duration_ms=71"
    errors = f'{TELEMETRY}"codex.sandbox_outcome" {outcome}{TAIL}'
    assert play(DONE, errors=errors).list_texts("denied") == ["a command, by the sandbox"]
    assert play(DONE, errors=errors.replace("denied", "ok")).list_texts("denied") == []
    output = "sh: 1: cannot create a: Read-only file system"
    failed = item("command_execution", command="sh a", status="failed", aggregated_output=output)
    assert play(failed, DONE, errors=errors).list_texts("denied") == ["exec sh a"]


def test_what_a_tool_prints_is_no_limit() -> None:
    output = f"Error: 429 Too Many Requests\n{LIMIT}\n"
    command = item("command_execution", command="/bin/bash -c 'make'", aggregated_output=output,
                   exit_code=1, status="failed")  # fmt: skip
    played = play(command, DONE)
    assert played.transcript.refusal is None
    assert played.list_texts("tool") == ["exec make"]
    assert played.transcript.denials == []


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"type": "file_change", "changes": [{"path": "/a"}, {"path": "/b"}]}, "edit /a, /b"),
        ({"type": "web_search", "query": "cub"}, "web_search cub"),
        ({"type": "mcp_tool_call", "server": "x", "tool": "find"}, "find"),
        ({"type": "command_execution", "command": "ls -l"}, "exec ls -l"),
        ({"type": "command_execution", "command": "bash -c \"a 'b'\"' \"c\"'"}, "exec a 'b' \"c\""),
        ({"type": "command_execution", "command": "bash -lc 'a"}, "exec bash -lc 'a"),
        ({"type": "command_execution", "command": "b" * 20_000}, f"exec {'b' * 195}"),
    ],
)
def test_a_tool_is_told_once_in_a_few_words(values: dict[str, Any], text: str) -> None:
    tree = {"id": "item_1", **values}
    played = play({"type": "item.started", "item": tree}, {"type": "item.completed", "item": tree})
    assert played.list_texts("tool") == [text]


def test_a_failure_keeps_the_last_words() -> None:
    words = item("agent_message", text="I looked.\n<stuck>no key</stuck>")
    failed = {"type": "turn.failed", "error": {"message": "bad request: no such model"}}
    transcript = play(words, failed).transcript
    assert transcript.final_message == "I looked.\n<stuck>no key</stuck>"
    assert transcript.error == "bad request: no such model\n"
    assert not HARNESS.is_success(transcript, 0)


def test_a_used_up_quota_says_until_when() -> None:
    message = (
        "You\u2019ve hit your usage limit. Upgrade to Pro or try again at Nov 26th, 2026 1:33 PM."
    )
    failed = {"type": "turn.failed", "error": {"message": message}}
    refusal = play(failed).refusal
    assert refusal
    assert refusal.kind == "limit"
    assert refusal.reset_time is not None


KEYS = (
    "type", "item", "id", "text", "command", "changes", "path", "usage", "input_tokens", "error",
    "message", "status", "aggregated_output",
)  # fmt: skip
TYPES = st.sampled_from(
    ["thread.started", "item.started", "item.completed", "error", "turn.failed", "turn.completed"]
)


@few_examples
@given(TYPES, make_objects(KEYS), st.text(max_size=20))
@example("item.started", {}, "\r")  # of a log, which no terminal has shown
def test_no_value_of_a_wrong_type_raises(kind: str, tree: dict[str, Any], text: str) -> None:
    lines = [{**tree, "type": kind}, {"type": kind, "item": tree, "error": tree, "usage": tree}]
    errors = ANSWER.replace("1234", text.encode("utf-8", "replace").decode())
    assert play_stream(HARNESS, join_lines(*lines), errors).events


def test_a_reply_that_codex_does_not_show_is_told_from_an_empty_one() -> None:
    hidden = play({"type": "turn.started"}, DONE).transcript
    assert hidden.has_failed
    assert not HARNESS.lacks_reply(hidden)
    assert "refusal" in hidden.final_message
    empty = play(item("agent_message", text=""), DONE).transcript
    assert HARNESS.is_success(empty, 0)
    assert HARNESS.lacks_reply(empty)


def test_what_a_service_refuses_for_good_is_a_matter_of_the_setup() -> None:
    message = '{"error": {"message": "x is not supported", "type": "invalid_request_error"}}'
    played = play({"type": "turn.failed", "error": {"message": message}})
    assert played.refusal == ("setup", None, "x is not supported")
    assert played.lacks_reply
