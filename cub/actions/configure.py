"""What `cub config set` means to do: one value in config.yaml, or a refusal."""

from __future__ import annotations

from cub import __version__
from cub.edit.plan import Edit, Plan
from cub.errors import CubError, UsageError
from cub.project.config import CONFIG, parse
from cub.project.config_edit import with_targets, with_value
from cub.project.config_input import value_of
from cub.project.config_layers import read_layer
from cub.project.project import Project
from cub.project.settings import SETTINGS, Path, setting_at
from cub.project.targets import normal


def plan_set(project: Project, key: str, words: str) -> Plan:
    """The project's own file with a value; nothing where the value stands there already."""
    before = project.tree.read(CONFIG)
    after = configured(before, key, words)
    warnings = parse(after, version=__version__).warnings
    edit = Edit(CONFIG, before, after, f"set {key}")
    return Plan(() if after == before else (edit,), warnings)


def plan_set_user(before: bytes | None, path: str, key: str, words: str) -> Plan:
    """The same for the user's own file, which `path` stands for."""
    after = configured(before, key, words, path=path, personal=True)
    edit = Edit(path, before, after, f"set {key}")
    return Plan(() if after == before else (edit,), read_layer(after, path).warnings)


def configured(
    data: bytes | None, key: str, words: str, *, path: str = CONFIG, personal: bool = False
) -> bytes:
    """A file's bytes with what `words` mean for `key`.

    Raises UsageError for an unknown key and a wrong value, before the file is looked at.
    """
    keys = tuple(key.split("."))
    inner = keys[2:] if keys[0] == "profiles" else keys
    if keys == ("schema",):
        raise UsageError("schema: the migrations write it, nobody else")
    if (personal or inner != keys) and inner and _is_project(inner):
        raise UsageError(f"{key}: it counts in the project's own file only")
    try:
        value = value_of(words, setting_at(inner))
        layer = read_layer(with_value(None, key, value), "")
    except CubError as error:
        raise UsageError(error.message, hint=error.hint) from None
    if layer.unknown:
        near = layer.unknown[0].hint if "did you mean" in layer.unknown[0].hint else ""
        hint = near or "`cub config show` lists what there is"
        raise UsageError(layer.unknown[0].message, hint=hint)
    if keys == ("targets",) and value:
        return with_targets(data, list(dict.fromkeys(map(normal, value))))
    return with_value(data, key, value, path=path)


def _is_project(keys: Path) -> bool:
    """Whether a key, or something in the mapping that it is, belongs to the project's file."""
    return any(s.project for s in SETTINGS if s.path[: len(keys)] == keys)
