"""The scripted client: it says and does what a script has for a task, for demos and tests.

Scripts: what the scripted client says and does for a task, read from a YAML file.

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

For tests there are faults: `fault: crash` (and others, see `FAULTS`), `size` of a flood in
bytes, `denied: TEXT` and `limit: TEXT`, which is printed on stderr, with exit 1 unless said.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cub.config_edit.nodes import ConfigNode, MappingEntry, SourceText, decode_source
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.harness import script_player
from cub.harness.base import LaunchCommand, LaunchRequest, TokenUsage, Transcript
from cub.harness.event_protocol import EventProtocolReader
from cub.harness.script_player import explain_forbidden_path
from cub.text import describe_os_error

SCRIPTED = "scripted"
DEFAULT_SCRIPT = ".cub/script.yaml"
_STEP = "step.json"


@dataclass(frozen=True, slots=True)
class ScriptedHarness:
    """A client that follows the script `display_path`; `steps` are its steps for each task."""

    display_path: str
    steps: ScriptSteps
    name: str = SCRIPTED

    @property
    def program(self) -> str:
        """See `Harness`: the Python that runs cub."""
        return sys.executable

    @property
    def environ(self) -> Mapping[str, str]:
        """See `Harness`."""
        return {}

    def build_command(self, launch: LaunchRequest) -> LaunchCommand:
        """Write the attempt's step into its folder, and have the player play it."""
        path = launch.folder / _STEP
        steps = self.steps.get(launch.task_id) or self.steps.get(ANY_TASK)
        step = dict(steps[min(max(launch.attempt, 1), len(steps)) - 1]) if steps else {}
        missing = "" if steps else f"{self.display_path} has no steps for the task {launch.task_id}"
        told = {"task": launch.task_id, "python": sys.executable, "missing": missing, **step}
        try:
            path.write_text(json.dumps(told), encoding="utf-8")
        except OSError as error:
            raise make_os_error(error, path.as_posix(), "cannot be written") from error
        argv = (sys.executable, "-I", "-S", script_player.__file__, str(path))
        return LaunchCommand(argv, launch.prompt.encode("utf-8", "replace"), self.environ)

    def open_reader(self) -> EventProtocolReader:
        """It speaks cub's event protocol."""
        return EventProtocolReader()

    def is_success(self, transcript: Transcript, exit_code: int | None) -> bool:
        """It ended with 0, and its last word is no failure."""
        return exit_code == 0 and transcript.has_result and not transcript.has_failed


def load_scripted_harness(path: Path, shown: str = "") -> ScriptedHarness:
    """The client of a script; the file is read now. CubError for a file that is no script."""
    if not path.is_absolute():
        raise CubError("a script needs a whole path", where=path.as_posix())
    name = shown or path.as_posix()
    return ScriptedHarness(name, read_script(path, name))


ANY_TASK = "*"
FAULTS = ("crash", "hang", "silent", "deaf", "orphan", "flood", "binary", "broken")
CLOSING_STATUSES = ("done", "no_change")
_MOST_BYTES = 1024 * 1024
ScriptStep = Mapping[str, Any]
ScriptSteps = Mapping[str, tuple[ScriptStep, ...]]


