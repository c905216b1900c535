"""The migrations that ship with cub: YAML data, one file for each schema of a project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from cub.errors import InternalError
from cub.project.migration_steps import FieldReader, MigrationStep, parse_step
from cub.resources import find_data_dir

_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.yaml")


@dataclass(frozen=True, slots=True)
class LayoutTraces:
    """The paths that show an older layout: one of `old_paths`, or one of `shared_paths`, which
    today's has too, where none of `current_paths` stands, which that layout did not have.
    """

    old_paths: tuple[str, ...]
    shared_paths: tuple[str, ...] = ()
    current_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """The way to schema `number`; it does something only where a trace stands.

    `since` is the version of cub that brought this schema.
    """

    number: int
    summary: str
    since: str
    traces: LayoutTraces
    steps: tuple[MigrationStep, ...]


def get_migrations_folder() -> Path:
    """The folder of this cub's migrations."""
    return find_data_dir("migrations")


def find_newest_number(folder: Path) -> int:
    """The number of the newest migration, 0 where there is none; no file is opened for it."""
    return max((number for number, _ in _named(folder)), default=0)


@cache
def load_migrations(folder: Path) -> tuple[Migration, ...]:
    """All migrations of a folder, in order; InternalError for a fault in them."""
    from packaging.version import InvalidVersion, Version

    found = tuple(_migration(path, number) for number, path in _named(folder))
    if len({migration.number for migration in found}) < len(found):
        raise InternalError("two migrations of one number", where=folder.name)
    try:
        since = [Version(migration.since) for migration in found]
    except InvalidVersion as error:
        raise InternalError(str(error), where=folder.name) from error
    if since != sorted(since):
        raise InternalError("a migration is of an older cub than the one before", where=folder.name)
    return found


def hash_content(data: bytes) -> str:
    """What `known` lists hold: the sha256 of a text with LF line ends, however checked out."""
    return sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _named(folder: Path) -> list[tuple[int, Path]]:
    names = [(_NAME.fullmatch(path.name), path) for path in folder.glob("*.yaml")]
    return sorted((int(name[1]), path) for name, path in names if name)


def _migration(path: Path, number: int) -> Migration:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    where = f"migrations/{path.name}"
    try:
        tree = YAML(typ="safe", pure=True).load(path.read_bytes())
    except YAMLError as error:
        raise InternalError(f"this is not YAML: {error}", where=where) from error
    fields = FieldReader(tree, where)
    if fields.take_number("number") != number:
        fields.raise_fault("its number is not the one in its name")
    found = Migration(
        number,
        fields.take_text("summary"),
        fields.take_text("since"),
        _traces(fields.take_fields("where")),
        tuple(parse_step(item) for item in fields.iter_fields("steps")),
    )
    fields.require_all_taken()
    return found


def _traces(fields: FieldReader) -> LayoutTraces:
    names = ("files", "shared", "ours")
    found = LayoutTraces(*(fields.take_paths(name, required=False) for name in names))
    fields.require_all_taken()
    if not found.old_paths:
        fields.raise_fault("no files")
    return found
