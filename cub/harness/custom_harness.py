"""Drive any command as an agent, as `harnesses` in the configuration describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from cub.agent_profiles.agent_profile import AgentProfile
from cub.agent_profiles.profiles import find_program_profile
from cub.errors import CubError
from cub.harness.base import Harness, LaunchCommand, LaunchRequest, Transcript, encode_text
from cub.harness.event_protocol import EventProtocolReader
from cub.harness.refusals import Refusal
from cub.harness.reported_refusals import find_refusal_in_output
from cub.syntax_errors import describe_pattern_error

CONFIG_PATH = ".cub/config.yaml"
_INPUT_FILE = "input.md"
_MAX_ARGUMENT = 128 * 1024 - 1  # bytes; Linux starts no process with a longer one
_MATCH = "match:"
PLACEHOLDER_NAMES = ("prompt", "file", "system", "model", "task", "attempt", "permissions")
_NAMES = "|".join(PLACEHOLDER_NAMES)
_PLACEHOLDER = re.compile(rf"\{{\{{({_NAMES})\}}\}}|\{{({_NAMES})\}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHarness(Harness):
    """Hold what the agents have in common that print cub's event protocol, or any text."""

    reader: ClassVar = EventProtocolReader
    facts: AgentProfile
    environ: Mapping[str, str] = field(default_factory=dict)
    reads: str = ""

    def lacks_reply(self, transcript: Transcript) -> bool:  # noqa: ARG002 - nothing tells
        """Return False: any output may be a model's."""
        return False

    def find_refusal(self, transcript: Transcript, stderr: str, now: datetime) -> Refusal | None:
        """Return what kept the agent from working, by its events, or else by its last lines."""
        return find_refusal_in_output(transcript, stderr, now)


@dataclass(frozen=True, slots=True)
class CustomHarness(EventHarness):
    """Hold a command, how it gets its prompt (stdin, file or arg), and its rule of success.

    `success_rule` is exit, result, or a pattern that the final message has to match.
    """

    argv: tuple[str, ...]
    prompt_channel: str
    success_rule: str | re.Pattern[str]

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command with its values, and a file with both prompts if it needs one."""
        channel = {"stdin": "", "file": "file", "arg": "prompt"}[self.prompt_channel]
        names = find_placeholders(self.argv)
        argv = self.argv if channel in ("", *names) else (*self.argv, f"{{{channel}}}")
        prompt, file, files = request.prompt, request.folder / "prompt.md", dict[str, bytes]()
        if "system" not in names and request.system_prompt.strip():
            prompt = f"{request.system_prompt.rstrip()}\n\n{request.prompt}"
            file = request.scratch / _INPUT_FILE
            if "file" in (channel, *names):
                files[_INPUT_FILE] = encode_text(prompt)
        values = {
            "prompt": self._make_argument(prompt) if "prompt" in (channel, *names) else "",
            "file": str(file),
            "system": str(request.folder / "system.md"),
            "model": request.model,
            "task": request.task_id,
            "attempt": str(request.attempt),
            "permissions": request.permissions,
        }
        stdin = encode_text(prompt) if self.prompt_channel == "stdin" else b""
        return LaunchCommand(tuple(fill_placeholders(argv, values)), stdin, self.environ, files)

    def is_success(self, transcript: Transcript, exit_code: int | None) -> bool:
        """Return whether it ended with 0, and as `success_rule` requires."""
        if self.success_rule == "result":
            return Harness.is_success(self, transcript, exit_code)
        rule = self.success_rule
        is_match = isinstance(rule, str) or rule.search(transcript.final_message) is not None
        return exit_code == 0 and is_match

    def _make_argument(self, prompt: str) -> str:
        prompt = prompt.replace("\0", "")  # no argument can have one
        if (size := len(prompt.encode("utf-8", "replace"))) > _MAX_ARGUMENT:
            raise CubError(
                f"a prompt of {size:,} bytes is too long for an argument",
                where=f"{CONFIG_PATH}: harnesses.{self.name}.prompt",
                hint="write `prompt: stdin` or `prompt: file`",
            )
        return prompt


def make_custom_harness(name: str, settings: Mapping[str, Any]) -> CustomHarness:
    """Return the harness for `harnesses.NAME`, whose keys have values of the right types.

    Raises CubError for one that makes no sense all the same.
    """
    argv, prompt = settings.get("argv") or [""], settings.get("prompt") or "stdin"
    if not argv[0]:
        raise make_key_error(name, "argv", "this agent has no command", "write it like [sh, -c, …]")
    success_rule, environ = _parse_success_rule(name, settings), parse_environ(name, settings)
    program = "" if find_placeholders(argv[:1]) else fill_placeholders(argv[:1], {})[0]
    folders = find_program_profile(argv[0]).own_folders
    facts = AgentProfile(title=name, name=name, program=program, own_folders=folders)
    return CustomHarness(tuple(argv), prompt, success_rule, facts=facts, environ=environ)


def _parse_success_rule(name: str, settings: Mapping[str, Any]) -> str | re.Pattern[str]:
    rule: str = settings.get("success") or "exit"
    if rule in ("exit", "result"):
        return rule
    if not rule.startswith(_MATCH) or rule == _MATCH:
        hint = "write exit, result, or match: and a pattern of the final message"
        raise make_key_error(name, "success", f"{rule!r} is not a success rule", hint)
    try:
        return re.compile(rule.removeprefix(_MATCH).strip(), re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"not a regular expression: {describe_pattern_error(error)}"
        raise make_key_error(name, "success", message, "escape characters with \\") from None


def parse_environ(name: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of `harnesses.NAME.env`. Raises CubError for one that is not valid."""
    variables: Mapping[Any, Any] = settings.get("env") or {}
    for key, value in variables.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise make_key_error(name, f"env.{key}", "expected a string", "put it in quotes")
        if not isinstance(key, str) or not key or "=" in key or "\0" in f"{key}{value}":
            raise make_key_error(name, "env", f"{key!r} can't be a variable", "")
    return {key: str(value) for key, value in variables.items()}


def make_key_error(name: str, key: str, message: str, hint: str) -> CubError:
    """Return an error at a key of `harnesses.NAME`."""
    return CubError(message, where=f"{CONFIG_PATH}: harnesses.{name}.{key}", hint=hint)


def find_placeholders(argv: Sequence[str]) -> frozenset[str]:
    """Return the names of the placeholders in arguments."""
    matches = (match for word in argv for match in _PLACEHOLDER.finditer(word))
    return frozenset(match[2] for match in matches if match[2])


def fill_placeholders(argv: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """Return arguments with the values of their placeholders.

    An argument whose value is None is left out, with an option right before it, as in `-m {model}`.
    Double braces around a name become single ones; other braces stay as they are.
    """
    filled: list[str] = []
    for word in argv:
        if all(values[name] is not None for name in find_placeholders([word])):
            filled.append(_PLACEHOLDER.sub(lambda match: _get_value(match, values), word))
        elif len(filled) > 1 and filled[-1].startswith("-") and not word.startswith("-"):
            filled.pop()
    return filled


def _get_value(match: re.Match[str], values: Mapping[str, str | None]) -> str:
    return f"{{{match[1]}}}" if match[1] else values[match[2]] or ""
