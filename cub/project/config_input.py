"""Values of settings as they come in words: from the command line, and from the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.layout.nodes import NULL
from cub.layout.reading import parse
from cub.layout.source import read
from cub.project.setting_values import fault
from cub.project.settings import SETTINGS, Setting

_VERBATIM = ("template", "text", "specifier")


class Given(NamedTuple):
    """A setting's value from the environment variable `name`."""

    setting: Setting
    name: str
    value: Any


def value_of(words: str, setting: Setting | None = None) -> Any:
    """What somebody means by these words: YAML, but a text that is wanted needs no quotes.

    CubError, without a place, for what can't be read.
    """
    wants_text = setting is not None and setting.kind in _VERBATIM
    try:
        source = read(words.encode("utf-8", "surrogateescape"), "")
        if wants_text and not words.startswith(("'", '"')):
            return None if NULL.fullmatch(words) else words
        root = parse(source)
    except CubError as error:
        message = f"{words!r} can't be read: {error.message}"
        raise CubError(message, hint=error.hint) from None
    return root.plain() if root else None


def variable_of(setting: Setting) -> str:
    """The environment variable of a setting ("" if it has none, being of a client)."""
    name = setting.key.upper().replace(".", "_").replace("-", "_")
    return "" if "*" in setting.key else f"CUB_{name}"


def from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """What the environment sets; other CUB_* variables are none of this module's business.

    Settings of the project alone come without a value: nobody takes it.
    """
    for setting in SETTINGS:
        name = variable_of(setting)
        if name not in environ:
            continue
        if setting.project:
            yield Given(setting, name, None)
            continue
        try:
            value = value_of(environ[name], setting)
        except CubError as error:
            raise CubError(error.message, where=name, hint=error.hint) from None
        if found := fault(setting, value):
            raise CubError(found.message, where=name, hint=found.hint)
        yield Given(setting, name, value)
