"""Drive aider, which prints plain text, and ends with 0 whatever has happened.

A reply is complete where a line with its tokens follows. So what looks like an error before that
line was the model's text, and an error after the last of these lines is one of aider's.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import ClassVar

from cub.agent_profiles.aider import AIDER
from cub.harness.base import (
    AgentEvent,
    LaunchCommand,
    LaunchRequest,
    LineReader,
    Transcript,
)
from cub.harness.event_protocol import decode_line
from cub.harness.native_harness import NativeHarness, make_message
from cub.harness.reported_refusals import classify_api_error
from cub.tokens import TokenUsage

_FLAGS = (
    "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore",
    "--no-pretty", "--no-stream",  # with a stream, the tokens are estimates
    "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-analytics",
    "--no-detect-urls",  # it would download each address in the prompt
    "--map-tokens", "0",  # cub hands its map over; aider's would leave a cache in the project
)  # fmt: skip
_RULES = "Follow the instructions in the read-only file with the rules of this run.\n\n"


_MODEL = re.compile(r"(?:Main model|Model): (\S+) with ")
_HEADER_END = "Repo-map: "
_NO_KEY = "No LLM model was specified and no API keys were provided"
_AMOUNT = r"(\d{1,9}(?:\.\d{1,9})?k?)"
_TOKENS = re.compile(
    rf"Tokens: {_AMOUNT} sent(?:, {_AMOUNT} cache write)?(?:, {_AMOUNT} cache hit)?"
    rf", {_AMOUNT} received\.(?P<cost> Cost: .*)?"
)
_COST = re.compile(r" ?Cost: \$(\d{1,6}(?:\.\d{1,12})?) message, .*")
_MENTIONS = re.compile(r"(?:\s*[\w./@+-]*[./]\w+\n)+")  # files that aider adds to the chat
_ERROR = re.compile(
    r"litellm\.\w*(?:Error|Timeout): |Traceback \(most recent call last\):"
    r"|Model \S+ has hit a token limit!|Message file not found|Error reading message file"
)
_EDIT = re.compile(r"Applied edit to (.*)")
_NOISE = re.compile(
    r"Executing: /read-only .*|Added .* to read-only files\.|Retrying in [\d.]+ seconds\.\.\."
    r"|\^C again to exit.*"
)
_EMPTY = re.compile(r"Empty response received from LLM\b.*")
_AFTER_ERROR = re.compile(r"The API provider.*")  # what the error means
_MAX_REPLY_LINES = 5_000


class AiderReader(LineReader):
    """Read aider's stdout as it comes, which has its errors too."""

    def __init__(self) -> None:
        super().__init__()
        self._is_in_header = True
        self._reply = deque[str](maxlen=_MAX_REPLY_LINES)
        self._last_reply = ""
        self._has_failed = self._is_empty = False

    def finish(self) -> Iterator[AgentEvent]:
        """Yield the last events; a failure if the last that aider printed was an error."""
        yield from super().finish()
        if self._has_failed:
            yield AgentEvent("result", self._last_reply, failed=True)

    def _read_lines(self, lines: list[bytes]) -> Iterator[AgentEvent]:
        """Yield events; lines of text that come together are one, as there may be very many."""
        texts = list[str]()
        for line in map(decode_line, lines):
            events = tuple(self._read_line(line))
            if events:
                yield from make_message("".join(texts))
                texts.clear()
            else:
                self._reply.append(line)
                texts.append(f"{line}\n")
            yield from events
        yield from make_message("".join(texts))

    def _read_line(self, line: str) -> Iterator[AgentEvent]:
        """Yield the events of a line of aider's; nothing for one of a reply."""
        if self._is_in_header:
            self._is_in_header = not line.startswith(_HEADER_END)
            yield from _read_header(line)
        elif tokens := _TOKENS.fullmatch(line):
            yield from self._end_reply(tokens)
        elif not self._reply and (cost := _COST.fullmatch(line)):
            yield AgentEvent("cost", usd=float(cost[1]))
        elif self._last_reply and (edit := _EDIT.fullmatch(line)):
            yield AgentEvent("tool", f"edit {edit[1]}")
        elif _NOISE.fullmatch(line) or (self._has_failed and _AFTER_ERROR.match(line)):
            yield AgentEvent("other")
        elif _ERROR.match(line) or _EMPTY.fullmatch(line):
            self._has_failed = True
            self._is_empty = bool(_EMPTY.fullmatch(line))
            yield from make_message(line, failed=True)
            if kind := "service" if self._is_empty else classify_api_error(line):
                yield AgentEvent(kind, line)

    def _end_reply(self, tokens: re.Match[str]) -> Iterator[AgentEvent]:
        sent, write, read, received = map(_parse_amount, tokens.groups()[:4])
        usage = TokenUsage(max(0, sent - write - read), received, read, write)
        yield AgentEvent("usage", tokens=usage)
        if cost := _COST.fullmatch(tokens["cost"] or ""):
            yield AgentEvent("cost", usd=float(cost[1]))
        text = "\n".join(self._reply)
        mentions = _MENTIONS.match(text)
        self._reply.clear()
        if received and not self._is_empty:
            self._last_reply = text[mentions.end() if mentions else 0 :].strip()
            self._has_failed = False
            yield AgentEvent("result", self._last_reply)
        self._is_empty = False


def _read_header(line: str) -> Iterator[AgentEvent]:
    if model := _MODEL.match(line):
        yield AgentEvent("model", model[1])
    elif line.startswith(_NO_KEY):
        yield AgentEvent("login", line)
    else:
        yield AgentEvent("other")


def _parse_amount(text: str | None) -> int:
    """Return the number of `12`, `1.2k`, or None for nothing."""
    if not text:
        return 0
    return round(float(text.rstrip("k")) * (1000 if text.endswith("k") else 1))


class AiderHarness(NativeHarness):
    """Drive aider."""

    facts: ClassVar = AIDER
    reader: ClassVar = AiderReader
    # It opens a browser for addresses in errors, and breaks lines at the width of a terminal.
    default_environ: ClassVar = {"BROWSER": "true", "COLUMNS": "10000"}

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command, with a file for the message and one for aider's commands.

        aider adds each file that the message names to the chat. So the system prompt, which may
        have a map of all files, is a read-only file; `--read` would replace the user's own list.
        """
        scratch, has_rules = request.scratch, bool(request.system_prompt.strip())
        argv = [self.facts.program, *_FLAGS]
        for option, name in (("--chat-history-file", "chat.md"), ("--input-history-file", "input")):
            argv += [option, str(scratch / f"aider.{name}")]
        # A message with `/` or `!` at its start would be a command.
        files = {"input.md": (_RULES if has_rules else "\n") + request.prompt}
        if has_rules:
            files["aider.load"] = f'/read-only "{request.folder / "system.md"}"\n'
            argv += ["--load", str(scratch / "aider.load")]
        last = ("--message-file", str(scratch / "input.md"))
        return self.make_command(request, argv, "", *last, files=files)

    def lacks_reply(self, transcript: Transcript) -> bool:
        """Return whether no reply was complete; text may be aider's own."""
        return not transcript.has_reply
