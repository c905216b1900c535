from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cub.harness.claude import ClaudeHarness
from cub.harness.native_harness import NativeOptions
from cub.harness.reported_refusals import suggest_setup_fix
from cub.tokens import TokenUsage
from tests.harness.agent_streams import (
    NOW,
    PlayedStream,
    check_odd_values,
    join_lines,
    make_request,
    play_sample,
    play_stream,
)

HARNESS = ClaudeHarness()
INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "model": "claude-x"}


def play(*trees: Any) -> PlayedStream:
    return play_stream(HARNESS, join_lines(*trees))


def say(identity: str, *blocks: dict[str, Any], output: int = 1, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 100, "output_tokens": output,
        "cache_read_input_tokens": 50, "cache_creation_input_tokens": 20,
    }  # fmt: skip
    message = {"id": identity, "model": "claude-x", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "message": message, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool(identity: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "Bash", "input": {"command": command}}


def model_usage(**counts: int) -> dict[str, Any]:
    return {"claude-x": {f"{name}Tokens": n for name, n in counts.items()}}


def result(**values: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", **values}


def fail_with(words: str, error: str, **values: Any) -> PlayedStream:
    message = {"model": "<synthetic>", "content": [text(words)], "usage": {"input_tokens": 0}}
    said = {"type": "assistant", "message": message, "error": error}
    failed = result(is_error=True, result=words, **values)
    return play(INIT, said, failed)


@pytest.mark.parametrize(
    ("permissions", "model", "options", "argv"),
    [
        ("auto", None, NativeOptions(),
         ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]),
        ("bypass", "opus", NativeOptions(model="haiku"),
         ["--dangerously-skip-permissions", "--model", "opus"]),
        ("bypass", None, NativeOptions(("--max-turns", "9"), model="haiku"),
         ["--dangerously-skip-permissions", "--model", "haiku", "--max-turns", "9"]),
        ("bypass", None, NativeOptions(user_settings=False),
         ["--dangerously-skip-permissions", "--setting-sources", "project,local"]),
    ],
)  # fmt: skip
def test_the_command(
    tmp_path: Path, permissions: str, model: str | None, options: NativeOptions, argv: list[str]
) -> None:
    request = make_request(tmp_path, model=model, permissions=permissions)
    command = ClaudeHarness(options).build_command(request)
    system = ["--append-system-prompt-file", str(tmp_path / "system.md")]
    start = ["claude", "-p", "--output-format", "stream-json", "--verbose", *system]
    assert list(command.argv) == start + argv
    assert command.stdin == b"Do it."


@pytest.mark.parametrize("prompt", ["/clear", " /clear\nthe cache"])
def test_a_prompt_is_not_taken_for_a_command(tmp_path: Path, prompt: str) -> None:
    command = HARNESS.build_command(make_request(tmp_path, prompt=prompt))
    assert command.stdin == f"Task:\n\n{prompt}".encode()


def test_retries_are_bounded_unless_the_configuration_says_more(tmp_path: Path) -> None:
    environ = HARNESS.build_command(make_request(tmp_path)).environ
    assert environ["CLAUDE_CODE_MAX_RETRIES"] == "6"
    options = NativeOptions(environ={"CLAUDE_CODE_MAX_RETRIES": "1", "A": "b"})
    environ = ClaudeHarness(options).build_command(make_request(tmp_path)).environ
    assert (environ["CLAUDE_CODE_MAX_RETRIES"], environ["A"]) == ("1", "b")


def test_root_bypasses_permissions_in_a_sandbox_only() -> None:
    sandbox = {"IS_SANDBOX": "1"}
    assert HARNESS.find_obstacle("bypass", sandbox) is HARNESS.find_obstacle("auto", {}) is None
    obstacle = HARNESS.find_obstacle("bypass", {})
    assert (obstacle is not None) is (os.getuid() == 0)
    assert "IS_SANDBOX" in suggest_setup_fix("cannot be used with root/sudo privileges", "claude")


def test_what_it_says_and_does_and_the_tokens_until_then() -> None:
    found = play(
        INIT,
        say("m1", text("First.")),
        say("m1", tool("t1", "pytest -q\n  tests")),
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "ok"}]}},
        say("m2", text("Done."), output=3),
        result(
            result="Done.",
            total_cost_usd=0.5,
            usage={"input_tokens": 9},
            modelUsage=model_usage(input=200, output=90, cacheReadInput=100, cacheCreationInput=45),
        ),
    )
    assert found.shown == [
        ("text", "First.\n"),
        ("usage", "100,1,50,20"),
        ("tool", "Bash pytest -q tests"),
        ("text", "Done.\n"),
        ("usage", "100,3,50,20"),
        ("usage", "0,86,0,5"),
        ("result", "Done."),
    ]
    transcript = found.transcript
    assert transcript.tokens == TokenUsage(200, 90, 100, 45)
    assert (transcript.session, transcript.model, transcript.usd) == ("s-1", "claude-x", 0.5)
    assert found.is_success()
    assert not found.is_success(1)


