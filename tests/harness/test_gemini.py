from __future__ import annotations

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cub.harness.gemini import GeminiHarness
from cub.harness.native_harness import NativeOptions
from cub.tokens import TokenUsage
from tests.harness.agent_streams import (
    NOW,
    check_odd_values,
    join_lines,
    make_request,
    play_sample,
    play_stream,
)

HARNESS = GeminiHarness()
INIT = {"type": "init", "session_id": "s-1", "model": "auto"}
STATS = {
    "total_tokens": 1297, "input_tokens": 1234, "output_tokens": 56, "cached": 1000, "input": 234,
    "models": {"small": {"total_tokens": 0}, "gemini-x": {"total_tokens": 1297}},
}  # fmt: skip


def say(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": words, "delta": True}


def tool(identity: str, command: str, name: str = "run_shell_command") -> dict[str, Any]:
    parameters = {"command": command}
    return {"type": "tool_use", "tool_name": name, "tool_id": identity, "parameters": parameters}


def refuse(identity: str, kind: str, message: str) -> dict[str, Any]:
    error = {"type": kind, "message": message}
    return {"type": "tool_result", "tool_id": identity, "status": "error", "error": error}


def fail_with(message: str) -> dict[str, Any]:
    error = {"type": "unknown", "message": message}
    return {"type": "result", "status": "error", "error": error, "stats": {}}


NOTE = "(In this text, \\@ means an at sign.)\n\n"
DONE = {"type": "result", "status": "success", "stats": STATS}


@pytest.mark.parametrize(
    ("options", "environ"),
    [(NativeOptions(environ={"HOME": "/h"}), "/h/.gemini/policies"),
     (NativeOptions(environ={"HOME": "/h", "GEMINI_CLI_HOME": "/g"}), "/g/.gemini/policies")],
)  # fmt: skip
def test_auto_allows_shell_commands_below_the_users_own_rules(
    tmp_path: Path, options: NativeOptions, environ: str
) -> None:
    command = GeminiHarness(options).build_command(make_request(tmp_path))
    file = tmp_path / "gemini-policy.toml"
    policies = ["--policy", str(file), "--policy", environ]
    start = ["gemini", "--output-format", "stream-json", "--approval-mode", "auto_edit"]
    assert list(command.argv) == start + policies
    rule = {"toolName": "run_shell_command", "decision": "allow", "priority": 1}
    assert tomllib.loads(command.files[file.name].decode()) == {"rule": [rule]}
    assert command.stdin == b"Rules.\n\nDo it."
    assert command.environ["GEMINI_CLI_TRUST_WORKSPACE"] == "true"


def test_bypass_and_a_model(tmp_path: Path) -> None:
    harness = GeminiHarness(NativeOptions(("--debug",), model="flash"))
    command = harness.build_command(make_request(tmp_path, permissions="bypass", model="pro"))
    assert list(command.argv[3:]) == ["--approval-mode", "yolo", "--model", "pro", "--debug"]
    assert command.files == {}
    assert "flash" in harness.build_command(make_request(tmp_path)).argv


@pytest.mark.parametrize(
    ("prompt", "system", "stdin"),
    [
        ("P", "", "P"),
        ("/clear", "", "Task:\n\n/clear"),
        ("/clear", "S", "S\n\n/clear"),
        (r"a @ b \@c", "", r"a @ b \@c"),
        ("see @a.md", "@b.md", NOTE + "\\@b.md\n\nsee \\@a.md"),
        ("me@x.org", "", NOTE + "me\\@x.org"),
    ],
)  # fmt: skip
def test_no_path_in_the_prompt_is_resolved(
    tmp_path: Path, prompt: str, system: str, stdin: str
) -> None:
    request = make_request(tmp_path, prompt=prompt, system_prompt=system)
    assert HARNESS.build_command(request).stdin == stdin.encode()


def test_chunks_become_messages() -> None:
    stream = join_lines(
        INIT, {"type": "message", "role": "user", "content": "the prompt"}, say("Hel"), say("lo."),
        tool("t1", "ls"), {"type": "tool_result", "tool_id": "t1", "status": "success"},
        say("One\n"), say(""), tool("t2", "pwd"), say("All "), say("done"), DONE,
    )  # fmt: skip
    found = play_stream(HARNESS, stream)
    assert found.shown == [
        ("text", "Hel"), ("text", "lo."), ("text", "\n"), ("tool", "run_shell_command ls"),
        ("text", "One\n"), ("tool", "run_shell_command pwd"),
        ("text", "All "), ("text", "done"), ("text", "\n"), ("usage", "234,63,1000,0"),
        ("result", ""),
    ]  # fmt: skip
    transcript = found.transcript
    assert (transcript.final_message, transcript.session) == ("All done", "s-1")
    assert transcript.model == "gemini-x"  # and not the one that was asked which to take
    assert found.is_success()
    assert not found.is_success(53)


@pytest.mark.parametrize(
    ("kind", "message", "is_denied"),
    [
        ("policy_violation", "not here", True),
        ("tool_not_registered", 'Tool "run_shell_command" not found.', True),
        ("unhandled_exception", 'Tool execution for "Shell" requires user confirmation', True),
        ("invalid_tool_params", "Path not in workspace: /tmp/x", True),
        ("shell_execute_error", "429 Too Many Requests", False),
    ],
)
def test_denied_actions(kind: str, message: str, is_denied: bool) -> None:
    found = play_stream(HARNESS, join_lines(tool("t1", "rm -r x"), refuse("t1", kind, message)))
    assert found.transcript.denials == ["run_shell_command rm -r x"] * is_denied
    assert found.transcript.refusal is None


def test_a_tool_that_does_not_exist_is_not_denied() -> None:
    trees = tool("t1", "", "ask_user"), refuse("t1", "tool_not_registered", "not found")
    assert play_stream(HARNESS, join_lines(*trees)).transcript.denials == []


@pytest.mark.parametrize(
    ("message", "kind", "hours"),
    [
        ('[API Error: {"error":{"code":401,"message":"UNAUTHENTICATED"}}]', "login", None),
        ('[API Error: {"error":{"code":503,"message":"m"}}]', "service", None),
        ("[API Error: Resource has been exhausted.]\nPlease wait", "limit", None),
        ("[API Error: You exceeded your current quota.\nSuggested retry after 3600s.]",
         "limit", 1),
        ("[API Error: exception TypeError: fetch failed sending request]", "service", None),
        ("[API Error: models/zzz is not found for API version v1beta]", "setup", None),
    ],
)  # fmt: skip
def test_what_the_service_refuses(message: str, kind: str, hours: int | None) -> None:
    found = play_stream(HARNESS, join_lines(INIT, say("I tried."), fail_with(message)))
    reset = NOW + timedelta(hours=hours) if hours else None
    assert found.refusal
    assert (found.refusal.kind, found.refusal.reset_time) == (kind, reset)
    assert found.transcript.final_message == "I tried."
    assert found.transcript.error.startswith("[API Error: ")
    assert not found.is_success()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Attempt 1 failed with status 429. Retrying with backoff... _ApiError: x", "limit"),
        ("Attempt 2 failed with 429 error (no Retry-After header). Retrying", "limit"),
        ("Attempt 1 failed: Quota exceeded. Please retry in 7s.", "limit"),
        ("Attempt 3 failed with status 500. Retrying with backoff...", "service"),
        ("Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed",
         "service"),
        ("When using Gemini API, you must specify the GEMINI_API_KEY environment variable.",
         "login"),
        ("Error executing tool x: Attempt 1 failed with status 429", None),
        ("429 Too Many Requests", None),
    ],
)  # fmt: skip
def test_stderr_says_that_it_tries_again(line: str, kind: str | None) -> None:
    found = play_stream(HARNESS, b"", f"Ripgrep is not available.\n{line}\n".encode())
    assert [event.kind for event in found.events] == ([kind] if kind else [])
    assert not found.transcript.refusal or found.transcript.refusal.text == line


