"""Drive Claude Code: `claude -p` with its stream of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest, TokenUsage
from cub.harness.json_values import (
    JsonObject,
    get_count,
    get_dollars,
    get_object,
    get_text,
    list_objects,
)
from cub.harness.native_harness import (
    AgentFacts,
    JsonLineReader,
    NativeHarness,
    describe_tool,
    make_message,
)
from cub.harness.reported_refusals import classify_api_error


class ClaudeHarness(NativeHarness):
    """Drive Claude Code."""

    facts: ClassVar = AgentFacts(
        "claude", "Claude Code", "claude", "2.1.197",
        "npm install -g @anthropic-ai/claude-code", reports_cost=True,
    )  # fmt: skip
    default_environ: ClassVar = {"CLAUDE_CODE_MAX_RETRIES": "3"}

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command; the system prompt is added to Claude Code's own."""
        argv = [self.program, "-p", "--output-format", "stream-json", "--verbose"]
        argv += ["--append-system-prompt-file", str(request.folder / "system.md")]
        if request.permissions == "bypass":
            argv.append("--dangerously-skip-permissions")
        else:
            argv += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
        if model := self.choose_model(request):
            argv += ["--model", model]
        if not self.options.user_settings:
            argv += ["--setting-sources", "project,local"]
        stdin = request.prompt.encode("utf-8", "replace")
        return LaunchCommand((*argv, *self.options.arguments), stdin, self.environ)

    def open_reader(self) -> ClaudeReader:
        """Return a reader of Claude Code's stream."""
        return ClaudeReader()


class ClaudeReader(JsonLineReader):
    """Read Claude Code's stream."""

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield the events of an object."""
        match tree.get("type"):
            case "system" if tree.get("subtype") == "init":
                yield AgentEvent("session", get_text(tree, "session_id"))
                yield AgentEvent("model", get_text(tree, "model"))
            case "assistant":
                for block in list_objects(tree, "message", "content"):
                    if block.get("type") == "text":
                        yield from make_message(get_text(block, "text"))
                    elif block.get("type") == "tool_use":
                        text = describe_tool(get_text(block, "name"), get_object(block, "input"))
                        yield AgentEvent("tool", text)
            case "result":
                yield from self._read_result(tree)
            case _:
                yield AgentEvent("other")

    def _read_result(self, tree: JsonObject) -> Iterator[AgentEvent]:
        yield AgentEvent("usage", tokens=TokenUsage(
            get_count(tree, "usage", "input_tokens"),
            get_count(tree, "usage", "output_tokens"),
            get_count(tree, "usage", "cache_read_input_tokens"),
            get_count(tree, "usage", "cache_creation_input_tokens"),
        ))  # fmt: skip
        if (usd := get_dollars(tree, "total_cost_usd")) is not None:
            yield AgentEvent("cost", usd=usd)
        for denial in list_objects(tree, "permission_denials"):
            yield AgentEvent("denied", get_text(denial, "tool_name"))
        text, failed = get_text(tree, "result"), tree.get("is_error") is True
        if failed and (kind := classify_api_error(text)):
            yield AgentEvent(kind, text)
        yield AgentEvent("result", text, failed=failed)
