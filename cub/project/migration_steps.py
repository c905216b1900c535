"""Describe the steps of migrations: a closed set of verbs, read from YAML that ships with cub.

Tests check the shipped files, field by field, so nothing here looks for faults in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

StepFields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MoveStep:
    """Move files to `to`, or to `keep_as` if `to` is a file of cub's own.

    A file whose hash is in `known_hashes` is cub's: it is deleted instead.
    """

    sources: tuple[str, ...]
    to: str
    keep_as: str
    known_hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeleteStep:
    """Delete files whose hash is in `known_hashes`, or that begin with one of `openings`.

    Openings count only if the user passes --prune. `hint` says what a user can do with a file that
    was edited.
    """

    paths: tuple[str, ...]
    known_hashes: tuple[str, ...]
    only_with_prune: bool
    hint: str
    openings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewriteMarkerStep:
    """Replace digest lines of the older form with today's, in sections that nobody edited."""


@dataclass(frozen=True, slots=True)
class ImportJsonStep:
    """Copy the values of a JSON file into config.yaml, if they have a key there.

    `keys` maps a key to the one in config.yaml, with dots; `default` has the values that need no
    copy. A file that says more is kept as `keep_as`; one whose hash is in `known_hashes` does not.
    """

    path: str
    keep_as: str
    keys: Mapping[str, str]
    default: Mapping[str, tuple[Any, ...]]
    known_hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WarnStep:
    """Warn of what stays: a file, or, with `to`, a link that leads there."""

    path: str
    to: str
    message: str
    hint: str


MigrationStep = MoveStep | DeleteStep | RewriteMarkerStep | ImportJsonStep | WarnStep


def parse_step(item: StepFields) -> MigrationStep:
    """Return the step of a mapping with one verb, whose value is the verb's fields."""
    ((verb, fields),) = item.items()
    return STEP_PARSERS[verb](fields)


def parse_names(fields: StepFields, name: str) -> tuple[str, ...]:
    """Return a list of strings; one string counts as a list, and none is an empty one."""
    value = fields.get(name, ())
    return (value,) if isinstance(value, str) else tuple(value)


def _parse_move(fields: StepFields) -> MoveStep:
    known = parse_names(fields, "known")
    return MoveStep(parse_names(fields, "from"), fields["to"], fields.get("keep_as", ""), known)


def _parse_delete(fields: StepFields) -> DeleteStep:
    paths, known = parse_names(fields, "paths"), parse_names(fields, "known")
    only_with_prune, hint = fields.get("only_with_prune", False), fields.get("hint", "")
    return DeleteStep(paths, known, only_with_prune, hint, parse_names(fields, "begins_with"))


def _parse_json_import(fields: StepFields) -> ImportJsonStep:
    default = {key: tuple(values) for key, values in fields.get("default", {}).items()}
    known = parse_names(fields, "known")
    return ImportJsonStep(fields["path"], fields["keep_as"], fields.get("keys", {}), default, known)


def _parse_warning(fields: StepFields) -> WarnStep:
    return WarnStep(fields["path"], fields.get("to", ""), fields["message"], fields.get("hint", ""))


STEP_PARSERS: dict[str, Callable[[StepFields], MigrationStep]] = {
    "move": _parse_move,
    "delete": _parse_delete,
    "rewrite_marker": lambda _: RewriteMarkerStep(),
    "config_from_json": _parse_json_import,
    "note": _parse_warning,
}
