from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cub.harness.acp.agent_connection import StopSignals
from cub.harness.acp.conversation import Patience, SessionOptions
from tests.actions.run.shop import alive
from tests.harness.acp.talks import USAGE, ask, error, result, said, talk, update

BYPASS = SessionOptions("bypass", "", "", "")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with all that the agent got."""
    path = tmp_path / "log.jsonl"
    monkeypatch.setenv("ACP_LOG", str(path))
    monkeypatch.chdir(tmp_path)
    return path


def sent(log: Path, method: str) -> dict[str, Any]:
    """The parameters of what cub sent last with this method."""
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    params: dict[str, Any] = [m for m in messages if m.get("method") == method][-1]["params"]
    return params


def answers(log: Path) -> list[dict[str, Any]]:
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    return [message for message in messages if "method" not in message]


def test_a_turn_has_its_words_tokens_and_dollars() -> None:
    done = talk(
        update("usage_update", used=1, size=9, cost={"amount": 0.25, "currency": "USD"}),
        said("I ", messageId="m1"),
        said("look.", messageId="m1"),
        update("tool_call", toolCallId="t", title="ls", kind="execute", status="in_progress"),
        update("tool_call_update", toolCallId="t", status="completed"),
        update("usage_update", used=1, size=9, cost={"amount": 0.75, "currency": "USD"}),
        said("Status: done", messageId="m2"),
        result(usage=USAGE),
    )
    assert not done.failed
    assert done.said == "Status: done"
    assert done.events == [
        {"type": "session", "id": "s-1"},
        {"type": "cost", "usd": 0.25},
        {"type": "text", "text": "I look."},
        {"type": "tool", "text": "execute: ls"},
        {"type": "cost", "usd": 0.5},
        {"type": "text", "text": "Status: done"},
        {"type": "usage", "input": 10, "output": 2, "cache_read": 3, "cache_write": 1},
    ]


def test_the_client_offers_no_files_and_no_terminal(log: Path) -> None:
    talk(said("Hi"))
    capabilities = sent(log, "initialize")["clientCapabilities"]
    assert capabilities == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    assert sent(log, "session/new") == {"cwd": str(log.parent), "mcpServers": []}


@pytest.mark.parametrize(
    "step",
    [
        {"id": 5, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}},
        {"id": "x", "method": "terminal/create", "params": {"command": "sh"}},
        {"id": 5, "method": "craft/drainMidTurnQueue"},
    ],
)
def test_a_request_that_cub_does_not_offer_is_refused_at_once(log: Path, step: Any) -> None:
    assert not talk(step, said("Status: done")).failed
    (answer,) = answers(log)
    assert (answer["id"], answer["error"]["code"]) == (step["id"], -32601)


def test_unknown_notifications_and_updates_are_ignored() -> None:
    step = {"method": "qwen/notify/session/mode-update", "params": [1]}
    odd: list[Any] = [update("new_kind", x=1), {"method": "session/update", "params": 5}]
    assert talk(step, *odd, said("Hi")).said == "Hi"


def test_the_system_prompt_goes_the_agents_own_way_or_at_the_head_of_the_prompt(log: Path) -> None:
    options = SessionOptions("auto", "", "", "Be brief.\n")
    talk("takes-system", said("Hi"), options=options)
    content = [{"type": "text", "text": "Be brief.\n"}]
    assert sent(log, "session/new")["systemPrompt"] == {"mode": "append", "content": content}
    assert sent(log, "session/prompt")["prompt"] == [{"type": "text", "text": "Do it"}]
    talk(said("Hi"), options=options)
    assert "systemPrompt" not in sent(log, "session/new")
    assert sent(log, "session/prompt")["prompt"][0]["text"] == "Be brief.\n\nDo it"


def test_a_prompt_begins_with_no_command(log: Path) -> None:
    talk(said("Hi"), prompt="/init")
    assert sent(log, "session/prompt")["prompt"][0]["text"] == "Task:\n\n/init"


def test_mode_and_model_are_set_before_the_prompt(log: Path) -> None:
    options = SessionOptions("auto", "free", "large", "")
    talk(said("Hi"), options=options)
    assert sent(log, "session/set_mode") == {"sessionId": "s-1", "modeId": "free"}
    assert sent(log, "session/set_model") == {"sessionId": "s-1", "modelId": "large"}
    talk("options", said("Hi"), options=options)
    assert sent(log, "session/set_config_option")["configId"] == "the-mode"
    methods = [json.loads(line).get("method") for line in log.read_text().splitlines()]
    assert methods[-3:] == ["session/set_config_option"] * 2 + ["session/prompt"]


@pytest.mark.parametrize(
    ("flags", "options", "words"),
    [
        ((), ("", "large "), "the agent has no model 'large ': it has large"),
        ((), ("fre", ""), "the agent has no mode 'fre': it has ask, free"),
        (("plain",), ("free", ""), "the agent has no mode 'free': it offers no choice"),
        (
            ("options", "refuse session/set_config_option"),
            ("", "huge"),
            "the agent has no model 'huge': it has a, free",
        ),
        (("options", "refuse session/set_config_option"), ("", "free"), "Authentication required"),
    ],
)
def test_an_unknown_mode_or_model_is_a_failure_with_those_there_are(
    flags: tuple[str, ...], options: tuple[str, str], words: str
) -> None:
    done = talk(*flags, said("Hi"), options=SessionOptions("auto", *options, ""))
    assert (done.failed, done.words) == (True, words)


def test_what_the_work_needs_is_allowed_once(log: Path) -> None:
    step = ask(kind="edit", title="Write a.py", locations=[{"path": "$root/a.py"}])
    done = talk(step, said("Status: done"))
    outcome = {"outcome": "selected", "optionId": "o-allow_once"}
    assert answers(log)[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": outcome}}
    assert (done.of("tool"), done.of("denied")) == (["edit: Write a.py"], [])


@pytest.mark.parametrize(
    "options", [("reject_once", "allow_once"), ("allow_always", "reject_always")]
)
def test_what_leads_out_of_the_project_is_rejected_and_told(
    log: Path, options: tuple[str, ...]
) -> None:
    step = ask(kind="edit", title="Write", locations=[{"path": "/etc/a"}], options=options)
    done = talk(step, said("I could not."))
    outcome = answers(log)[-1]["result"]["outcome"]
    assert outcome["optionId"].startswith("o-reject")
    assert done.of("denied") == [f"edit: Write ({os.path.relpath('/etc/a')})"]


def test_with_bypass_all_is_allowed_but_only_once(log: Path) -> None:
    there = [{"path": "/etc/a"}]
    first = ask(1, kind="edit", locations=there)
    second = ask(2, kind="edit", locations=there, options=("allow_always",))
    done = talk(first, second, options=BYPASS)
    outcomes = [one["result"]["outcome"] for one in answers(log)]
    assert outcomes == [
        {"outcome": "selected", "optionId": "o-allow_once"}, {"outcome": "cancelled"},
    ]  # fmt: skip
    assert len(done.of("denied")) == 1


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        ((error(-32000, "Authentication required"),), "login", "Authentication required"),
        ((result("refusal"),), "", "the model refused to go on"),
        ((result(),), "service", "the agent ended its turn without a word and without a tool"),
        ((said("Missing environment variable: `KEY`"), result(usage=None)), "login",
         "Missing environment variable: `KEY`"),
        (("die",), "", "the agent was ended by signal 9, during session/prompt"),
        (("leave",), "", "exit code 3, during session/prompt"),
        (("close",), "", "the agent closed its stdout, during session/prompt"),
        (("version-2",), "setup", "the agent speaks version 2 of the protocol, cub version 1"),
        (("die in initialize",), "setup", "exit code 1, during initialize"),
        (("refuse session/new",), "login", "Authentication required"),
    ],
)  # fmt: skip
def test_a_turn_that_failed_says_why(steps: tuple[Any, ...], kind: str, words: str) -> None:
    done = talk(*steps)
    assert (done.failed, done.kind, done.words) == (True, kind, words)


def test_the_end_of_a_turn_is_no_success_when_the_service_broke() -> None:
    """As Codex's adapter tells it: `end_turn`, and the service's words as the agent's."""
    retry = {"willRetry": True, "message": "Reconnecting 1/5", "additionalDetails": "high demand"}
    done = talk(
        update("session_info_update", _meta={"codex": {"error": retry}}),
        update("session_info_update", _meta={"codex": {"threadStatus": {"type": "systemError"}}}),
        said("high demand"),
        result(usage=None),
    )
    assert (done.kind, done.words) == ("service", "high demand")