def test_without_tokens_by_model_the_usage_of_the_result_counts() -> None:
    played = play(say("m1", text("a")), result(usage={"input_tokens": 100, "output_tokens": 7}))
    assert played.transcript.tokens == TokenUsage(100, 7, 50, 20)


def test_totals_of_a_second_result_are_cumulative() -> None:
    first = result(total_cost_usd=0.25, modelUsage=model_usage(input=10))
    second = result(result="End.", total_cost_usd=0.75, modelUsage=model_usage(input=30))
    transcript = play(first, second).transcript
    assert (transcript.tokens, transcript.usd) == (TokenUsage(30), 0.75)
    assert transcript.final_message == "End."


def test_what_a_subagent_says_is_not_the_agents_last_word() -> None:
    inner = say("m2", text("inner"), tool("t2", "ls"), parent_tool_use_id="t1")
    found = play(inner)
    assert found.shown == [("tool", "Bash ls"), ("usage", "100,1,50,20")]


def test_a_denied_command_is_named_once() -> None:
    denied = {"tool_name": "Bash", "tool_use_id": "t1"}
    other = {"tool_name": "Edit", "tool_use_id": "t2", "tool_input": {"file_path": "a.py"}}
    found = play(
        say("m1", tool("t1", "rm -rf build")),
        {"type": "system", "subtype": "permission_denied", **denied},
        result(permission_denials=[denied, other]),
    )  # fmt: skip
    assert found.transcript.denials == ["Bash rm -rf build", "Edit a.py"]


@pytest.mark.parametrize(
    ("words", "error", "status", "kind"),
    [
        ("API Error: 500 Internal server error.", "server_error", 500, "service"),
        ("API Error: 529 Overloaded.", "server_error", 529, "limit"),
        ("API Error: Connection refused (ECONNREFUSED)", "server_error", None, "service"),
        ("Invalid API key · Fix external API key", "authentication_failed", 401, "login"),
        ("Not logged in · Please run /login", "authentication_failed", None, "login"),
        ("Credit balance is too low", "billing_error", 400, "login"),
        ("API Error: Request rejected (429) · slow down", "rate_limit", 429, "limit"),
        ("There's an issue with the selected model (nope).", "model_not_found", 404, "setup"),
        ("Prompt is too long", "invalid_request", 400, "setup"),
    ],
)
def test_what_the_service_refuses(words: str, error: str, status: int | None, kind: str) -> None:
    found = fail_with(words, error, api_error_status=status)
    assert found.refusal_kind == kind
    assert found.transcript.error == f"{words}\n"
    assert not found.is_success()


