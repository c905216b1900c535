"""Drive Gemini CLI."""

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


class GeminiHarness(NativeHarness):
    """Drive Gemini CLI."""

    facts: ClassVar = AgentFacts(
        "gemini",
        "Gemini CLI",
        "gemini",
        "0.61.0",
        "npm install -g @google/gemini-cli",
        reports_cost=False,
    )

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command, with the prompt on its stdin."""
        argv = (self.program, *("--yolo", "-o", "stream-json"), *self.options.arguments)
        return LaunchCommand(
            argv, prepend_system_prompt(request).encode("utf-8", "replace"), self.environ
        )

    def open_reader(self) -> GeminiReader:
        """Return a reader of its stream."""
        return GeminiReader()


class GeminiReader(JsonLineReader):
    """Read its stream."""

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:  # noqa: ARG002
        """Yield the events of an object."""
        yield AgentEvent("other")