def read_script(path: Path, shown: str) -> ScriptSteps:
    """The steps of each task, one for each attempt; `shown` names the file in messages.

    CubError, with the place, for a file that can't be read or says what no script says.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = describe_os_error(error)
        hint = "write one: it says what the scripted client does for each task"
        raise CubError(f"this script can't be read: {reason}", where=shown, hint=hint) from error
    source = decode_source(data, shown, _MOST_BYTES)
    root = parse_yaml(source)
    if root is None:
        raise CubError("this script is empty", where=shown, hint="it begins with `tasks:`")
    checked = _ScriptReader(source)
    tasks = checked.members(root, ("tasks",)).get("tasks")
    if tasks is None:
        raise source.make_error(root.start, "this script has no tasks", "it begins with `tasks:`")
    return {key: checked.steps(value) for key, value in checked.members(tasks.value).items()}


@dataclass(frozen=True, slots=True)
class _ScriptReader:
    """Values of a script; each is refused by its place if it is none of its kind."""

    source: SourceText

    def members(self, node: ConfigNode, known: Iterable[str] = ()) -> dict[str, MappingEntry]:
        if node.kind != "mapping":
            raise self._error(node, "this is not a mapping")
        found = node.collect_entries()
        for key, entry in found.items() if known else ():
            if key not in known:
                raise self._error(entry.key, f"unknown key {key!r}", _suggest_key(key, known))
        return found

    def steps(self, entry: MappingEntry) -> tuple[ScriptStep, ...]:
        if entry.value.kind != "list" or not entry.value.items:
            raise self._error(entry.value, "this is not a list of steps", "begin each with `- `")
        return tuple(self._step(item) for item in entry.value.items)

    def _step(self, node: ConfigNode) -> ScriptStep:
        found = self.members(node, _KEYS)
        return {key: _KEYS[key](self, entry.value) for key, entry in found.items()}

    def _error(self, node: ConfigNode, message: str, hint: str = "") -> CubError:
        return self.source.make_error(node.start, message, hint)

    def text(self, node: ConfigNode) -> str:
        if node.kind != "scalar" or not isinstance(node.value, str):
            raise self._error(node, "this is not a text", "put it in quotes")
        return node.value

    def texts(self, node: ConfigNode) -> list[str]:
        return [self.text(item) for item in (node.items if node.kind == "list" else (node,))]

    def path(self, node: ConfigNode) -> str:
        """A path as its words are; where links lead is seen when it is played."""
        found = self.text(node)
        if problem := explain_forbidden_path(found):
            raise self._error(node, f"{found} {problem}", "name files of the project alone")
        return found

    def files(self, node: ConfigNode) -> dict[str, str | None]:
        return {
            self.path(entry.key): None if entry.value.value is None and entry.value.kind == "scalar"
            else self.text(entry.value)
            for entry in self.members(node).values()
        }  # fmt: skip

    def replace(self, node: ConfigNode) -> list[dict[str, str]]:
        if node.kind != "list":
            raise self._error(node, "this is not a list", "write it like [{file: …, old: …}]")
        return [self._replacement(item) for item in node.items]

    def _replacement(self, node: ConfigNode) -> dict[str, str]:
        names = ("file", "old", "new")
        entries = self.members(node, names)
        found = {name: self.text(one.value) for name, one in entries.items()}
        if missing := [name for name in names if name not in found]:
            raise self._error(node, f"{missing[0]!r} is missing")
        self.path(entries["file"].value)
        return found

    def count(self, node: ConfigNode) -> int:
        if type(node.value) is not int or node.value < 0:
            raise self._error(node, "this is not a whole number of 0 or more")
        return node.value

    def code(self, node: ConfigNode) -> int:
        if (found := self.count(node)) > 255:
            raise self._error(node, "an exit code is no more than 255")
        return found

    def dollars(self, node: ConfigNode) -> float:
        if type(node.value) not in (int, float) or not 0 <= float(str(node.value)) < 10**6:
            raise self._error(node, "this is not a number of dollars")
        return float(str(node.value))

    def usage(self, node: ConfigNode) -> dict[str, int]:
        found = self.members(node, TokenUsage._fields)
        return {name: self.count(entry.value) for name, entry in found.items()}

    def closing(self, node: ConfigNode) -> str:
        return self._one_of(node, CLOSING_STATUSES)

    def fault(self, node: ConfigNode) -> str:
        return self._one_of(node, FAULTS)

    def _one_of(self, node: ConfigNode, known: tuple[str, ...]) -> str:
        if node.value not in known:
            hint = _suggest_key(str(node.value), known)
            raise self._error(node, f"{node.value!r} is none of {', '.join(known)}", hint)
        return str(node.value)


_KEYS: Mapping[str, Callable[[_ScriptReader, ConfigNode], Any]] = {
    "say": _ScriptReader.texts,
    "files": _ScriptReader.files,
    "replace": _ScriptReader.replace,
    "close": _ScriptReader.closing,
    "final": _ScriptReader.text,
    "usage": _ScriptReader.usage,
    "usd": _ScriptReader.dollars,
    "exit": _ScriptReader.code,
    "fault": _ScriptReader.fault,
    "size": _ScriptReader.count,
    "denied": _ScriptReader.text,
    "limit": _ScriptReader.text,
}


def _suggest_key(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = tuple(known)
    near = get_close_matches(key, names, 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
