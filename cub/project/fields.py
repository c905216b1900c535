"""A mapping of data that ships with cub, read field by field: a fault in it is a bug of cub's."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from cub.errors import InternalError

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True)
class Fields:
    """The fields of `tree`, at `where`. Each read one is checked; `end` refuses what is left."""

    tree: Any
    where: str
    _read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not isinstance(self.tree, dict):
            self.fail("this is not a mapping of fields")

    def fail(self, message: str) -> NoReturn:
        """End with InternalError that says where."""
        raise InternalError(message, where=self.where)

    def text(self, name: str, default: str | None = None) -> str:
        """A text that is not empty."""
        value = self._get(name, default)
        if not isinstance(value, str) or (not value and default is None):
            self.fail(f"{name}: {value!r} is not a text")
        return value

    def number(self, name: str) -> int:
        """A whole number above 0."""
        value = self._get(name, None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.fail(f"{name}: {value!r} is not a number above 0")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false where it is not given."""
        value = self._get(name, False)
        if not isinstance(value, bool):
            self.fail(f"{name}: {value!r} is neither true nor false")
        return value

    def texts(self, name: str, *, needed: bool = True) -> tuple[str, ...]:
        """A list of texts; one text counts as a list."""
        value = self._get(name, None if needed else [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(f"{name}: {value!r} is not a list of texts")
        if needed and not value:
            self.fail(f"{name}: this list is empty")
        return tuple(value)

    def path(self, name: str, default: str | None = None) -> str:
        """A path inside the project."""
        return self._inside(name, self.text(name, default))

    def paths(self, name: str, *, needed: bool = True) -> tuple[str, ...]:
        """A list of paths inside the project."""
        return tuple(self._inside(name, path) for path in self.texts(name, needed=needed))

    def hashes(self, name: str) -> tuple[str, ...]:
        """A list of sha256 in hex, each once; none where it is not given."""
        found = self.texts(name, needed=False)
        for item in found:
            if not _HASH.fullmatch(item) or found.count(item) > 1:
                self.fail(f"{name}: {item!r} is not a sha256 in hex, or is there twice")
        return found

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Texts to anything."""
        value = self._get(name, {})
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            self.fail(f"{name}: {value!r} is not a mapping of texts")
        return value

    def inner(self, name: str) -> Fields:
        """The fields of a mapping in this one."""
        return Fields(self._get(name, None), f"{self.where}: {name}")

    def items(self, name: str) -> Iterator[Fields]:
        """The mappings of a list, numbered from 1."""
        value = self._get(name, None)
        if not isinstance(value, list) or not value:
            self.fail(f"{name}: this is not a list of mappings")
        for number, item in enumerate(value, 1):
            yield Fields(item, f"{self.where}: {name.removesuffix('s')} {number}")

    def end(self) -> None:
        """All fields have been read."""
        if unknown := [key for key in self.tree if key not in self._read]:
            self.fail(f"unknown field {unknown[0]!r}")

    def _get(self, name: str, default: Any) -> Any:
        self._read.add(name)
        if default is None and name not in self.tree:
            self.fail(f"field {name!r} is missing")
        return self.tree.get(name, default)

    def _inside(self, name: str, path: str) -> str:
        parts = path.split("/")
        odd = path != posixpath.normpath(path) or path.startswith("/") or "\\" in path
        if path and (odd or ".." in parts or ".git" in parts):
            self.fail(f"{name}: {path!r} is not a path inside the project, in its shortest form")
        return path
