from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.native_harness import NativeOptions
from cub.harness.opencode import OpencodeHarness
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

HARNESS = OpencodeHarness()
LIMIT = "Rate limit reached for gpt-5. Please try again in 3600s."
STEP = {"type": "step_start", "sessionID": "ses_1", "part": {"type": "step-start"}}


def play(*trees: Any, errors: str = "") -> PlayedStream:
    return play_stream(HARNESS, join_lines(*trees), errors)


def make_log(error: str, small: str = "false") -> str:
    return (
        'timestamp=2026-11-25T10:37:51.637Z level=ERROR run=a0e2fcc9 message="stream error" '
        f"providerID=x modelID=m session.id=ses_1 small={small} agent=build mode=primary "
        f'error.error="AI_APICallError: {error}"\n'
    )


def make_step(reason: str, cost: float = 0.0, **tokens: Any) -> dict[str, Any]:
    part = {"reason": reason, "cost": cost, "tokens": tokens}
    return {"type": "step_finish", "sessionID": "ses_1", "part": part}


def make_error(message: str, **data: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"name": "APIError", "data": {"message": message, **data}}}


def make_tool(error: str = "", output: str = "") -> dict[str, Any]:
    state = {"status": "error" if error else "completed", "input": {"command": "make"}}
    state |= {"error": error} if error else {"output": output}
    return {"type": "tool_use", "part": {"tool": "bash", "state": state}}


def test_the_command_accepts_what_the_settings_do_not_deny(tmp_path: Path) -> None:
    options = NativeOptions(("--agent", "plan"), {"X": "1"}, "local/m")
    for permissions in ("auto", "bypass"):
        request = make_request(tmp_path, permissions=permissions)
        command = OpencodeHarness(options).build_command(request)
        assert command.argv == (
            "opencode", "run", "--format", "json", "--auto", "--print-logs", "--log-level",
            "ERROR", "--model", "local/m", "--agent", "plan",
        )  # fmt: skip
        assert command.stdin == b"Rules.\n\nDo it."
        assert command.environ == {"OPENCODE_DISABLE_AUTOUPDATE": "1", "X": "1"}
    assert "--model" not in HARNESS.build_command(make_request(tmp_path)).argv


def test_tokens_and_cost_of_the_steps_add_up() -> None:
    played = play_sample(HARNESS, "opencode-t0")
    assert played.list_texts("tool") == ["bash echo hi > out.txt"]
    assert played.list_texts("text") == ["step one\n", "all done <promise>COMPLETE</promise>\n"]
    transcript = played.transcript
    assert transcript.session == "ses_e078808f5ffeSoRCnanaoCT0L0"
    assert transcript.tokens == TokenUsage(468, 112, 2000, 0)
    assert transcript.usd == pytest.approx(0.003684)
    assert transcript.final_message == "all done <promise>COMPLETE</promise>"
    assert played.is_success()
    assert not played.is_success(1)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("opencode-1.18.33-e401", "login"), ("opencode-1.18.33-e500", "service")],
)
def test_real_failures_have_their_class(name: str, kind: str) -> None:
    played = play_sample(HARNESS, name)
    assert played.refusal_kind == kind
    assert not played.is_success(1)


@pytest.mark.parametrize("name", ["int-tool", "term-tool"])
def test_an_agent_that_was_ended_has_no_success(name: str) -> None:
    transcript = play_sample(HARNESS, f"opencode-1.18.33-{name}").transcript
    assert not HARNESS.is_success(transcript, 0)
    assert transcript.refusal is None


def test_the_log_tells_a_limit_while_opencode_sleeps() -> None:
    played = play(errors=make_log(LIMIT))
    assert played.refusal == ("limit", NOW + timedelta(hours=1), LIMIT)