def test_a_line_of_stderr_may_come_in_pieces() -> None:
    reader = HARNESS.open_reader()
    assert list(reader.read_errors(b"Attempt 1 failed with st")) == []
    (event,) = reader.read_errors(b"atus 503. Retrying\nAtt")
    assert event.kind == "service"


def test_a_model_that_answers_again_clears_what_was_refused() -> None:
    reader = HARNESS.open_reader()
    list(reader.read_errors(b"Attempt 1 failed with status 429.\n"))
    events = [*reader.read(join_lines(say("a"), say("b")).encode()), *reader.finish()]
    assert [event.kind for event in events] == ["model", "text", "text"]


@pytest.mark.parametrize(
    ("severity", "message", "succeeds"),
    [
        ("warning", "Loop detected, stopping execution", False),
        ("error", "Maximum session turns exceeded", False),
        ("warning", "Agent execution blocked: not this", True),
    ],
)
def test_an_agent_that_was_stopped_has_failed(severity: str, message: str, succeeds: bool) -> None:
    stopped = {"type": "error", "severity": severity, "message": message}
    found = play_stream(HARNESS, join_lines(say("a"), stopped, DONE))
    assert found.shown[:3] == [("text", "a"), ("text", "\n"), ("text", f"{message}\n")]
    assert found.is_success() == succeeds
    assert (found.transcript.final_message, found.transcript.error) == ("a", f"{message}\n")


