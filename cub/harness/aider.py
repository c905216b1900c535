"""Drive aider."""

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


class AiderHarness(NativeHarness):
    """Drive aider."""

    facts: ClassVar = AgentFacts(
        "aider", "aider", "aider", "0.86.2", "uv tool install aider-chat", reports_cost=True
    )

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command, with the prompt on its stdin."""
        argv = (self.program, *("--yes-always",), *self.options.arguments)
        return LaunchCommand(
            argv, prepend_system_prompt(request).encode("utf-8", "replace"), self.environ
        )

    def open_reader(self) -> AiderReader:
        """Return a reader of its stream."""
        return AiderReader()


class AiderReader(JsonLineReader):
    """Read its stream."""

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:  # noqa: ARG002
        """Yield the events of an object."""
        yield AgentEvent("other")
