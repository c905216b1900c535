"""Drive Gemini CLI: its headless mode with a stream of JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from cub.agent_profiles.gemini import GEMINI
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.event_protocol import decode_line
from cub.harness.native_harness import (
    JsonLineReader,
    NativeHarness,
    avoid_slash_command,
    describe_tool,
    make_message,
    prepend_system_prompt,
)
from cub.harness.reported_refusals import classify_api_error, extract_message
from cub.json_values import JsonObject, get_count, get_object, get_text
from cub.tokens import TokenUsage

_POLICY_FILE = "gemini-policy.toml"
# The lowest priority among the user's own rules, so that each of these wins.
_POLICY = """\
[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 1
"""
# Gemini attaches the file of an @path, looks for one like it, and then changes the text around it.
_MENTION = re.compile(r"(?<!\\)@(?=\S)")
_ESCAPED = r"(In this text, \@ means an at sign.)"  # a bare one attaches the whole directory

_ATTEMPT = re.compile(r"Attempt \d+ failed(?: with status (\d+))?\b")
_LOGIN = re.compile(
    r"When using Gemini API, you must specify|Please set an Auth method"
    r"|Manual authorization is required"
)
_CODE = re.compile(r'"code"\s*:\s*(\d{3})\b')
_MAX_LINE = 1_000  # characters
_DENIALS = ("Tool execution denied", "Tool execution for", "Path not in workspace")
_LOOP = "Loop detected"
_API_ERROR = "[API Error: "
_REFUSED = re.compile(r"blocked due to|safety settings|prohibited content", re.IGNORECASE)
_SHELL_OR_EDIT = ("run_shell_command", "write_file", "replace")


class GeminiReader(JsonLineReader):
    """Read Gemini's stream, and from its stderr that it tries again: the stream is silent then.

    Tokens are known at the end only.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tools: dict[str, str] = {}
        self._is_line_open = False
        self._is_refused = False
        self._is_stopped = False
        self._refusal = ""

    def read_error_line(self, line: bytes) -> Iterator[AgentEvent]:
        """Yield an event for a failed request and for a missing login."""
        text = decode_line(line)[:_MAX_LINE]
        if match := _ATTEMPT.match(text):
            self._is_refused = True
            kind = classify_api_error(text, int(match[1] or 0)) or "service"
            yield AgentEvent(kind, extract_message(text))
        elif _LOGIN.match(text):
            yield AgentEvent("login", text)

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield the events of an object."""
        kind = tree.get("type")
        if kind == "message" and tree.get("role") == "assistant":
            yield from self._read_chunk(get_text(tree, "content"))
            return
        if self._is_line_open:
            self._is_line_open = False
            yield AgentEvent("text", "\n")
        match kind:
            case "init":
                yield AgentEvent("session", get_text(tree, "session_id"))
                yield AgentEvent("model", get_text(tree, "model"))
            case "tool_use":
                name = get_text(tree, "tool_name")
                text = describe_tool(name, get_object(tree, "parameters"))
                self._tools[get_text(tree, "tool_id")] = text
                self._is_refused = False
                yield AgentEvent("tool", text)
            case "tool_result":
                yield from self._read_tool_result(tree)
            case "error":
                message = get_text(tree, "message")
                # It ends after these, with a result that says "success".
                self._is_stopped |= tree.get("severity") == "error" or message.startswith(_LOOP)
                if _REFUSED.search(message):
                    self._refusal = message
                yield from make_message(message, failed=True)
            case "result":
                yield from _report_usage(tree)
                yield from self._read_end(tree)
            case _:
                yield AgentEvent("other")

    def _read_chunk(self, text: str) -> Iterator[AgentEvent]:
        """Yield a piece of a message."""
        if self._is_refused:  # the service answers again
            self._is_refused = False
            yield AgentEvent("model")
        if text:
            self._is_line_open = not text.endswith("\n")
            yield AgentEvent("text", text)

    def _read_tool_result(self, tree: JsonObject) -> Iterator[AgentEvent]:
        action = self._tools.pop(get_text(tree, "tool_id"), "")
        kind, message = get_text(tree, "error", "type"), get_text(tree, "error", "message")
        is_missing = kind == "tool_not_registered" and action.startswith(_SHELL_OR_EDIT)
        if is_missing or kind == "policy_violation" or message.startswith(_DENIALS):
            yield AgentEvent("denied", action or message)
        else:
            yield AgentEvent("other")

    def _read_end(self, tree: JsonObject) -> Iterator[AgentEvent]:
        message = get_text(tree, "error", "message")
        words = extract_message(message)
        yield from make_message(words, failed=True)
        failed = self._is_stopped or tree.get("status") != "success"
        code = _CODE.search(message)
        kind = classify_api_error(message, int(code[1]) if code else None) if message else None
        if message.startswith(_API_ERROR):
            kind = kind or "service"
        if failed and kind:
            yield AgentEvent(kind, words)
        yield AgentEvent("result", self._refusal, failed=failed)


def _report_usage(tree: JsonObject) -> Iterator[AgentEvent]:
    models = get_object(tree, "stats", "models")
    totals = {model: get_count(models, model, "total_tokens") for model in models}
    model = max(totals, key=totals.__getitem__, default="")
    if totals.get(model):
        yield AgentEvent("model", get_text({"": model}, ""))  # `auto` has chosen it
    stats = get_object(tree, "stats")
    sent, output = get_count(stats, "input_tokens"), get_count(stats, "output_tokens")
    # What the model thinks is in the total only.
    output = max(output, get_count(stats, "total_tokens") - sent)
    tokens = TokenUsage(get_count(stats, "input"), output, get_count(stats, "cached"))
    if any(tokens):
        yield AgentEvent("usage", tokens=tokens)


class GeminiHarness(NativeHarness):
    """Drive Gemini CLI."""

    facts: ClassVar = GEMINI
    reader: ClassVar = GeminiReader
    # It would ignore the project's settings, and the approval mode.
    default_environ: ClassVar = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command, with both prompts on its stdin."""
        argv, files = [self.facts.program, "--output-format", "stream-json"], {}
        if request.permissions == "bypass":
            argv += ["--approval-mode", "yolo"]
        else:
            # Without a rule for it there is no shell tool. `--allowed-tools` would win over the
            # user's rules; `--policy` replaces their folder, unless it is named as well.
            files[_POLICY_FILE] = _POLICY
            argv += ["--approval-mode", "auto_edit"]
            for policies in (request.scratch / _POLICY_FILE, self._find_user_policies()):
                argv += ["--policy", str(policies)]
        prompt = prepend_system_prompt(request)
        if _MENTION.search(prompt):
            prompt = f"{_ESCAPED}\n\n" + _MENTION.sub(r"\\@", prompt)
        return self.make_command(request, argv, avoid_slash_command(prompt), files=files)

    def _find_user_policies(self) -> Path:
        environ = {**os.environ, **self.options.environ}
        home = environ.get("GEMINI_CLI_HOME") or environ.get("HOME") or Path.home()
        return Path(home, ".gemini", "policies")
