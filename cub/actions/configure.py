"""What `cub config set` means to do: one value in config.yaml, with what follows; or a refusal."""

from __future__ import annotations

from dataclasses import replace

from cub import __version__
from cub.actions.notes import still_tracked
from cub.actions.own_files import IGNORING, local_lines, refresh, text_of
from cub.actions.section_edits import merged
from cub.edit.plan import Edit, Plan
from cub.errors import CubError, UsageError
from cub.project.config import CONFIG, Config, parse
from cub.project.config_edit import with_targets, with_value
from cub.project.config_input import value_of
from cub.project.config_layers import read_layer
from cub.project.executes import commands
from cub.project.project import Project
from cub.project.settings import SETTINGS, Path, setting_at
from cub.project.state import State
from cub.project.targets import normal
from cub.prompt.templates import shipped


def plan_set(project: Project, key: str, words: str) -> Plan:
    """The project's own file with a value; nothing where the value stands there already.

    What is to stay local from now on, or is no more, is told to git, too.
    """
    before = project.tree.read(CONFIG)
    after = configured(before, key, words)
    config = parse(after, version=__version__)
    if after == before:
        return Plan((), config.warnings)
    plan = Plan((Edit(CONFIG, before, after, f"set {key}"),), config.warnings)
    if local_lines(config) == local_lines(project.config):
        return plan
    tracked = Plan((), tuple(still_tracked(replace(project, config=config))))
    return merged([plan, _ignoring(project, config), tracked])


def next_step(plan: Plan, key: str) -> str:
    """What a person has to do before a value of the project's own file counts; "" for nothing."""
    data = plan.edits[0].after
    if key in ("targets", "inline"):
        return "Run `cub init` to follow it."
    if key == "map.tokens" and not parse(data, version=__version__).map_tokens:
        return "Run `cub update` to take the map away."
    if key in ("map.tokens", "map.exclude"):
        return "Run `cub update` to draw the map anew."
    executed = commands(data)
    if executed and executed != commands(plan.edits[0].before):
        return "Run `cub trust`: no run begins before you agree."
    return ""


def _ignoring(project: Project, config: Config) -> Plan:
    """`.cub/.gitignore` as a configuration asks for it; not where there is none yet."""
    if project.tree.read(IGNORING.path) is None:
        return Plan()
    templates, lines = shipped(), local_lines(config)
    body = text_of(IGNORING, templates, templates.version, lines)
    found = refresh(IGNORING, project.tree, templates, State(), body)
    if found.warning is None:
        return Plan((found.edit,) if found.edit else ())
    had = local_lines(project.config)
    added = " and ".join(line for line in lines if line not in had)
    gone = " and ".join(line for line in had if line not in lines)
    hint = f"write {added} into it" if added else f"take {gone} out of it"
    return Plan((), (replace(found.warning, hint=hint),))


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
