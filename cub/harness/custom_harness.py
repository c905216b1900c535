"""A client of one's own: any command, as `harnesses` in the configuration describes it.

Words in braces in the arguments of a client of one's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.harness.base import LaunchCommand, LaunchRequest, Transcript
from cub.harness.event_protocol import EventProtocolReader

CONFIG_PATH = ".cub/config.yaml"
PROMPT_CHANNELS = ("stdin", "file", "arg")
_MOST_ARGUMENT = 128 * 1024 - 1  # bytes; Linux starts no process with a longer one
_MATCH = "match:"


@dataclass(frozen=True, slots=True)
class CustomHarness:
    """A command, how it gets its prompt (stdin, file or arg), and what its success is.

    `success_rule` is exit, result, or the pattern that the final message must have.
    """

    name: str
    argv: tuple[str, ...]
    prompt_channel: str
    success_rule: str | re.Pattern[str]
    environ: Mapping[str, str]

    @property
    def program(self) -> str:
        """See `Harness`: a word with a placeholder is known with its value."""
        return "" if find_placeholders(self.argv[:1]) else fill_placeholders(self.argv[:1], {})[0]

    def build_command(self, launch: LaunchRequest) -> LaunchCommand:
        """The command with its values; a file with both texts is written where it is needed."""
        own = {"stdin": "", "file": "file", "arg": "prompt"}[self.prompt_channel]
        names = find_placeholders(self.argv)
        argv = self.argv if own in ("", *names) else (*self.argv, f"{{{own}}}")
        separate = "system" in names or not launch.system_prompt.strip()
        prompt = (
            launch.prompt if separate else f"{launch.system_prompt.rstrip()}\n\n{launch.prompt}"
        )
        file = launch.folder / ("prompt.md" if separate else "input.md")
        if not separate and "file" in (own, *names):
            _write(file, prompt)
        values = {
            "prompt": self._argument(prompt) if "prompt" in (own, *names) else "",
            "file": str(file),
            "system": str(launch.folder / "system.md"),
            "model": launch.model,
            "task": launch.task_id,
            "attempt": str(launch.attempt),
            "permissions": launch.permissions,
        }
        stdin = prompt.encode("utf-8", "replace") if self.prompt_channel == "stdin" else b""
        return LaunchCommand(tuple(fill_placeholders(argv, values)), stdin, self.environ)

    def open_reader(self) -> EventProtocolReader:
        """It may speak cub's event protocol; all else that it prints is text."""
        return EventProtocolReader()

    def is_success(self, transcript: Transcript, exit_code: int | None) -> bool:
        """It ended with 0, and as `success_rule` wants it."""
        if exit_code != 0:
            return False
        if isinstance(self.success_rule, re.Pattern):
            return self.success_rule.search(transcript.final_message) is not None
        return self.success_rule == "exit" or (transcript.has_result and not transcript.has_failed)

    def _argument(self, prompt: str) -> str:
        prompt = prompt.replace("\0", "")  # no argument can have one
        if (size := len(prompt.encode("utf-8", "replace"))) > _MOST_ARGUMENT:
            raise CubError(
                f"a prompt of {size:,} bytes is too long for an argument",
                where=f"{CONFIG_PATH}: harnesses.{self.name}.prompt",
                hint="write `prompt: stdin` or `prompt: file`",
            )
        return prompt


def make_custom_harness(name: str, settings: Mapping[str, Any]) -> CustomHarness:
    """The client that `harnesses.NAME` describes; CubError for a value that makes no sense."""
    argv = settings.get("argv") or ()
    if isinstance(argv, str) or not isinstance(argv, Sequence) or not argv:
        raise _error(name, "argv", "this client has no command", "write it like [sh, -c, …]")
    if not all(isinstance(one, str) for one in argv) or not argv[0]:
        raise _error(name, "argv", "a command is a list of texts", "put numbers in quotes")
    prompt = settings.get("prompt") or "stdin"
    if prompt not in PROMPT_CHANNELS:
        message = f"{prompt!r} is none of {', '.join(PROMPT_CHANNELS)}"
        raise _error(name, "prompt", message, "")
    return CustomHarness(
        name, tuple(argv), prompt, _success(name, settings), _environ(name, settings)
    )


def _success(name: str, settings: Mapping[str, Any]) -> str | re.Pattern[str]:
    said = settings.get("success") or "exit"
    if said in ("exit", "result"):
        return str(said)
    if not isinstance(said, str) or not said.startswith(_MATCH) or said == _MATCH:
        hint = "write exit, result, or match: and a pattern of the final message"
        raise _error(name, "success", f"{said!r} is no rule of success", hint)
    try:
        return re.compile(said.removeprefix(_MATCH).strip(), re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise _error(name, "success", f"this is no pattern: {error}", "") from None


def _environ(name: str, settings: Mapping[str, Any]) -> dict[str, str]:
    found = settings.get("env") or {}
    if not isinstance(found, Mapping):
        raise _error(name, "env", "this is not a mapping", "write it like {NAME: value}")
    for key, value in found.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise _error(name, f"env.{key}", "this is not a text", "put it in quotes")
        if not isinstance(key, str) or not key or "=" in key or "\0" in f"{key}{value}":
            raise _error(name, "env", f"{key!r} can't be a variable", "")
    return {key: str(value) for key, value in found.items()}


def _error(name: str, key: str, message: str, hint: str) -> CubError:
    return CubError(message, where=f"{CONFIG_PATH}: harnesses.{name}.{key}", hint=hint)


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise make_os_error(error, path.as_posix(), "cannot be written") from error


PLACEHOLDER_NAMES = ("prompt", "file", "system", "model", "task", "attempt", "permissions")
_WORD = re.compile(
    rf"\{{\{{({'|'.join(PLACEHOLDER_NAMES)})\}}\}}|\{{({'|'.join(PLACEHOLDER_NAMES)})\}}"
)


def find_placeholders(argv: Sequence[str]) -> frozenset[str]:
    """The names that stand in arguments."""
    return frozenset(found[2] for one in argv for found in _WORD.finditer(one) if found[2])


def fill_placeholders(argv: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """The arguments with their values.

    One whose value is None is left out, together with an option right in front of it, as in
    `-m {model}`. Two braces around a name stand for one; all other braces stay as they are.
    """
    made: list[str] = []
    for one in argv:
        if all(values[name] is not None for name in find_placeholders([one])):
            made.append(_WORD.sub(lambda found: _value(found, values), one))
        elif len(made) > 1 and made[-1].startswith("-") and not one.startswith("-"):
            made.pop()
    return made


def _value(match: re.Match[str], values: Mapping[str, str | None]) -> str:
    return f"{{{match[1]}}}" if match[1] else values[match[2]] or ""
