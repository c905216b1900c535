"""Hold what cub's own agents have in common: facts, options, and a reader of JSON lines.

Each has a module with its command line, the reader of its stream and its rule of success. The table
of all of them is in harness_registry.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, NamedTuple

from cub.agent_profiles.agent_profile import AgentProfile
from cub.harness.base import (
    AgentEvent,
    Harness,
    LaunchCommand,
    LaunchRequest,
    LineReader,
    Transcript,
    encode_text,
)
from cub.harness.refusals import Refusal
from cub.harness.reported_refusals import find_reported_refusal
from cub.json_values import JsonObject, get_text, parse_object


class LaunchObstacle(NamedTuple):
    """Say why an agent can't work, before it is started, and what to do."""

    why: str
    hint: str


class NativeOptions(NamedTuple):
    """Hold what `harnesses.NAME` adds to an agent's own command line.

    `user_settings`: the agent also reads the settings that the user has for all projects.
    """

    arguments: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}
    model: str | None = None
    user_settings: bool = True


@dataclass(frozen=True, slots=True)
class NativeHarness(Harness):
    """Drive an agent that cub knows."""

    facts: ClassVar[AgentProfile]
    default_environ: ClassVar[Mapping[str, str]] = {}
    no_user_settings: ClassVar[tuple[str, ...]] = ()
    options: NativeOptions = field(default_factory=NativeOptions)

    @property
    def environ(self) -> Mapping[str, str]:
        """Return variables for the agent; the configuration replaces cub's own."""
        return {**self.default_environ, **self.options.environ}

    @property
    def reads(self) -> str:
        """Return the agent's name: it reads what its table says."""
        return self.facts.name

    @property
    def settings_arguments(self) -> tuple[str, ...]:
        """Return the arguments that leave out the user's settings, if these are not wanted."""
        return () if self.options.user_settings else self.no_user_settings

    def choose_model(self, request: LaunchRequest) -> str | None:
        """Return the model to ask for, None for the agent's default."""
        return request.model or self.options.model

    def find_obstacle(
        self,
        permissions: str,  # noqa: ARG002 - for those that refuse some
        environ: Mapping[str, str],  # noqa: ARG002
    ) -> LaunchObstacle | None:
        """Return what is certain to keep the agent from working; None for nothing."""
        return None

    def make_command(
        self, request: LaunchRequest, argv: Sequence[str], prompt: str, *last: str,
        files: Mapping[str, str] | None = None,
    ) -> LaunchCommand:  # fmt: skip
        """Return the command with a prompt on stdin, and with options that all agents have.

        These are the model, those of the configuration and of the request; `last` follows them. It
        needs `files` in the scratch folder.
        """
        model = self.choose_model(request)
        words = [*argv, *(("--model", model) if model else ())]
        words += [*self.settings_arguments, *self.options.arguments, *request.arguments, *last]
        encoded = {name: encode_text(text) for name, text in (files or {}).items()}
        return LaunchCommand(tuple(words), encode_text(prompt), self.environ, encoded)

    def lacks_reply(self, transcript: Transcript) -> bool:
        """Return whether no model said or did anything: the reader knows the agent's own words."""
        return not (transcript.has_reply or transcript.has_words)

    def find_refusal(
        self,
        transcript: Transcript,
        stderr: str,  # noqa: ARG002 - for those that report nothing there
        now: datetime,
    ) -> Refusal | None:
        """Return what the agent reported; words in its messages or a tool's output don't count."""
        return find_reported_refusal(transcript, now)


def prepend_system_prompt(request: LaunchRequest) -> str:
    """Return the prompt below the system prompt, for agents that take no system prompt."""
    system = request.system_prompt.strip()
    return f"{system}\n\n{request.prompt}" if system else request.prompt


def avoid_slash_command(prompt: str) -> str:
    """Return a prompt with a line above it if it begins with a slash, as commands do."""
    return f"Task:\n\n{prompt}" if prompt.lstrip().startswith("/") else prompt


class JsonLineReader(LineReader):
    """Read an agent's stream of JSON objects, one a line.

    Other lines are not the agent's: warnings of its runtime, for instance.
    """

    @abstractmethod
    def read_object(self, tree: JsonObject) -> Iterable[AgentEvent]:
        """Return the events of an object; its values may be of any type."""

    def _read_lines(self, lines: list[bytes]) -> Iterator[AgentEvent]:
        for line in lines:
            if tree := parse_object(line):
                yield from self.read_object(tree)


_MAX_TOOL_TEXT = 200  # characters
_TOOL_KEYS = ("command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url")


def describe_tool(name: str, values: JsonObject) -> str:
    """Return an action in a few words: the tool, and the command or path that it gets."""
    value = next((text for key in _TOOL_KEYS if (text := get_text(values, key))), "")
    return " ".join(f"{name} {value}".split())[:_MAX_TOOL_TEXT]


def make_message(text: str, *, failed: bool = False) -> Iterator[AgentEvent]:
    """Yield a text event for a whole message; nothing for an empty one.

    `failed`: it is the agent's own, about an error.
    """
    if text.strip():
        yield AgentEvent("text", text if text.endswith("\n") else f"{text}\n", failed=failed)
