"""Drive Codex: `codex exec` with its stream of JSON.

The stream has tokens only at the end of a turn, no model, and not how long Codex waits before it
tries again. Its log on stderr has all of that, so cub asks for a few lines of it. Without them,
less is known, and nothing else changes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import ClassVar

from cub.agent_profiles.codex import CODEX
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.native_harness import (
    JsonLineReader,
    NativeHarness,
    describe_tool,
    make_message,
    prepend_system_prompt,
)
from cub.harness.reported_refusals import classify_api_error, extract_message
from cub.json_values import JsonObject, get_count, get_object, get_text, list_objects
from cub.tokens import TokenUsage

_LOGS = "error,codex_core::responses_retry=warn,codex_otel.trace_safe=info"


# Codex has no item for a part of a reply that it does not know.
_NOT_SHOWN = "Codex shows nothing of the model's reply, which may be a refusal"
_RETRY = re.compile(r"Reconnecting\.\.\. (?:(\d+/\d+)|[^(]*) \((.*)\)", re.DOTALL)
_BLOCKED = re.compile(r"Read-only file system|Operation not permitted|^bwrap: ", re.MULTILINE)
_SILENT_KINDS = ("", "agent_message", "reasoning", "todo_list", "error")  # errors are warnings
_MAX_COMMAND = 10_000  # characters, as splitting takes time


class CodexReader(JsonLineReader):
    """Read Codex's stream and its log.

    Tokens are counted response by response from the log; the total at the end of the turn adds
    what the log did not have.
    """

    def __init__(self) -> None:
        super().__init__()
        self._log = CodexLogReader()
        self._started = set[str]()
        self._has_denial = self._has_items = False

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield the events of an object."""
        match tree.get("type"):
            case "thread.started":
                yield AgentEvent("session", get_text(tree, "thread_id"))
            case "item.started":
                yield from self._read_start(get_object(tree, "item"))
            case "item.completed":
                yield from self._read_item(get_object(tree, "item"))
            case "error":
                yield from self._read_error(get_text(tree, "message"))
            case "turn.failed":
                message = get_text(tree, "error", "message")
                yield from make_message(extract_message(message), failed=True)
                yield from self._read_error(message)
                yield AgentEvent("result", failed=True)
            case "turn.completed":
                yield from self._read_end(_read_usage(tree))
            case _:
                yield AgentEvent("other")

    def read_error_line(self, line: bytes) -> Iterator[AgentEvent]:
        """Yield what the log says of limits, denials, tokens, and the model."""
        return self._log.read_line(line.decode("utf-8", "replace"))

    def _read_end(self, total: TokenUsage) -> Iterator[AgentEvent]:
        yield from self._log.count_rest(total)
        if self._log.has_denial and not self._has_denial:
            # The stream has no item of a command that the sandbox ended at its start.
            yield AgentEvent("denied", "a command, by the sandbox")
        if total.output and not self._has_items:
            yield AgentEvent("result", _NOT_SHOWN, failed=True)
        else:
            yield AgentEvent("result")

    def _read_start(self, item: JsonObject) -> Iterator[AgentEvent]:
        kind, key = get_text(item, "type"), get_text(item, "id")
        if kind not in _SILENT_KINDS and key not in self._started:
            self._started.add(key)
            yield AgentEvent("tool", _describe_item(kind, item))

    def _read_item(self, item: JsonObject) -> Iterator[AgentEvent]:
        self._has_items |= get_text(item, "type") != "error"
        if get_text(item, "type") == "agent_message":
            yield from make_message(get_text(item, "text"))
            return
        yield from self._read_start(item)
        if get_text(item, "status") == "failed" and _BLOCKED.search(
            get_text(item, "aggregated_output")
        ):
            self._has_denial = True
            yield AgentEvent("denied", _describe_item("command_execution", item))

    def _read_error(self, message: str) -> Iterator[AgentEvent]:
        retry = _RETRY.fullmatch(message)
        text = extract_message(retry[2] if retry else message)
        if kind := classify_api_error(message) or ("service" if retry else None):
            self._log.is_refused = True
            if retry and kind == "limit":  # only that ends by itself at some time
                text += self._log.describe_wait(retry[1])
            yield AgentEvent(kind, text)


def _describe_item(kind: str, item: JsonObject) -> str:
    if kind == "command_execution":
        return describe_tool("exec", {"command": _find_shell_line(get_text(item, "command"))})
    if kind == "file_change":
        paths = (get_text(change, "path") for change in list_objects(item, "changes"))
        return describe_tool("edit", {"path": ", ".join(paths)})
    return describe_tool(get_text(item, "tool") or kind, item)


def _find_shell_line(command: str) -> str:
    """Return the line that a shell gets, or else the command as it is."""
    if len(command) > _MAX_COMMAND:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
    return words[2] if is_shell else command


