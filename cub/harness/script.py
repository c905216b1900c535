"""Scripts: what the scripted client says and does for a task, read from a YAML file.

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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.harness.events import Tokens
from cub.harness.player import path_problem
from cub.layout.nodes import Entry, Node
from cub.layout.reading import parse
from cub.layout.source import Source, read

ANY = "*"
FAULTS = ("crash", "hang", "silent", "deaf", "orphan", "flood", "binary", "broken")
CLOSINGS = ("done", "no_change")
_MOST_BYTES = 1024 * 1024
Step = Mapping[str, Any]
Steps = Mapping[str, tuple[Step, ...]]


def read_script(path: Path, shown: str) -> Steps:
    """The steps of each task, one for each attempt; `shown` names the file in messages.

    CubError, with the place, for a file that can't be read or says what no script says.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "write one: it says what the scripted client does for each task"
        raise CubError(f"this script can't be read: {reason}", where=shown, hint=hint) from error
    source = read(data, shown, _MOST_BYTES)
    root = parse(source)
    if root is None:
        raise CubError("this script is empty", where=shown, hint="it begins with `tasks:`")
    checked = _Checked(source)
    tasks = checked.members(root, ("tasks",)).get("tasks")
    if tasks is None:
        raise source.error(root.start, "this script has no tasks", "it begins with `tasks:`")
    return {key: checked.steps(value) for key, value in checked.members(tasks.value).items()}


@dataclass(frozen=True, slots=True)
class _Checked:
    """Values of a script; each is refused by its place if it is none of its kind."""

    source: Source

    def members(self, node: Node, known: Iterable[str] = ()) -> dict[str, Entry]:
        if node.kind != "mapping":
            raise self._error(node, "this is not a mapping")
        found = node.members()
        for key, entry in found.items() if known else ():
            if key not in known:
                raise self._error(entry.key, f"unknown key {key!r}", _meant(key, known))
        return found

    def steps(self, entry: Entry) -> tuple[Step, ...]:
        if entry.value.kind != "list" or not entry.value.items:
            raise self._error(entry.value, "this is not a list of steps", "begin each with `- `")
        return tuple(self._step(item) for item in entry.value.items)

    def _step(self, node: Node) -> Step:
        found = self.members(node, _KEYS)
        return {key: _KEYS[key](self, entry.value) for key, entry in found.items()}

    def _error(self, node: Node, message: str, hint: str = "") -> CubError:
        return self.source.error(node.start, message, hint)

    def text(self, node: Node) -> str:
        if node.kind != "scalar" or not isinstance(node.value, str):
            raise self._error(node, "this is not a text", "put it in quotes")
        return node.value

    def texts(self, node: Node) -> list[str]:
        return [self.text(item) for item in (node.items if node.kind == "list" else (node,))]

    def path(self, node: Node) -> str:
        """A path as its words are; where links lead is seen when it is played."""
        found = self.text(node)
        if problem := path_problem(found):
            raise self._error(node, f"{found} {problem}", "name files of the project alone")
        return found

    def files(self, node: Node) -> dict[str, str | None]:
        return {
            self.path(entry.key): None if entry.value.value is None and entry.value.kind == "scalar"
            else self.text(entry.value)
            for entry in self.members(node).values()
        }  # fmt: skip

    def replace(self, node: Node) -> list[dict[str, str]]:
        if node.kind != "list":
            raise self._error(node, "this is not a list", "write it like [{file: …, old: …}]")
        return [self._replacement(item) for item in node.items]

    def _replacement(self, node: Node) -> dict[str, str]:
        names = ("file", "old", "new")
        entries = self.members(node, names)
        found = {name: self.text(one.value) for name, one in entries.items()}
        if missing := [name for name in names if name not in found]:
            raise self._error(node, f"{missing[0]!r} is missing")
        self.path(entries["file"].value)
        return found

    def count(self, node: Node) -> int:
        if type(node.value) is not int or node.value < 0:
            raise self._error(node, "this is not a whole number of 0 or more")
        return node.value

    def code(self, node: Node) -> int:
        if (found := self.count(node)) > 255:
            raise self._error(node, "an exit code is no more than 255")
        return found

    def dollars(self, node: Node) -> float:
        if type(node.value) not in (int, float) or not 0 <= float(str(node.value)) < 10**6:
            raise self._error(node, "this is not a number of dollars")
        return float(str(node.value))

    def usage(self, node: Node) -> dict[str, int]:
        found = self.members(node, Tokens._fields)
        return {name: self.count(entry.value) for name, entry in found.items()}

    def closing(self, node: Node) -> str:
        return self._one_of(node, CLOSINGS)

    def fault(self, node: Node) -> str:
        return self._one_of(node, FAULTS)

    def _one_of(self, node: Node, known: tuple[str, ...]) -> str:
        if node.value not in known:
            hint = _meant(str(node.value), known)
            raise self._error(node, f"{node.value!r} is none of {', '.join(known)}", hint)
        return str(node.value)


_KEYS: Mapping[str, Callable[[_Checked, Node], Any]] = {
    "say": _Checked.texts,
    "files": _Checked.files,
    "replace": _Checked.replace,
    "close": _Checked.closing,
    "final": _Checked.text,
    "usage": _Checked.usage,
    "usd": _Checked.dollars,
    "exit": _Checked.code,
    "fault": _Checked.fault,
    "size": _Checked.count,
    "denied": _Checked.text,
    "limit": _Checked.text,
}


def _meant(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = tuple(known)
    near = get_close_matches(key, names, 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