def test_a_limit_has_the_time_at_which_it_ends() -> None:
    found = fail_with(
        "You've hit your limit · resets 3pm (UTC)", "rate_limit", api_error_status=429
    )
    assert found.refusal
    assert found.refusal.reset_time == NOW + timedelta(hours=3)


@pytest.mark.parametrize(("status", "hours"), [("rejected", 2), ("allowed_warning", None)])
def test_the_time_may_come_before_the_error(status: str, hours: int | None) -> None:
    seconds = int(NOW.timestamp()) + 7200
    limit = {"status": status, "resetsAt": seconds}
    refusal = play(
        {"type": "rate_limit_event", "rate_limit_info": limit},
        result(is_error=True, result="API Error: Request rejected (429)", api_error_status=429),
    ).refusal
    assert refusal
    assert refusal.reset_time == (NOW + timedelta(hours=hours) if hours else None)


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (401, "authentication_failed", "login", "HTTP 401 (authentication_failed)"),
        (429, "rate_limit", "limit", "HTTP 429 (rate_limit)"),
        (529, "overloaded", "limit", "HTTP 529 (overloaded)"),
        (500, "server_error", "service", "HTTP 500 (server_error)"),
        (None, "unknown", "service", "no connection to the service"),
    ],
)  # fmt: skip
def test_a_request_that_is_tried_again_is_reported_until_the_model_answers(
    status: int | None, error: str, kind: str, words: str
) -> None:
    retry = {"subtype": "api_retry", "error_status": status, "error": error}
    retry |= {"type": "system", "retry_delay_ms": 8140}
    refusal = play(retry).transcript.refusal
    assert refusal
    wait = ", retry in 8s" * (kind == "limit")
    assert (refusal.kind, refusal.text) == (kind, words + wait)
    thinking = say("m1", {"type": "thinking", "thinking": "hm"})
    assert play(retry, thinking).transcript.refusal is None


def test_what_a_tool_prints_is_no_limit() -> None:
    printed = "Error: 429 Too Many Requests. You've hit your limit · resets 3pm"
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": printed, "is_error": True}]
    found = play(
        say("m1", tool("t1", "curl x")),
        {"type": "user", "message": {"content": content}},
        say("m2", text(printed)),
        result(is_error=True, subtype="error_max_turns", result=printed),
    )  # fmt: skip
    assert found.transcript.refusal is None
    assert found.refusal is None


def test_the_last_words_of_a_failure_come_with_its_reason() -> None:
    ended = {"type": "result", "subtype": "error_max_turns", "is_error": True,
             "errors": ["Reached maximum number of turns (2)", "[ede_diagnostic] x"]}  # fmt: skip
    found = play(say("m1", text("I tried sqlite.")), ended)
    assert found.transcript.final_message == "I tried sqlite."
    assert found.transcript.error == "Reached maximum number of turns (2)\n"


def test_values_of_any_type_never_raise() -> None:
    denied = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}
    limit = {"status": "rejected", "resetsAt": 1_795_358_574}
    retry = {"subtype": "api_retry", "error_status": 429, "error": "rate_limit"}
    check_odd_values(HARNESS, [
        INIT,
        {"type": "system", **retry, "retry_delay_ms": 5},
        say("m1", text("a"), tool("t1", "ls"), parent_tool_use_id=None),
        {"type": "system", "subtype": "permission_denied", **denied},
        {"type": "rate_limit_event", "rate_limit_info": limit},
        result(is_error=True, errors=["x"], permission_denials=[denied], total_cost_usd=1,
               usage={"input_tokens": 1}, modelUsage=model_usage(input=1), api_error_status=429),
    ])  # fmt: skip


_FULL = TokenUsage(2468, 112, 2000, 400)