def _read_usage(tree: JsonObject) -> TokenUsage:
    """Return the tokens of a turn; those from a cache are part of Codex's input."""
    read = get_count(tree, "usage", "cached_input_tokens")
    write = get_count(tree, "usage", "cache_write_input_tokens")
    count = get_count(tree, "usage", "input_tokens")
    output = get_count(tree, "usage", "output_tokens")
    return TokenUsage(max(0, count - read - write), output, read, write)


_LINE = re.compile(r"\S+Z\s+[A-Z]+ (?:[^ ]*\}: )?(?P<target>[\w:.]+): (?P<text>.*)", re.DOTALL)
_WAIT = re.compile(
    r".* \((\d+/\d+) in (\d{2,6})(?:\.\d+)?s\)\.\.\. .*sampling_error=(.*)", re.DOTALL
)
_STATUS = re.compile(r'event\.name="codex\.api_request".* http\.response\.status_code=([25]\d\d)\b')
_DENIAL = re.compile(r'event\.name="codex\.sandbox_outcome".* outcome=denied\b')
_FIELD = re.compile(r" (\w+)=(\d{1,12})(?= )")
_MODEL = re.compile(r" model=([\w./:-]+)")


class CodexLogReader:
    """Read the lines of Codex's log that cub asks for.

    `is_refused`: a request failed, and none has succeeded since. `has_denial`: the sandbox denied
    a command something.
    """

    def __init__(self) -> None:
        self.is_refused = self.has_denial = False
        self._counted = TokenUsage()
        self._is_over = False
        self._model = ""
        self._waits = dict[str, str]()

    def read_line(self, line: str) -> Iterator[AgentEvent]:
        """Yield the events of a line."""
        if match := _LINE.fullmatch(line):
            yield from self._read_record(match["target"], match["text"])

    def describe_wait(self, number: str | None) -> str:
        """Return when Codex tries again after a failure with a number such as `1/5`.

        "" if the log has not said it.
        """
        return self._waits.get(number or "", "")

    def count_rest(self, total: TokenUsage) -> Iterator[AgentEvent]:
        """Yield the tokens of a whole turn that were not counted yet."""
        self._is_over = True
        if any(rest := total.subtract(self._counted)):
            yield AgentEvent("usage", tokens=rest)

    def _read_record(self, target: str, text: str) -> Iterator[AgentEvent]:
        if target == "codex_core::tools::router" and "reject" in text:
            yield AgentEvent("denied", text.removeprefix("error="))
        elif target == "codex_core::responses_retry" and (wait := _WAIT.fullmatch(text)):
            self._waits[wait[1]] = f" (try again in {wait[2]} s)"
            kind = classify_api_error(wait[3]) or "service"
            self.is_refused = True
            yield AgentEvent(kind, wait[3] + self._waits[wait[1]] * (kind == "limit"))
        elif target == "codex_otel.trace_safe":
            yield from self._read_telemetry(text)

    def _read_telemetry(self, text: str) -> Iterator[AgentEvent]:
        if (model := _MODEL.search(text)) and model[1] != self._model:
            self._model = model[1]
            yield AgentEvent("model", self._model)
        self.has_denial |= bool(_DENIAL.match(text))
        status = _STATUS.match(text)
        if status and status[1][0] == "5" and not self.is_refused:
            self.is_refused = True
            yield AgentEvent("service", f"HTTP {status[1]}")
        elif status and status[1][0] == "2" and self.is_refused:
            self.is_refused = False
            yield AgentEvent("model", self._model)
        elif " event.kind=response.completed " in text and not self._is_over:
            counts = {name: int(count) for name, count in _FIELD.findall(text)}
            read = counts.get("cached_token_count", 0)
            write = counts.get("cache_write_token_count", 0)
            count = max(0, counts.get("input_token_count", 0) - read - write)
            tokens = TokenUsage(count, counts.get("output_token_count", 0), read, write)
            self._counted = self._counted.add(tokens)
            yield AgentEvent("usage", tokens=tokens)


class CodexHarness(NativeHarness):
    """Drive Codex."""

    facts: ClassVar = CODEX
    reader: ClassVar = CodexReader
    default_environ: ClassVar = {"RUST_LOG": _LOGS}
    no_user_settings: ClassVar = ("--ignore-user-config",)

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command; the system prompt is at the head of the prompt.

        Codex's developer_instructions would replace the user's own.
        """
        argv = [self.facts.program, "exec", "--json", "--skip-git-repo-check"]
        # A login shell may reset PATH, and then there is no `cub`.
        argv += ["-c", "allow_login_shell=false"]
        if request.permissions == "bypass":
            argv.append("--dangerously-bypass-approvals-and-sandbox")
        elif not request.can_nest:  # it would run no command
            argv += ["-c", 'sandbox_mode="danger-full-access"']
        else:  # `cub task close` leaves a request in the scratch folder
            argv += ["-c", 'sandbox_mode="workspace-write"', "--add-dir", str(request.scratch)]
        return self.make_command(request, argv, prepend_system_prompt(request), "-")
