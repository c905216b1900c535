"""Drive Claude Code: `claude -p` with its stream of JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from cub.agent_profiles.claude import CLAUDE
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.native_harness import (
    JsonLineReader,
    LaunchObstacle,
    NativeHarness,
    avoid_slash_command,
    describe_tool,
    make_message,
)
from cub.harness.reported_refusals import classify_api_error, suggest_setup_fix
from cub.json_values import (
    JsonObject,
    get_count,
    get_dollars,
    get_object,
    get_text,
    list_objects,
    list_texts,
)
from cub.text import find_first_line
from cub.tokens import TokenUsage

_SYNTHETIC = "<synthetic>"  # the model of messages that Claude Code writes itself
_REFUSED = "the model refused to continue"
_USAGE_KEYS = (
    "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
)  # fmt: skip
_MODEL_USAGE_KEYS = (
    "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens",
)  # fmt: skip
_MAX_TIMESTAMP = 10**10  # seconds


class ClaudeReader(JsonLineReader):
    """Read Claude Code's stream.

    Several events of a message repeat its usage, and only the result has all tokens: what was
    reported until then is subtracted from them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._messages: dict[str, TokenUsage] = {}
        self._tokens = TokenUsage()
        self._usd = 0.0
        self._tools: dict[str, str] = {}
        self._denials = set[str]()
        self._is_refused = False
        self._last_text = self._api_error = self._reset = ""

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield the events of an object."""
        match tree.get("type"), tree.get("subtype"):
            case "system", "init":
                yield AgentEvent("session", get_text(tree, "session_id"))
                yield AgentEvent("model", get_text(tree, "model"))
            case "system", "api_retry":
                yield self._read_retry(tree)
            case "system", "permission_denied":
                yield from self._read_denial(tree)
            case "assistant", _:
                yield from self._read_message(tree)
            case "rate_limit_event", _:
                self._read_limit(get_object(tree, "rate_limit_info"))
                yield AgentEvent("other")
            case "result", _:
                yield from self._read_result(tree)
            case _:
                yield AgentEvent("other")

    def _read_message(self, tree: JsonObject) -> Iterator[AgentEvent]:
        message = get_object(tree, "message")
        if is_synthetic := get_text(message, "model") == _SYNTHETIC:
            self._api_error = get_text(tree, "error")
        elif self._is_refused:  # the service answers again
            self._is_refused = False
            yield AgentEvent("model", get_text(message, "model"))
        is_subagent = bool(tree.get("parent_tool_use_id"))
        for block in list_objects(message, "content"):
            if block.get("type") == "text" and not is_subagent:
                self._last_text = get_text(block, "text")
                yield from make_message(self._last_text, failed=is_synthetic)
            elif block.get("type") == "tool_use":
                text = describe_tool(get_text(block, "name"), get_object(block, "input"))
                self._tools[get_text(block, "id")] = text
                yield AgentEvent("tool", text)
        identity, usage = get_text(message, "id"), get_object(message, "usage")
        before = self._messages.get(identity, TokenUsage())
        now = TokenUsage(*map(max, before, _read_usage(usage, _USAGE_KEYS)))
        self._messages[identity] = now
        yield from self._report_tokens(self._tokens.add(now.subtract(before)))

    def _report_tokens(self, total: TokenUsage) -> Iterator[AgentEvent]:
        """Yield what was not reported yet of all tokens until now."""
        rest = total.subtract(self._tokens)
        self._tokens = self._tokens.add(rest)
        if any(rest):
            yield AgentEvent("usage", tokens=rest)

    def _read_retry(self, tree: JsonObject) -> AgentEvent:
        status, error = get_count(tree, "error_status"), get_text(tree, "error")
        kind = classify_api_error(error, status) or "service"
        what = f"HTTP {status} ({error})" if status else "no connection to the service"
        seconds = get_count(tree, "retry_delay_ms") / 1000
        self._is_refused = True
        # Only a limit ends by itself at that time.
        return AgentEvent(kind, what + f", retry in {seconds:.0f}s" * (kind == "limit"))

    def _read_denial(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield a denied action once: it comes when it is denied, and again in the result."""
        identity = get_text(tree, "tool_use_id")
        if identity not in self._denials:
            self._denials.add(identity)
            text = describe_tool(get_text(tree, "tool_name"), get_object(tree, "tool_input"))
            yield AgentEvent("denied", self._tools.get(identity, text))

    def _read_limit(self, info: JsonObject) -> None:
        seconds = get_count(info, "resetsAt")
        self._reset = ""
        if info.get("status") == "rejected" and 0 < seconds < _MAX_TIMESTAMP:
            self._reset = f" (resets at {datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ})"

    def _read_result(self, tree: JsonObject) -> Iterator[AgentEvent]:
        models = get_object(tree, "modelUsage")  # complete even if it stopped for its budget
        total = _read_usage(get_object(tree, "usage"), _USAGE_KEYS)
        if models:
            total = TokenUsage()
            for model in models:
                total = total.add(_read_usage(get_object(models, model), _MODEL_USAGE_KEYS))
        yield from self._report_tokens(total)
        usd = get_dollars(tree, "total_cost_usd")
        if usd is not None:
            yield AgentEvent("cost", usd=max(usd - self._usd, 0.0))
            self._usd = max(usd, self._usd)
        for denial in list_objects(tree, "permission_denials"):
            yield from self._read_denial(denial)
        text = get_text(tree, "result")
        if tree.get("is_error") is False:
            yield AgentEvent("result", text)
            return
        if get_text(tree, "stop_reason") == "refusal":
            yield AgentEvent("result", find_first_line(text) or _REFUSED, failed=True)
            return
        errors = [one for one in list_texts(tree, "errors") if not one.startswith("[ede_")]
        for words in (text, *errors):
            if words != self._last_text:
                yield from make_message(words, failed=True)
        # The result has no text of its own then: the agent's last words come before the error.
        yield from self._find_refusal(tree, text)
        yield AgentEvent("result", failed=True)

    def _find_refusal(self, tree: JsonObject, text: str) -> Iterator[AgentEvent]:
        status = get_count(tree, "api_error_status")
        if not (status or self._api_error):  # the text is a model's
            return
        if kind := classify_api_error(f"{text} ({self._api_error})", status):
            yield AgentEvent(kind, find_first_line(text) + self._reset * (kind == "limit"))


