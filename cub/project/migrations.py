"""Load the migrations that ship with cub: YAML data, one file for each schema of a project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from cub.config_edit.config_text import parse_config_text
from cub.project.migration_steps import MigrationStep, parse_names, parse_step
from cub.resources import find_data_dir

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
    traces = LayoutTraces(*(parse_names(tree["where"], n) for n in ("files", "shared", "ours")))
    steps = tuple(parse_step(item) for item in tree["steps"])
    return Migration(number, tree["summary"], tree["since"], traces, steps)
