"""What a run makes of each fault of a service, of a model, or of the setup, with each real agent.

An attempt without a usable reply of a model costs its task nothing. What repeating can't cure ends
the run at once; the run waits for what the service may cure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cub.errors import CubError
from cub.model_server.exchange import RecordedRequest
from tests.actions.run.shop import Done
from tests.agents.agent_runs import DONE, failure, limit_attempts_of_gemini
from tests.agents.conftest import CHECK, AgentProject, StartAgent, write_file
from tests.model_server.faults import Reply, find_api

Step = Reply | Callable[[RecordedRequest], Reply]
_WORDS = "I will look at the files of this project first, and then write."
_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Accept.</body></html>"
_LONG = "prompt is too long: 250000 tokens > 200000 maximum"
_CHAT_LONG = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "250000 tokens."
)
_NO_MODEL = "The model `no-such-model` does not exist or you do not have access to it."


def _cut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Close the connection in the middle of the reply."""
    pieces = list(pieces)
    yield from pieces[: len(pieces) // 2] or [pieces[0][:60]]
    raise OSError


def _describe_anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _describe_openai(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def _describe_gemini(status: str, code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


_BODIES: Mapping[tuple[int, str], Mapping[str, Any]] = {
    (404, "model"): {
        "anthropic": _describe_anthropic("not_found_error", "model: no-such-model"),
        "responses": _describe_openai("model_not_found", _NO_MODEL),
        "chat": _describe_openai("model_not_found", _NO_MODEL),
        "gemini": _describe_gemini("NOT_FOUND", 404, "models/no-such-model is not found"),
    },
    (400, "long"): {
        "anthropic": _describe_anthropic("invalid_request_error", _LONG),
        "responses": _describe_openai(
            "context_length_exceeded", "Your input exceeds the context window of this model."
        ),
        "chat": _describe_openai("context_length_exceeded", _CHAT_LONG),
        "gemini": _describe_gemini(
            "INVALID_ARGUMENT", 400,
            "The input token count (1500000) exceeds the maximum number of tokens allowed.",
        ),
    },
    (400, "other"): {
        "anthropic": _describe_anthropic("invalid_request_error", "tools.3: this is not valid"),
        "responses": _describe_openai("unsupported_value", "'reasoning.effort': 'x' is not valid"),
        "chat": _describe_openai("unsupported_value", "'reasoning.effort': 'x' is not valid"),
        "gemini": _describe_gemini("INVALID_ARGUMENT", 400, "Invalid JSON payload received."),
    },
}  # fmt: skip


def _refuse(status: int, what: str) -> Step:
    """An error as the service of each API writes it."""
    return lambda one: Reply(status=status, body=json.dumps(_BODIES[status, what][find_api(one)]))


def _play(*steps: Step) -> Callable[[RecordedRequest], Reply]:
    """Answer with each step in turn, and with the last one from then on."""
    left = list(steps)

    def answer(request: RecordedRequest) -> Reply:
        step = left.pop(0) if len(left) > 1 else left[0]
        return step if isinstance(step, Reply) else step(request)

    return answer


class Fault(NamedTuple):
    """What the model's service does, and the cell: the class, whether it counts, the reason.

    `after_work`: the model's first reply is fine, so that aider's whole attempt is.
    """

    steps: tuple[Step, ...]
    outcome: str
    is_charged: bool
    reason: str = "."
    after_work: bool = False


_WORK, _KEY = write_file("a"), Reply(status=401, message="invalid x-api-key")
_BUSY = Reply(status=529, message="Overloaded")
_REFUSED = Reply("I can't help with that request.", stop_reason="refusal")
FAULTS = {
    "cut": Fault((Reply(_WORDS, deliver=_cut),), "service_failed", False,
                 "(?i)connect|stream|closed|terminated|end"),
    "web page": Fault((Reply(body=_PAGE, headers={"Content-Type": "text/html"}),),
                      "service_failed", False),
    "error 500": Fault((Reply(status=500, message="boom"),), "service_failed", False,
                       "500|boom|high demand"),  # these are Codex's words since 0.171.0
    "no network": Fault((DONE,), "service_failed", False),
    "never answers": Fault((Reply(hangs=True),), "service_failed", False, "no reply within"),
    "empty": Fault((Reply(""),), "service_failed", False, "(?i)empty|without a word"),
    "wrong key": Fault((_KEY,), "auth", False, "(?i)key|401|auth"),
    "no key": Fault((DONE,), "auth", False, "(?i)key|log|auth"),
    "no such model": Fault((_refuse(404, "model"),), "harness_setup", False, "(?i)model"),
    "prompt too long": Fault((_refuse(400, "long"),), "harness_setup", False,
                             "(?i)long|context|token"),
    "error 400": Fault((_refuse(400, "other"),), "harness_setup", False, "(?i)valid"),
    "no such argument": Fault((DONE,), "harness_setup", False, "(?i)such-?option|opencode run"),
    "refusal": Fault((_REFUSED,), "harness_exit", True, "(?i)can't help|refus|blocked"),
    "empty refusal": Fault((Reply("", stop_reason="refusal"),), "harness_exit", True,
                           "(?i)can't help|refus|blocked"),
    "wrong key after work": Fault((_WORK, _KEY), "auth", False, "(?i)key|401|auth", True),
    "cut after work": Fault((_WORK, Reply(_WORDS, deliver=_cut)), "service_failed", False,
                            after_work=True),
    "silence after work": Fault((_WORK, Reply(hangs=True)), "timeout_idle", True,
                                after_work=True),
    "too long after work": Fault((_WORK, _refuse(400, "long")), "harness_exit", True,
                                 "(?i)long|context|token", True),
    "overloaded twice": Fault((_BUSY, _BUSY, _WORK, DONE), "ok", False, after_work=True),
}  # fmt: skip
_NATIVE = ("claude", "codex", "gemini", "opencode", "aider", "pi", "builtin")
_ACP = ("claude-acp", "codex-acp", "gemini-acp", "opencode-acp")
_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "CUB_CODE_API_KEY")
# Cells of their own: what an agent does not tell, or takes for something else.
_OTHERS: Mapping[tuple[str, str], tuple[str, bool]] = {
    # It says nothing of the reason, so the words count.
    ("refusal", "gemini"): ("no_changes", True),
    ("refusal", "gemini-acp"): ("no_changes", True),
    ("refusal", "aider"): ("no_changes", True),
    # Its adapter shows nothing of it, as of an empty reply.
    ("refusal", "codex-acp"): ("service_failed", False),
    ("empty refusal", "codex-acp"): ("service_failed", False),
    ("empty refusal", "aider"): ("service_failed", False),
    ("empty refusal", "gemini-acp"): ("service_failed", False),
    # It tells no status, so the service may be at fault.
    ("error 400", "opencode-acp"): ("service_failed", False),
}
_LEFT_OUT = {
    ("no key", "opencode"): "its key is in its configuration",
    ("no key", "opencode-acp"): "its key is in its configuration",
    ("no key", "pi"): "its key is in its configuration",
    ("no key", "builtin"): "it is refused before the run",
    ("web page", "opencode-acp"): "it repeats the request in silence, which takes ten minutes",
}
_ENDING = ("auth", "harness_setup")
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "claude": {"env": {"CLAUDE_CODE_MAX_RETRIES": "1"}},
    "claude-acp": {"acp": ["claude-agent-acp"], "env": {"CLAUDE_CODE_MAX_RETRIES": "1"}},
    "codex-acp": {"acp": ["codex"]},
    "gemini-acp": {"acp": ["gemini", "--acp"]},
    "opencode-acp": {"acp": ["opencode"]},
}


def start_with_fault(start_agent: StartAgent, agent: str, name: str, home: Path) -> AgentProject:
    """A project whose agent meets a fault."""
    program = agent.removesuffix("-acp") if agent in ("gemini-acp", "opencode-acp") else agent
    made = start_agent(program, _play(*FAULTS[name].steps))
    made.agent = agent
    settings = dict(_SETTINGS.get(agent, {}))
    if name == "overloaded twice":
        settings.pop("env", None)  # as often as it tries by default
    if name == "no such argument":
        settings["args"] = ["--no-such-option"]
    made.shop.configure(harnesses={agent: settings} if settings else {}, run={"checks": [CHECK]})
    if name == "no key":
        for key in _KEYS:
            made.shop.environ.pop(key, None)
    if name == "no network":
        _cut_off(made, home)
    if agent == "gemini-acp" and name != "overloaded twice":
        limit_attempts_of_gemini(home)
    return made


def _cut_off(made: AgentProject, home: Path) -> None:
    """Lead the agent to a port where nobody listens."""
    url, nowhere = made.server.url, "http://127.0.0.1:9"
    made.shop.environ |= {k: v.replace(url, nowhere) for k, v in made.shop.environ.items()}
    for file in (*home.rglob("*.json"), *home.rglob("*.toml")):
        file.write_text(file.read_text().replace(url, nowhere))


def run_once(made: AgentProject, name: str) -> Done:
    """One attempt; the clock leaps where the agent tries again by itself."""
    if "never" in name or "silence" in name:
        # opencode takes seconds to start, without a word.
        seconds = 30 if "opencode" in made.agent else 15
        return made.run(iterations=1, idle_timeout=f"{seconds}s")
    return made.run(iterations=1, each=None if name == "overloaded twice" else made.hurry)


@pytest.mark.agents
@pytest.mark.parametrize("agent", [*_NATIVE, *_ACP])
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_cell(
    start_agent: StartAgent, home: Path, agent: str, name: str
) -> None:
    if why := _explain_omission(name, agent):
        pytest.skip(why)
    made = start_with_fault(start_agent, agent, name, home)
    require_cell(made, run_once(made, name), name)


def require_cell(made: AgentProject, done: Done, name: str) -> None:
    """The class, whether it counts, the reason, the task, and how the run ends."""
    fault = FAULTS[name]
    outcome, is_charged = _OTHERS.get((name, made.agent), (fault.outcome, fault.is_charged))
    assert done.outcomes == [outcome]
    if outcome == "ok":
        return
    found = failure(done)
    assert found["charge"] is is_charged
    assert re.search(fault.reason if (name, made.agent) not in _OTHERS else ".", found["reason"])
    assert not re.search(r"retry in|Message ID|I wi", found["reason"].partition("; the agent")[0])
    assert made.shop.status() == ("retry" if is_charged else "open")
    assert (done.end["end"] == "machine", bool(done.end.get("hint"))) == (outcome in _ENDING,) * 2
    if fault.after_work:
        assert done.of("attempt_end")[0]["git"]["patch"]


def _explain_omission(name: str, agent: str) -> str:
    if agent == "aider" and FAULTS[name].after_work:
        return "its attempt is over with the first reply"
    if agent in _ACP and name == "no such argument":
        return "its arguments are its command"
    return _LEFT_OUT.get((name, agent), "")


@pytest.mark.agents
def test_claude_as_root_is_refused_before_the_run(start_agent: StartAgent) -> None:
    made = start_agent("claude", _play(DONE))
    if "IS_SANDBOX" not in made.shop.environ:
        pytest.skip("this is not root")
    made.shop.configure(run={"checks": [CHECK], "permissions": "bypass"})
    del made.shop.environ["IS_SANDBOX"]
    with pytest.raises(CubError, match="root") as caught:
        made.run()
    assert "IS_SANDBOX" in caught.value.hint


@pytest.mark.agents
def test_the_built_in_agent_without_a_key_is_refused_before_the_run(
    start_agent: StartAgent,
) -> None:
    made = start_agent("builtin", _play(DONE))
    for name in (*_KEYS, "CUB_CODE_BASE_URL"):
        made.shop.environ.pop(name, None)
    with pytest.raises(CubError, match="missing API key"):
        made.run()
