"""The verbs of migrations, a closed set: what each one says, read from its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cub.project.fields import Fields


@dataclass(frozen=True, slots=True)
class Move:
    """Files that go to another name: `to`, or `keep_as` where `to` is a file of cub's own.

    One whose bytes are `known` is cub's, and goes: what stands under `to` takes its place.
    """

    sources: tuple[str, ...]
    to: str
    keep_as: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """Files that go if their bytes are `known`, or only if the person asks for it (--prune).

    `hint` says what a person can do with one that was edited.
    """

    paths: tuple[str, ...]
    known: tuple[str, ...]
    only_with_prune: bool
    hint: str


@dataclass(frozen=True, slots=True)
class RewriteMarker:
    """Digest lines of the older form, in sections that nobody edited, become today's."""


@dataclass(frozen=True, slots=True)
class ConfigRename:
    """A key of config.yaml, written with dots, gets a new name."""

    source: str
    to: str


@dataclass(frozen=True, slots=True)
class ConfigFromJson:
    """A JSON file whose values go into config.yaml, as far as they have a key there.

    `keys`: from a key to the one in config.yaml, with dots; `default`: values that say nothing.
    A file that says more is kept as `keep_as`; where its bytes are `known`, it says no more.
    """

    path: str
    keep_as: str
    keys: Mapping[str, str]
    default: Mapping[str, tuple[Any, ...]]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A warning about what stays: a file, or, with `to`, a link that leads there."""

    path: str
    to: str
    message: str
    hint: str


Step = Move | Delete | RewriteMarker | ConfigRename | ConfigFromJson | Note


def step(item: Fields) -> Step:
    """One step: a verb, and its fields."""
    if len(item.tree) != 1:
        item.fail("this is not one verb with its fields")
    (verb,) = item.tree
    if verb not in VERBS:
        item.fail(f"unknown verb {verb!r}")
    fields = item.inner(verb)
    found = VERBS[verb](fields)
    fields.end()
    return found


def _move(fields: Fields) -> Move:
    return Move(
        fields.paths("from"),
        fields.path("to"),
        fields.path("keep_as", ""),
        fields.hashes("known"),
    )


def _delete(fields: Fields) -> Delete:
    found = Delete(
        fields.paths("paths"),
        fields.hashes("known"),
        fields.flag("only_with_prune"),
        fields.text("hint", ""),
    )
    if bool(found.known) == found.only_with_prune:
        fields.fail("nothing is deleted unasked: give either `known` or `only_with_prune`")
    return found


def _rewrite_marker(fields: Fields) -> RewriteMarker:
    if fields.text("digest") != "sha256":
        fields.fail("digest: the older form is called sha256")
    return RewriteMarker()


def _config_rename(fields: Fields) -> ConfigRename:
    found = ConfigRename(fields.text("from"), fields.text("to"))
    if found.source.rpartition(".")[0] != found.to.rpartition(".")[0]:
        fields.fail("a key gets another name in the mapping that it stands in")
    return found


def _config_from_json(fields: Fields) -> ConfigFromJson:
    keys, default = fields.mapping("keys"), fields.mapping("default")
    if not all(isinstance(key, str) for key in keys.values()):
        fields.fail("keys: a key of config.yaml is a text")
    if not all(isinstance(value, list) for value in default.values()):
        fields.fail("default: each key needs a list of values")
    return ConfigFromJson(
        fields.path("path"),
        fields.path("keep_as"),
        keys,
        {key: tuple(values) for key, values in default.items()},
        fields.hashes("known"),
    )


def _note(fields: Fields) -> Note:
    return Note(
        fields.path("path"), fields.path("to", ""), fields.text("message"), fields.text("hint", "")
    )


VERBS: dict[str, Callable[[Fields], Step]] = {
    "move": _move,
    "delete": _delete,
    "rewrite_marker": _rewrite_marker,
    "config_rename": _config_rename,
    "config_from_json": _config_from_json,
    "note": _note,
}