@pytest.mark.parametrize(
    ("name", "succeeds", "kind", "tokens", "denials", "last"),
    [
        ("claude-t0", True, None, _FULL, [], "all done <promise>COMPLETE</promise>"),
        ("claude-2.1.330-t0", True, None, _FULL, [], "all done <promise>COMPLETE</promise>"),
        ("claude-2.1.330-budget", False, None, TokenUsage(3702, 168, 3000, 600), [],
         "Reached maximum budget ($0.02)"),
        ("claude-budget", False, None, TokenUsage(3702, 168, 3000, 600), [],
         "Reached maximum budget ($0.02)"),
        ("claude-2.1.330-turns", False, None, _FULL, [], "Reached maximum number of turns (2)"),
        ("claude-2.1.330-dontask", True, None, _FULL, ["Bash echo hi > out.txt"], "all done"),
        ("claude-2.1.330-noperm", True, None, _FULL, ["Bash echo hi > out.txt"], "all done"),
        ("claude-noperm", True, None, _FULL, ["Bash echo hi > out2.txt"], "end"),
        ("claude-2.1.330-e401-r0", False, "login", None, [], "Invalid API key"),
        ("claude-2.1.330-nokey", False, "login", None, [], "Not logged in"),
        ("claude-2.1.330-e429-bare", False, "limit", None, [], "API Error: Request"),
        ("claude-2.1.330-e429-retry-after-3600", False, "limit", None, [], "API Error"),
        ("claude-2.1.330-limit-r0", False, "limit", None, [], "API Error"),
        ("claude-2.1.330-e529-r0", False, "limit", None, [], "API Error: 529"),
        ("claude-2.1.330-e500-r0", False, "service", None, [], "API Error: 500"),
        ("claude-e500-r0", False, "service", None, [], "API Error: 500"),
        ("claude-2.1.330-badmodel", False, "setup", None, [], "There's an issue with the selected"),
        ("claude-2.1.330-int-api", False, None, None, [], ""),
        ("claude-2.1.330-int-tool", False, None, TokenUsage(1234, 56, 1000, 200), [], ""),
        ("claude-2.1.330-term-api", False, None, None, [], ""),
        ("claude-2.1.330-empty-prompt", False, None, None, [], ""),
    ],
)  # fmt: skip
def test_recorded_streams(
    name: str,
    succeeds: bool,
    kind: str | None,
    tokens: TokenUsage | None,
    denials: list[str],
    last: str,
) -> None:
    found = play_sample(HARNESS, name)
    transcript = found.transcript
    assert found.is_success() == succeeds
    assert found.refusal_kind == kind
    assert (transcript.tokens, transcript.denials) == (tokens, denials)
    said = transcript.error or transcript.final_message
    assert said.startswith(last)
    assert bool(said) == bool(last)


REFUSED = "API Error: Sonnet 4.5 can't help with this.\n\nLearn more: x\n\nMessage ID: msg_2"


@pytest.mark.parametrize("said", ["", "I can't help with that."])
def test_a_model_that_refuses_has_replied_and_the_first_line_says_why(said: str) -> None:
    message = {"model": "<synthetic>", "content": [text(REFUSED)], "stop_reason": "refusal"}
    transcript = play(
        INIT, say("m1", text(said)),
        {"type": "assistant", "message": message, "error": "invalid_request"},
        result(is_error=True, result=REFUSED, stop_reason="refusal"),
    ).transcript  # fmt: skip
    assert transcript.final_message == "API Error: Sonnet 4.5 can't help with this."
    assert transcript.refusal is None
    assert not HARNESS.lacks_reply(transcript)


def test_an_empty_reply_and_the_agents_own_errors_are_no_reply() -> None:
    assert HARNESS.lacks_reply(play(INIT, result()).transcript)
    page = "API Error: API returned an empty or malformed response (HTTP 200): body is an HTML page"
    transcript = fail_with(page, "unknown").transcript
    assert HARNESS.lacks_reply(transcript)
    assert transcript.refusal
    assert transcript.refusal.kind == "service"
    assert not HARNESS.lacks_reply(play(say("m1", text("Hi"))).transcript)
