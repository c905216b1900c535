"""A mapping of data that ships with cub, read field by field: a fault in it is a bug of cub's.

The verbs of migrations, a closed set: what each one says, read from its fields.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from cub.errors import InternalError

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True)
class FieldReader:
    """The fields of `tree`, at `where`. Each read one is checked; `require_all_taken` refuses what
    is left.
    """

    tree: Any
    where: str
    _read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not isinstance(self.tree, dict):
            self.raise_fault("this is not a mapping of fields")

    def raise_fault(self, message: str) -> NoReturn:
        """End with InternalError that says where."""
        raise InternalError(message, where=self.where)

    def take_text(self, name: str, default: str | None = None) -> str:
        """A text that is not empty."""
        value = self._get(name, default)
        if not isinstance(value, str) or (not value and default is None):
            self.raise_fault(f"{name}: {value!r} is not a text")
        return value

    def take_number(self, name: str) -> int:
        """A whole number above 0."""
        value = self._get(name, None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.raise_fault(f"{name}: {value!r} is not a number above 0")
        return value

    def take_flag(self, name: str) -> bool:
        """True or false; false where it is not given."""
        value = self._get(name, False)
        if not isinstance(value, bool):
            self.raise_fault(f"{name}: {value!r} is neither true nor false")
        return value

    def take_texts(self, name: str, *, required: bool = True) -> tuple[str, ...]:
        """A list of texts; one text counts as a list."""
        value = self._get(name, None if required else [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.raise_fault(f"{name}: {value!r} is not a list of texts")
        if required and not value:
            self.raise_fault(f"{name}: this list is empty")
        return tuple(value)

    def take_path(self, name: str, default: str | None = None) -> str:
        """A path inside the project."""
        return self._inside(name, self.take_text(name, default))

    def take_paths(self, name: str, *, required: bool = True) -> tuple[str, ...]:
        """A list of paths inside the project."""
        return tuple(self._inside(name, path) for path in self.take_texts(name, required=required))

    def take_hashes(self, name: str) -> tuple[str, ...]:
        """A list of sha256 in hex, each once; none where it is not given."""
        found = self.take_texts(name, required=False)
        for item in found:
            if not _HASH.fullmatch(item) or found.count(item) > 1:
                self.raise_fault(f"{name}: {item!r} is not a sha256 in hex, or is there twice")
        return found

    def take_mapping(self, name: str) -> Mapping[str, Any]:
        """Texts to anything."""
        value = self._get(name, {})
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            self.raise_fault(f"{name}: {value!r} is not a mapping of texts")
        return value

    def take_fields(self, name: str) -> FieldReader:
        """The fields of a mapping in this one."""
        return FieldReader(self._get(name, None), f"{self.where}: {name}")

    def iter_fields(self, name: str) -> Iterator[FieldReader]:
        """The mappings of a list, numbered from 1."""
        value = self._get(name, None)
        if not isinstance(value, list) or not value:
            self.raise_fault(f"{name}: this is not a list of mappings")
        for number, item in enumerate(value, 1):
            yield FieldReader(item, f"{self.where}: {name.removesuffix('s')} {number}")

    def require_all_taken(self) -> None:
        """All fields have been read."""
        if unknown := [key for key in self.tree if key not in self._read]:
            self.raise_fault(f"unknown field {unknown[0]!r}")

    def _get(self, name: str, default: Any) -> Any:
        self._read.add(name)
        if default is None and name not in self.tree:
            self.raise_fault(f"field {name!r} is missing")
        return self.tree.get(name, default)

    def _inside(self, name: str, path: str) -> str:
        parts = path.split("/")
        odd = path != posixpath.normpath(path) or path.startswith("/") or "\\" in path
        if path and (odd or ".." in parts or ".git" in parts):
            self.raise_fault(
                f"{name}: {path!r} is not a path inside the project, in its shortest form"
            )
        return path


@dataclass(frozen=True, slots=True)
class MoveStep:
    """Files that go to another name: `to`, or `keep_as` where `to` is a file of cub's own.

    One whose bytes are `known_hashes` is cub's, and goes: what stands under `to` takes its place.
    """

    sources: tuple[str, ...]
    to: str
    keep_as: str
    known_hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeleteStep:
    """Files that go if their bytes are `known_hashes`, or only if the person asks for it (--prune).

    `hint` says what a person can do with one that was edited.
    """

    paths: tuple[str, ...]
    known_hashes: tuple[str, ...]
    only_with_prune: bool
    hint: str


@dataclass(frozen=True, slots=True)
class RewriteMarkerStep:
    """Digest lines of the older form, in sections that nobody edited, become today's."""