def notice(status: int) -> Any:
    info = {"responseTooManyFailedAttempts": {"httpStatusCode": status}}
    retry = {"willRetry": True, "message": "no", "codexErrorInfo": info}
    return update("session_info_update", _meta={"codex": {"error": retry}})


def test_a_limit_is_reported_while_the_agent_waits_for_its_end() -> None:
    done = talk(notice(429), "cancelled", result("cancelled"), patience=Patience(silence=0.1))
    assert done.of("limit") == ["no"]
    assert (done.kind, done.words) == ("limit", "no")


def test_silence_after_the_prompt_is_the_services() -> None:
    done = talk("cancelled", result("cancelled", usage=USAGE), patience=Patience(silence=0.1))
    assert (done.kind, done.words) == (
        "service",
        "the model was silent for 0 s while no tool ran",
    )
    assert len(done.of("usage")) == 1


def test_silence_while_a_tool_is_at_work_is_the_tools() -> None:
    done = talk(
        update("tool_call", toolCallId="t", title="make", status="in_progress"),
        {"do": "sleep 0.2"},
        update("tool_call_update", toolCallId="t", status="completed"),
        said("Hi"),
        patience=Patience(silence=0.1),
    )
    assert (done.failed, done.said) == (False, "Hi")


def test_an_agent_that_never_answers_is_given_up() -> None:
    done = talk("mute", patience=Patience(start=0.1))
    assert done.words == "no answer to initialize within 0 s"


def test_a_stop_cancels_the_turn_and_its_tokens_are_told() -> None:
    stop = StopSignals()
    stop.request()
    assert talk("mute", stop=stop).words == "the attempt was interrupted"


def test_lines_that_are_no_messages_are_counted() -> None:
    done = talk("garbage", "long-line", said("Hi"))
    assert (done.said, done.garbage) == ("Hi", 4)


def test_a_flood_of_words_comes_in_pieces_and_is_cut() -> None:
    done = talk("flood")
    assert sum(len(text) for text in done.of("text")) == 2_000_000
    assert max(len(text) for text in done.of("text")) < 100_000
    assert len(done.said) == 65_536


def test_nothing_of_the_agent_outlives_the_talk() -> None:
    done = talk("stays", "child", said("Hi"))
    assert len(done.group) == 2
    assert alive(done.group) == []