def test_values_of_any_type_never_raise() -> None:
    refused = refuse("t1", "policy_violation", "no")
    warning = {"type": "error", "message": "Loop detected"}
    trees = [INIT, say("a"), tool("t1", "ls"), refused, warning, DONE, fail_with("no")]
    check_odd_values(HARNESS, trees)


_TWO_CALLS = TokenUsage(468, 126, 2000)


@pytest.mark.parametrize(
    ("name", "has_result", "kind", "tokens", "last"),
    [
        ("gemini-t0", True, None, _TWO_CALLS, "all done <promise>COMPLETE</promise>"),
        ("gemini-e401", True, "login", None, "[API Error: "),
        ("gemini-0.61.0-e429-bare", True, "limit", None, "[API Error: Resource has"),
        ("gemini-0.61.0-e429-retry-after-3600", True, "limit", None, "[API Error: You"),
        ("gemini-0.61.0-int-tool", True, None, _TWO_CALLS, "done"),
        ("gemini-0.61.0-nokey", False, "login", None, ""),
        ("gemini-0.61.0-empty-prompt", False, None, None, ""),
        ("gemini-0.61.0-untrusted", False, None, None, ""),
    ],
)
def test_recorded_streams(
    name: str, has_result: bool, kind: str | None, tokens: TokenUsage | None, last: str
) -> None:
    found = play_sample(HARNESS, name)
    transcript = found.transcript
    assert transcript.has_result == has_result
    assert found.is_success() == (has_result and kind is None)
    assert found.refusal_kind == kind
    assert transcript.tokens == tokens
    assert (transcript.error or transcript.final_message).startswith(last)


@pytest.mark.parametrize(
    ("message", "lacks_reply"),
    [
        ("The model returned an empty response with no text or thoughts.", True),
        ("The model response was blocked due to safety settings.", False),
    ],
)
def test_a_refusal_is_a_reply_and_an_empty_response_is_none(
    message: str, *, lacks_reply: bool
) -> None:
    stopped = {"type": "error", "severity": "error", "message": message}
    found = play_stream(HARNESS, join_lines(INIT, stopped, fail_with("")))
    assert found.lacks_reply is lacks_reply
    assert found.transcript.error == f"{message}\n"


def test_a_cut_stream_is_a_failed_service_whatever_came_before() -> None:
    trees = INIT, say("I wi"), fail_with("[API Error: terminated]")
    found = play_stream(HARNESS, join_lines(*trees))
    assert found.refusal == ("service", None, "[API Error: terminated]")
