"""Drive the scripted agent, which does what a YAML file says for a task, for demos and tests.

    tasks:
      shop-1:                                 # a task's id; "*" stands for all others
        - say: I will add the function.       # or a list of texts
          files: {shop/price.py: "…", old.txt: null}        # written; null deletes
          replace: [{file: a.py, old: "1", new: "2"}]       # `old` must be there once
          close: done                         # or no_change: as `cub task close`
          final: "Status: done"               # the final message
          usage: {input: 1200, output: 300, cache_read: 0, cache_write: 0}
          usd: 0.01
          exit: 0
        - say: …                              # the next attempt; the last one repeats

A step may also have `denied: TEXT`, and `limit: TEXT`, which is printed to stderr; `exit` is 1 then
unless it is given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cub.agent_profiles.agent_profile import AgentProfile
from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.errors import CubError
from cub.harness import script_player
from cub.harness.base import LaunchCommand, LaunchRequest, encode_text
from cub.harness.custom_harness import EventHarness
from cub.harness.script_player import explain_forbidden_path
from cub.script_reader import NodeReader
from cub.text import describe_os_error
from cub.tokens import TokenUsage

SCRIPTED = "scripted"
DEFAULT_SCRIPT = ".cub/script.yaml"
ANY_TASK = "*"
CLOSING_STATUSES = ("done", "no_change")
_STEP_FILE = "step.json"
_FACTS = AgentProfile(title=SCRIPTED, name=SCRIPTED, program=sys.executable)
ScriptStep = Mapping[str, Any]
ScriptSteps = Mapping[str, tuple[ScriptStep, ...]]


@dataclass(frozen=True, slots=True)
class ScriptedHarness(EventHarness):
    """Play the steps that a script has for each task; messages name it by `display_path`."""

    display_path: str
    steps: ScriptSteps
    facts: AgentProfile = field(default=_FACTS, kw_only=True)

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command that plays the attempt's step, and the file that has it."""
        path, task_id = request.scratch / _STEP_FILE, request.task_id
        steps = self.steps.get(task_id) or self.steps.get(ANY_TASK)
        step = dict(steps[min(max(request.attempt, 1), len(steps)) - 1]) if steps else {}
        missing = "" if steps else f"{self.display_path} has no steps for the task {task_id}"
        tree = {"task": task_id, "python": sys.executable, "missing": missing, **step}
        argv = (sys.executable, "-I", "-S", script_player.__file__, str(path))
        files = {_STEP_FILE: json.dumps(tree).encode()}
        return LaunchCommand(argv, encode_text(request.prompt), self.environ, files)


def read_script(path: Path, display_path: str) -> ScriptSteps:
    """Read the steps of each task, one for each attempt.

    Raises CubError, with the position, for a file that can't be read or is not valid.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "write one: it says what the scripted agent does for each task"
        message = f"this script can't be read: {describe_os_error(error)}"
        raise CubError(message, where=display_path, hint=hint) from error
    reader, tasks = _ScriptReader.parse(data, display_path, "tasks")
    return {key: reader.take_steps(entry) for key, entry in reader.take_members(tasks).items()}


class _ScriptReader(NodeReader):
    """Read values of a script; raise CubError with the position of one that is not valid."""

    def take_steps(self, entry: MappingEntry) -> tuple[ScriptStep, ...]:
        items = self.take_items(entry.value)
        if not items:
            raise self.make_error(entry.value, "this task has no steps", "start each with `- `")
        return tuple(map(self._read_step, items))

    def _read_step(self, node: ConfigNode) -> ScriptStep:
        entries = self.take_members(node, _KEYS)
        return {key: _KEYS[key](self, entry.value) for key, entry in entries.items()}

    def take_texts(self, node: ConfigNode) -> list[str]:
        return [self.take_text(item) for item in (node.items if node.kind == "list" else (node,))]

    def take_path(self, node: ConfigNode) -> str:
        path = self.take_text(node)
        if problem := explain_forbidden_path(path):
            raise self.make_error(node, f"{path} {problem}", "name files of the project alone")
        return path

    def take_files(self, node: ConfigNode) -> dict[str, str | None]:
        entries = self.take_members(node).values()
        return {self.take_path(entry.key): self._read_content(entry.value) for entry in entries}

    def _read_content(self, node: ConfigNode) -> str | None:
        is_null = node.kind == "scalar" and node.value is None
        return None if is_null else self.take_text(node)

    def take_replacements(self, node: ConfigNode) -> list[dict[str, str]]:
        return [self._read_replacement(item) for item in self.take_items(node)]

    def _read_replacement(self, node: ConfigNode) -> dict[str, str]:
        names = ("file", "old", "new")
        entries = self.take_members(node, names)
        texts = {name: self.take_text(entry.value) for name, entry in entries.items()}
        if missing := [name for name in names if name not in texts]:
            raise self.make_error(node, f"{missing[0]!r} is missing")
        self.take_path(entries["file"].value)
        return texts

    def take_exit_code(self, node: ConfigNode) -> int:
        if (code := self.take_count(node)) > 255:
            raise self.make_error(node, "an exit code must be at most 255")
        return code

    def take_dollars(self, node: ConfigNode) -> float:
        if type(node.value) not in (int, float) or not 0 <= float(str(node.value)) < 10**6:
            raise self.make_error(node, "this is not a number of dollars")
        return float(str(node.value))


_KEYS: Mapping[str, Callable[[_ScriptReader, ConfigNode], Any]] = {
    "say": _ScriptReader.take_texts,
    "files": _ScriptReader.take_files,
    "replace": _ScriptReader.take_replacements,
    "close": lambda reader, node: reader.take_word(node, CLOSING_STATUSES),
    "final": _ScriptReader.take_text,
    "usage": lambda reader, node: reader.take_counts(node, TokenUsage._fields),
    "usd": _ScriptReader.take_dollars,
    "exit": _ScriptReader.take_exit_code,
    "denied": _ScriptReader.take_text,
    "limit": _ScriptReader.take_text,
}
