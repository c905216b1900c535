"""Load the migrations that ship with cub: YAML data, one file for each schema of a project.

Tests check the shipped files, field by field, so nothing here looks for faults in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cub.config_edit.config_text import parse_config_text
from cub.resources import find_data_dir

Verb = Literal["move", "delete", "rewrite_marker", "config_from_json", "note"]
_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.yaml")


@dataclass(frozen=True, slots=True)
class LayoutTraces:
    """Hold the paths that show an older layout.

    One of `old_paths` does, and so does one of `shared_paths`, which today's layout has too, if
    none of `current_paths` exists, which the older one did not have.
    """

    old_paths: tuple[str, ...]
    shared_paths: tuple[str, ...] = ()
    current_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """Describe what one step does to the files `paths`; those with a `known` hash are cub's.

    - `move` gives them the name `to`, or `keep_as` if `to` is a file of cub's own. It deletes
      those that are cub's.
    - `delete` deletes those that are cub's. `only_with_prune`, it deletes those that begin with one
      of `begins_with`, if the user passes --prune.
    - `rewrite_marker` replaces digest lines of the older form, in sections that nobody edited.
    - `config_from_json` copies a JSON file's values to config.yaml: `keys` maps their keys to those
      there, with dots, and `default` has the values that need no copy. A file that says more is
      kept as `keep_as`, unless it is known.
    - `note` warns of what stays: a file, or, with `to`, a link that leads there.
    """

    verb: Verb
    paths: tuple[str, ...] = ()
    to: str = ""
    keep_as: str = ""
    known: tuple[str, ...] = ()
    only_with_prune: bool = False
    begins_with: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, list[Any]] = field(default_factory=dict)
    message: str = ""
    hint: str = ""

    @property
    def removed_paths(self) -> tuple[str, ...]:
        """Return the files that may be gone after the step."""
        return () if self.verb == "note" else self.paths


@dataclass(frozen=True, slots=True)
class Migration:
    """Lead to schema `number`; it does something only if a trace exists.

    `since` is the version of cub that introduced this schema.
    """

    number: int
    summary: str
    since: str
    traces: LayoutTraces
    steps: tuple[MigrationStep, ...]


def get_migrations_folder() -> Path:
    """Return the folder of this cub's migrations."""
    return find_data_dir("migrations")


def find_newest_number(folder: Path) -> int:
    """Return the number of the newest migration, 0 if there is none; no file is opened for it."""
    return max((number for number, _ in _list_files(folder)), default=0)


@cache
def load_migrations(folder: Path) -> tuple[Migration, ...]:
    """Return all migrations of a folder, in order."""
    return tuple(_load(path, number) for number, path in _list_files(folder))


def hash_content(data: bytes) -> str:
    """Return what `known` lists hold: the sha256 of a text with LF line endings."""
    return sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _list_files(folder: Path) -> list[tuple[int, Path]]:
    names = [(_NAME.fullmatch(path.name), path) for path in folder.glob("*.yaml")]
    return sorted((int(name[1]), path) for name, path in names if name)


def _load(path: Path, number: int) -> Migration:
    tree = parse_config_text(path.read_bytes(), f"migrations/{path.name}").python_value
    traces = LayoutTraces(*(_list_names(tree["where"].get(n)) for n in ("files", "shared", "ours")))
    steps = tuple(_parse_step(*item) for step in tree["steps"] for item in step.items())
    return Migration(number, tree["summary"], tree["since"], traces, steps)


def _parse_step(verb: Verb, fields: Mapping[str, Any]) -> MigrationStep:
    names = {"from": "paths", "path": "paths"}
    values = {names.get(name, name): value for name, value in fields.items() if name != "digest"}
    lists = ("paths", "known", "begins_with")
    return MigrationStep(verb, **values | {n: _list_names(values.get(n)) for n in lists})


def _list_names(value: str | list[str] | None) -> tuple[str, ...]:
    """Return a list of strings; one string counts as a list, and None as an empty one."""
    return (value,) if isinstance(value, str) else tuple(value or ())