def _read_usage(tree: JsonObject, keys: tuple[str, ...]) -> TokenUsage:
    return TokenUsage(*(get_count(tree, key) for key in keys))


class ClaudeHarness(NativeHarness):
    """Drive Claude Code."""

    facts: ClassVar = CLAUDE
    reader: ClassVar = ClaudeReader
    default_environ: ClassVar = {
        # It tries again for three minutes by default, even if the key is wrong. Six times take
        # 40 seconds, which an overload of moments does not outlive.
        "CLAUDE_CODE_MAX_RETRIES": "6",
        "DISABLE_AUTOUPDATER": "1",  # the program must not change in the middle of a run
    }

    no_user_settings: ClassVar = ("--setting-sources", "project,local")

    def find_obstacle(self, permissions: str, environ: Mapping[str, str]) -> LaunchObstacle | None:
        """Return that it does not skip permissions as root, except in what is said to be a sandbox.

        It looks at the same variables.
        """
        is_root = hasattr(os, "getuid") and os.getuid() == 0
        is_sandbox = environ.get("IS_SANDBOX") == "1" or environ.get("CLAUDE_CODE_BUBBLEWRAP")
        if permissions != "bypass" or not is_root or is_sandbox:
            return None
        why = "Claude Code does not bypass permissions with root/sudo privileges"
        return LaunchObstacle(why, suggest_setup_fix(why, self.name))

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command; the system prompt is added to Claude Code's own."""
        argv = [self.facts.program, "-p", "--output-format", "stream-json", "--verbose"]
        argv += ["--append-system-prompt-file", str(request.folder / "system.md")]
        if request.permissions == "bypass":
            argv.append("--dangerously-skip-permissions")
        else:
            # The user's own rules that deny or ask still win over these.
            argv += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
        return self.make_command(request, argv, avoid_slash_command(request.prompt))
