"""Drive pi: its JSON mode, which ends with 0 whatever the model's service has said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from cub.agent_profiles.pi import APPENDED_FILE, PI, PI_FOLDER, PI_FOLDER_VARIABLE
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.event_protocol import decode_line
from cub.harness.native_harness import (
    JsonLineReader,
    NativeHarness,
    avoid_slash_command,
    describe_tool,
    make_message,
)
from cub.harness.reported_refusals import classify_api_error, extract_message
from cub.json_values import JsonObject, get_count, get_dollars, get_object, get_text, list_objects
from cub.tokens import TokenUsage

_STATUS = re.compile(r"(?:.{0,60} API error \()?(\d{3})\b")
# The last words are those of version 0.74 for a refusal of Claude's.
_REFUSED = re.compile(
    r"the model refused|content_filter|stopped with: sensitive|refusal|an unknown error occurred",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"No API key (?:found )?for |No models available|Authentication failed for ")
_EMPTY = "the service's reply is empty, or is not a model's"


class PiReader(JsonLineReader):
    """Read pi's stream: each message of a model has its tokens, its cost, and why it ended."""

    def read_error_line(self, line: bytes) -> Iterator[AgentEvent]:
        """Yield an event for a missing login, which is all that stderr tells of the service."""
        if _LOGIN.search(text := decode_line(line)):
            yield AgentEvent("login", text)

    def read_object(self, tree: JsonObject) -> Iterable[AgentEvent]:
        """Return the events of an object."""
        message = get_object(tree, "message")
        match tree.get("type"):
            case "session":
                return [AgentEvent("session", get_text(tree, "id"))]
            case "tool_execution_start":
                args = get_object(tree, "args")
                return [AgentEvent("tool", describe_tool(get_text(tree, "toolName"), args))]
            case "message_end" if message.get("role") == "assistant":
                return self._read_message(message)
            case _:
                return [AgentEvent("other")]

    def _read_message(self, message: JsonObject) -> Iterator[AgentEvent]:
        yield from _read_usage(get_object(message, "usage"))
        blocks = list_objects(message, "content")
        text = "\n".join(filter(None, (get_text(block, "text") for block in blocks)))
        reason = get_text(message, "stopReason")
        if reason in ("error", "aborted"):
            yield from _read_failure(message, text)
        elif reason == "toolUse":
            yield AgentEvent("model", get_text(message, "model"))
            yield from make_message(text)
        elif text.strip():
            yield AgentEvent("model", get_text(message, "model"))
            yield from make_message(text)
            yield AgentEvent("result", text)
        else:
            yield AgentEvent("service", _EMPTY)
            yield AgentEvent("result", failed=True)


def _read_usage(usage: JsonObject) -> Iterator[AgentEvent]:
    names = ("input", "output", "cacheRead", "cacheWrite")
    tokens = TokenUsage(*(get_count(usage, name) for name in names))
    if any(tokens):
        yield AgentEvent("usage", tokens=tokens)
    if usd := get_dollars(get_object(usage, "cost"), "total"):  # 0 for an unknown price
        yield AgentEvent("cost", usd=usd)


def _read_failure(message: JsonObject, text: str) -> Iterator[AgentEvent]:
    """Yield why a message failed; what was cut is no reply, but a refusal has a model's words.

    pi may try again after that.
    """
    error = get_text(message, "errorMessage") or get_text(message, "stopReason")
    words, status = extract_message(error), _STATUS.match(error)
    if not status and _REFUSED.search(f"{error} {get_text(message, 'rawStopReason')}"):
        refusal = text.strip() or f"the model refused: {words}"
        yield from make_message(refusal)
        yield AgentEvent("result", refusal, failed=True)
        return
    yield from make_message(words, failed=True)
    kind = classify_api_error(error, int(status[1]) if status else None)
    yield AgentEvent(kind or "service", words)
    yield AgentEvent("result", failed=True)


class PiHarness(NativeHarness):
    """Drive pi."""

    facts: ClassVar = PI
    reader: ClassVar = PiReader
    # No request of its own at its start: for its version, and for lists of models.
    default_environ: ClassVar = {"PI_OFFLINE": "1"}

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command; the system prompt is added to pi's own.

        With the option, pi ignores a file that the user or the project adds, unless it is named as
        well. pi has no permissions.
        """
        argv = [self.facts.program, "--mode", "json"]
        for file in (*self._find_added_files(request.folder), request.folder / "system.md"):
            argv += ["--append-system-prompt", str(file)]
        return self.make_command(request, argv, avoid_slash_command(request.prompt))

    def _find_added_files(self, folder: Path) -> list[Path]:
        """Return the one file that pi would add to its system prompt by itself."""
        environ = {**os.environ, **self.options.environ}
        home = Path(environ.get("HOME") or Path.home())
        roots = [path.parent for path in folder.parents if path.name == ".cub"][:1]
        named = environ.get(PI_FOLDER_VARIABLE)
        user = Path(named).expanduser() if named else home / PI_FOLDER
        files = (*(root / ".pi" / APPENDED_FILE for root in roots), user / APPENDED_FILE)
        return [file for file in files if file.is_file()][:1]
