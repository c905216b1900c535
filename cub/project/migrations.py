"""The migrations that ship with cub: YAML data, one file for each schema of a project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from cub.errors import InternalError
from cub.project.fields import Fields
from cub.project.verbs import Step, step
from cub.resources import data_dir

_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.yaml")


@dataclass(frozen=True, slots=True)
class Traces:
    """The paths that show an older layout: one of `files`, or one of `shared`, which today's has
    too, where none of `ours` stands, which that layout did not have.
    """

    files: tuple[str, ...]
    shared: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """The way to schema `number`; it does something only where a trace stands.

    `since` is the version of cub that brought this schema.
    """

    number: int
    summary: str
    since: str
    where: Traces
    steps: tuple[Step, ...]


def shipped() -> Path:
    """The folder of this cub's migrations."""
    return data_dir("migrations")


def newest(folder: Path) -> int:
    """The number of the newest migration, 0 where there is none; no file is opened for it."""
    return max((number for number, _ in _named(folder)), default=0)


@cache
def load(folder: Path) -> tuple[Migration, ...]:
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


def content_hash(data: bytes) -> str:
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
    fields = Fields(tree, where)
    if fields.number("number") != number:
        fields.fail("its number is not the one in its name")
    found = Migration(
        number,
        fields.text("summary"),
        fields.text("since"),
        _traces(fields.inner("where")),
        tuple(step(item) for item in fields.items("steps")),
    )
    fields.end()
    return found


def _traces(fields: Fields) -> Traces:
    names = ("files", "shared", "ours")
    found = Traces(*(fields.paths(name, needed=False) for name in names))
    fields.end()
    if not found.files:
        fields.fail("no files")
    return found
