"""Plan what `cub config set` does: one value in config.yaml, with what follows; or a refusal."""

from __future__ import annotations

from dataclasses import replace

from cub.actions.managed_files import (
    GITIGNORE_FILE,
    map_local_lines,
    refresh_managed_file,
)
from cub.actions.plan_warnings import warn_tracked_local_files
from cub.actions.section_edits import merge_plans
from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError, UsageError
from cub.project.checkout_state import CheckoutState
from cub.project.config import CONFIG_FILE, ProjectConfig, parse_config
from cub.project.config_layers import parse_layer_bytes, parse_setting_value
from cub.project.config_writer import set_config_value, set_targets
from cub.project.executable_config import list_config_commands
from cub.project.project import Project
from cub.project.settings import SETTINGS, find_setting
from cub.project.targets import normalize_target
from cub.prompt.templates import load_shipped_templates


def plan_config_set(project: Project, key: str, text: str) -> Plan:
    """Plan a value in the project's own file; nothing if the file has it already.

    If files become local, or are shared from now on, `.cub/.gitignore` follows.
    """
    before = project.tree.read(CONFIG_FILE)
    after = apply_setting(before, key, text)
    config = parse_config(after)
    if after == before:
        return Plan((), config.warnings)
    plan = Plan((FileEdit(CONFIG_FILE, before, after, f"set {key}"),), config.warnings)
    if map_local_lines(config) == map_local_lines(project.config):
        return plan
    tracked = Plan((), tuple(warn_tracked_local_files(replace(project, config=config))))
    return merge_plans([plan, _plan_gitignore(project, config), tracked])


def plan_user_config_set(before: bytes | None, path: str, key: str, text: str) -> Plan:
    """Plan a value in the user's own file; `path` is its name in messages."""
    after = apply_setting(before, key, text, path=path, personal=True)
    edit = FileEdit(path, before, after, f"set {key}")
    return Plan(() if after == before else (edit,), tuple(parse_layer_bytes(after, path).warnings))


def apply_setting(
    data: bytes | None, key: str, text: str, *, path: str = CONFIG_FILE, personal: bool = False
) -> bytes:
    """Return a file's bytes with the value that `text` means for `key`.

    Raises UsageError for an unknown key and a wrong value, before the file is looked at.
    """
    keys = tuple(key.split("."))
    inner = keys[2:] if keys[0] == "profiles" else keys
    if keys == ("schema",):
        raise UsageError("schema cannot be set: only migrations write it")
    # A key may be one, or a mapping that has such a key in it.
    is_project_only = any(s.is_project_only for s in SETTINGS if s.path[: len(inner)] == inner)
    if (personal or inner != keys) and inner and is_project_only:
        raise UsageError(
            f"{key} can only be set in the project's own file", hint="leave out --user"
        )
    try:
        value = parse_setting_value(text, find_setting(inner))
        layer = parse_layer_bytes(set_config_value(None, key, value), "")
    except CubError as error:
        raise UsageError(error.message, hint=error.hint) from None
    if layer.warnings:
        unknown, *_ = layer.warnings
        near = unknown.hint if "did you mean" in unknown.hint else ""
        raise UsageError(unknown.message, hint=near or "run `cub config show` to list all keys")
    if keys == ("targets",) and value:
        return set_targets(data, list(dict.fromkeys(map(normalize_target, value))))
    return set_config_value(data, key, value, path=path)


def describe_config_next_step(plan: Plan, key: str) -> str:
    """Say what a user has to do before a value of the project's file counts; "" for nothing."""
    data = plan.edits[0].after
    if key in ("targets", "inline"):
        return "Run `cub init` to apply it."
    if key == "map.tokens" and not parse_config(data).map_tokens:
        return "Run `cub update` to delete the map."
    if key in ("map.tokens", "map.exclude"):
        return "Run `cub update` to regenerate the map."
    commands = list_config_commands(data)
    if commands and commands != list_config_commands(plan.edits[0].before):
        return "Run `cub trust`: `cub run` refuses to start until you do."
    return ""


def _plan_gitignore(project: Project, config: ProjectConfig) -> Plan:
    """Plan `.cub/.gitignore` as the configuration asks for it, if there is one already."""
    if project.tree.read(GITIGNORE_FILE.path) is None:
        return Plan()
    changed, templates = replace(project, config=config), load_shipped_templates()
    plan, _ = refresh_managed_file(GITIGNORE_FILE, changed, templates, CheckoutState())
    old_lines, lines = map_local_lines(project.config), map_local_lines(config)
    added = " and ".join(line for line in lines if line not in old_lines)
    removed = " and ".join(line for line in old_lines if line not in lines)
    hint = f"add {added} to it" if added else f"remove {removed} from it"
    return replace(plan, warnings=tuple(replace(one, hint=hint) for one in plan.warnings))
