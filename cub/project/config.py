"""`.cub/config.yaml`: reading it with exact positions, and editing it without losing a comment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.project.targets import DEFAULT_TARGETS, normal, target_problem

if TYPE_CHECKING:
    from ruamel.yaml import YAML

CONFIG = ".cub/config.yaml"
SCHEMA = 1

# Keys of the format that later versions of cub act on; their value's type is checked already.
_LATER: dict[str, type] = {
    "inline": list,
    "map": dict,
    "run": dict,
    "harnesses": dict,
    "ledger": dict,
    "context_commands": list,
    "profiles": dict,
}
_KNOWN = ("schema", "requires-cub", "targets", "placement", *_LATER)


@dataclass(frozen=True, slots=True)
class Config:
    """What a project asks for; every field has a default, so a project needs no file."""

    schema: int = SCHEMA
    requires_cub: str = ""
    targets: tuple[str, ...] = DEFAULT_TARGETS
    placement: Literal["bottom", "top"] = "bottom"
    inline: tuple[str, ...] = ()
    warnings: tuple[PlanWarning, ...] = ()


def parse(data: bytes | None, *, version: str, path: str = CONFIG) -> Config:
    """Read the file's bytes; None stands for no file.

    Raises CubError with `file:line:column` and the key for a syntax error, a wrong type, a
    target outside the project, a `requires-cub` that excludes `version`, or a newer schema.
    """
    if data is None or not data.strip():
        return Config()
    tree = load(data, path)
    if tree is None:
        return Config()
    if not isinstance(tree, dict):
        _fail("this is not a mapping of keys to values", path, 1, 1)
    fail = partial(_fail_at, tree, path)
    warnings = []
    for key in tree:
        if key not in _KNOWN:
            warnings.append(
                PlanWarning(
                    f"unknown key {key!r}", path, _position(tree, key)[0], _similar(str(key))
                )
            )
        elif key in _LATER and not isinstance(tree[key], _LATER[key] | None):
            fail(key, f"this is not a {'list' if _LATER[key] is list else 'mapping'}")
        elif key in _LATER:
            warnings.append(
                PlanWarning(
                    f"key {key!r} has no effect in this version", path, _position(tree, key)[0]
                )
            )
    requires = _requirement(tree, fail, version)
    return Config(
        schema=_schema(tree, fail),
        requires_cub=requires,
        targets=_targets(tree, fail),
        placement=_placement(tree, fail),
        warnings=tuple(warnings),
    )


def _yaml() -> YAML:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096
    return yaml


def load(data: bytes, path: str) -> Any:
    """The file as ruamel's round-trip tree, which knows the position of every key."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _yaml().load(data)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        _fail(str(error.problem or error.context).strip(), path, line, column)
    except (YAMLError, UnicodeDecodeError) as error:
        _fail(f"this is not YAML: {str(error).splitlines()[0]}", path, 1, 1)


def _fail(message: str, path: str, line: int, column: int, hint: str = "") -> NoReturn:
    raise CubError(message, where=f"{path}:{line}:{column}", hint=hint)


def _fail_at(tree: Any, path: str, key: str, message: str, hint: str = "") -> NoReturn:
    line, column = _position(tree, key)
    _fail(f"{key}: {message}", path, line, column, hint)


def _position(tree: Any, key: object) -> tuple[int, int]:
    try:
        line, column = tree.lc.value(key)
    except (AttributeError, KeyError, TypeError):
        return 1, 1
    return int(line) + 1, int(column) + 1


def _similar(key: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key.replace("_", "-"), _KNOWN, 1)
    return f"did you mean {near[0]!r}?" if near else "it is kept, and has no effect"


def _schema(tree: Any, fail: Any) -> int:
    value = SCHEMA if tree.get("schema") is None else tree["schema"]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        fail("schema", f"{value!r} is not a whole number")
    if value > SCHEMA:
        fail(
            "schema",
            f"this project was written by a newer cub (schema {value}, this cub knows {SCHEMA})",
            "upgrade cub: pip install --upgrade cub",
        )
    return int(value)


def _requirement(tree: Any, fail: Any, version: str) -> str:
    value = tree.get("requires-cub")
    if value is None:
        return ""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(str(value))
    except InvalidSpecifier:
        fail("requires-cub", f"{value!r} is not a version specifier", 'write it like ">=0.1"')
    if not wanted.contains(version, prereleases=True):
        fail(
            "requires-cub",
            f"this project needs cub {value}, this is cub {version}",
            f'install it: pip install "cub{value}"',
        )
    return str(value)


def _targets(tree: Any, fail: Any) -> tuple[str, ...]:
    value = tree.get("targets")
    if value is None:
        return DEFAULT_TARGETS
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        fail("targets", "this is not a list of file names", "write it like [AGENTS.md, CLAUDE.md]")
    for item in value:
        if problem := target_problem(item):
            fail("targets", f"{item!r} {problem}")
    return tuple(dict.fromkeys(normal(item) for item in value))


def _placement(tree: Any, fail: Any) -> Literal["bottom", "top"]:
    value = tree.get("placement") or "bottom"
    if value not in ("bottom", "top"):
        fail("placement", f"{value!r} is neither bottom nor top")
    return cast(Literal["bottom", "top"], value)
