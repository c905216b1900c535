"""Drive opencode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.json_values import JsonObject
from cub.harness.native_harness import (
    AgentFacts,
    JsonLineReader,
    NativeHarness,
    prepend_system_prompt,
)


class OpencodeHarness(NativeHarness):
    """Drive opencode."""

    facts: ClassVar = AgentFacts(
        "opencode",
        "opencode",
        "opencode",
        "1.18.33",
        "npm install -g opencode-ai",
        reports_cost=True,
    )

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command, with the prompt on its stdin."""
        argv = (self.program, *("run", "--format", "json"), *self.options.arguments)
        return LaunchCommand(
            argv, prepend_system_prompt(request).encode("utf-8", "replace"), self.environ
        )

    def open_reader(self) -> OpencodeReader:
        """Return a reader of its stream."""
        return OpencodeReader()


class OpencodeReader(JsonLineReader):
    """Read its stream."""

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:  # noqa: ARG002
        """Yield the events of an object."""
        yield AgentEvent("other")