def test_other_errors_that_are_tried_again_are_the_service() -> None:
    assert play(errors=make_log("Cannot do it")).list_texts("service") == ["Cannot do it"]
    assert play(errors=make_log("Cannot do it", small="true")).events == []
    assert play(errors='level=ERROR message=process error="429 Too Many Requests"\n').events == []


def test_a_step_after_an_error_ends_the_refusal() -> None:
    assert play(STEP, errors=make_log(LIMIT)).transcript.refusal is None
    assert play(STEP).list_texts("model") == []


def test_a_last_error_says_when_to_come_back() -> None:
    error = make_error("slow down", statusCode=429, responseHeaders={"retry-after": "120"})
    when = NOW + timedelta(seconds=120)
    assert play(error).refusal == ("limit", when, "slow down (retry-after: 120)")


def test_a_failure_keeps_the_last_words() -> None:
    said = {"type": "text", "part": {"text": "I looked."}}
    transcript = play(said, make_error("no such model", statusCode=404)).transcript
    assert (transcript.final_message, transcript.error) == ("I looked.", "no such model\n")
    assert not HARNESS.is_success(transcript, 0)
    nameless = {"type": "error", "error": {"name": "UnknownError"}}
    assert play(nameless).transcript.error == "UnknownError\n"


def test_a_session_that_ends_after_a_tool_has_no_success() -> None:
    rejected = make_tool("The user rejected permission to use this specific tool call.")
    played = play(rejected, make_step("tool-calls"))
    assert played.transcript.denials == ["bash make"]
    assert not HARNESS.is_success(played.transcript, 0)
    assert HARNESS.is_success(play(make_step("tool-calls"), make_step("stop")).transcript, 0)


def test_what_a_tool_prints_is_neither_limit_nor_denial() -> None:
    output = f"Error: 429 Too Many Requests\n{LIMIT}\nThe user rejected permission to use it"
    transcript = play(make_tool(output=output), make_tool("exit code 1")).transcript
    assert transcript.refusal is None
    assert transcript.denials == []


def test_a_price_that_is_not_known_is_no_cost() -> None:
    tokens: dict[str, Any] = {
        "input": 5,
        "output": 2,
        "reasoning": 3,
        "cache": {"read": 7, "write": 1},
    }
    transcript = play(make_step("stop", **tokens)).transcript
    assert transcript.usd is None
    assert transcript.tokens == TokenUsage(5, 5, 7, 1)


KEYS = (
    "type", "part", "sessionID", "text", "tool", "state", "input", "tokens", "cache", "cost",
    "reason", "error", "data", "message", "statusCode", "responseHeaders", "retry-after",
)  # fmt: skip
TYPES = st.sampled_from(["step_start", "text", "tool_use", "step_finish", "error"])


@few_examples
@given(TYPES, make_objects(KEYS), st.text(max_size=20))
def test_no_value_of_a_wrong_type_raises(kind: str, tree: dict[str, Any], text: str) -> None:
    lines = [{**tree, "type": kind}, {"type": kind, "part": tree, "error": {"data": tree}}]
    errors = make_log(text.encode("utf-8", "replace").decode())
    assert play_stream(HARNESS, join_lines(*lines), errors).events


def test_a_web_page_in_the_place_of_replies_is_a_failed_service() -> None:
    empty = {"type": "step_start"}, make_step("unknown")
    transcript = play(*empty, *empty).transcript
    assert transcript.refusal
    assert transcript.refusal.kind == "service"
    assert HARNESS.lacks_reply(transcript)
    said = {"type": "text", "part": {"text": "Hi."}}
    assert not HARNESS.lacks_reply(play(*empty, said, make_step("stop")).transcript)


def test_a_refusal_is_a_reply() -> None:
    error = {"name": "ContentFilterError", "data": {"message": "blocked by the content filter"}}
    transcript = play(make_step("content-filter"), {"type": "error", "error": error}).transcript
    assert not HARNESS.lacks_reply(transcript)
    assert transcript.has_failed
    assert transcript.final_message == "blocked by the content filter"