@dataclass(frozen=True, slots=True)
class RenameKeyStep:
    """A key of config.yaml, written with dots, gets a new name."""

    source: str
    to: str


@dataclass(frozen=True, slots=True)
class ImportJsonStep:
    """A JSON file whose values go into config.yaml, as far as they have a key there.

    `keys`: from a key to the one in config.yaml, with dots; `default`: values that say nothing.
    A file that says more is kept as `keep_as`; where its bytes are `known_hashes`, it says no more.
    """

    path: str
    keep_as: str
    keys: Mapping[str, str]
    default: Mapping[str, tuple[Any, ...]]
    known_hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WarnStep:
    """A warning about what stays: a file, or, with `to`, a link that leads there."""

    path: str
    to: str
    message: str
    hint: str


MigrationStep = (
    MoveStep | DeleteStep | RewriteMarkerStep | RenameKeyStep | ImportJsonStep | WarnStep
)


def parse_step(item: FieldReader) -> MigrationStep:
    """One step: a verb, and its fields."""
    if len(item.tree) != 1:
        item.raise_fault("this is not one verb with its fields")
    (verb,) = item.tree
    if verb not in STEP_PARSERS:
        item.raise_fault(f"unknown verb {verb!r}")
    fields = item.take_fields(verb)
    found = STEP_PARSERS[verb](fields)
    fields.require_all_taken()
    return found


def _move(fields: FieldReader) -> MoveStep:
    return MoveStep(
        fields.take_paths("from"),
        fields.take_path("to"),
        fields.take_path("keep_as", ""),
        fields.take_hashes("known"),
    )


def _delete(fields: FieldReader) -> DeleteStep:
    found = DeleteStep(
        fields.take_paths("paths"),
        fields.take_hashes("known"),
        fields.take_flag("only_with_prune"),
        fields.take_text("hint", ""),
    )
    if bool(found.known_hashes) == found.only_with_prune:
        fields.raise_fault("nothing is deleted unasked: give either `known` or `only_with_prune`")
    return found


def _rewrite_marker(fields: FieldReader) -> RewriteMarkerStep:
    if fields.take_text("digest") != "sha256":
        fields.raise_fault("digest: the older form is called sha256")
    return RewriteMarkerStep()


def _config_rename(fields: FieldReader) -> RenameKeyStep:
    found = RenameKeyStep(fields.take_text("from"), fields.take_text("to"))
    if found.source.rpartition(".")[0] != found.to.rpartition(".")[0]:
        fields.raise_fault("a key gets another name in the mapping that it stands in")
    return found


def _config_from_json(fields: FieldReader) -> ImportJsonStep:
    keys, default = fields.take_mapping("keys"), fields.take_mapping("default")
    if not all(isinstance(key, str) for key in keys.values()):
        fields.raise_fault("keys: a key of config.yaml is a text")
    if not all(isinstance(value, list) for value in default.values()):
        fields.raise_fault("default: each key needs a list of values")
    return ImportJsonStep(
        fields.take_path("path"),
        fields.take_path("keep_as"),
        keys,
        {key: tuple(values) for key, values in default.items()},
        fields.take_hashes("known"),
    )


def _note(fields: FieldReader) -> WarnStep:
    return WarnStep(
        fields.take_path("path"),
        fields.take_path("to", ""),
        fields.take_text("message"),
        fields.take_text("hint", ""),
    )


STEP_PARSERS: dict[str, Callable[[FieldReader], MigrationStep]] = {
    "move": _move,
    "delete": _delete,
    "rewrite_marker": _rewrite_marker,
    "config_rename": _config_rename,
    "config_from_json": _config_from_json,
    "note": _note,
}
