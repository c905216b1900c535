"""Gather the context commands of a call, and require that they may run.

Commands that the project brings along need the person's agreement. Those of the person's own
configuration, and those of `--exec`, need none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from cub.actions.command_options import ContextOptions
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.actions.tasks.stores import Stores
from cub.context.context_commands import (
    CommandLimits,
    ContextCommand,
    make_cli_commands,
    parse_context_commands,
)
from cub.errors import CubError, UsageError
from cub.project.config import CONFIG_FILE
from cub.project.config_layers import ConfigValue
from cub.project.executable_config import list_config_commands
from cub.project.setting_kinds import parse_byte_count, parse_seconds
from cub.project.trust_store import load_trust

_KEY = "context_commands"


class ContextSettings(NamedTuple):
    """Hold the commands in their order, how many of them run at the same time, and the limits of
    those that a task file has.
    """

    commands: tuple[ContextCommand, ...]
    parallel: int
    limits: CommandLimits = CommandLimits()


def resolve_context_settings(
    values: Mapping[str, ConfigValue], options: ContextOptions
) -> ContextSettings:
    """Return the configured commands, unless they are left out, and then those of `--exec`."""
    row = values[_KEY]
    items = () if options.no_context_exec else row.value
    places = row.item_places or [row.where or row.origin] * len(items)
    limits = CommandLimits(
        parse_seconds(values["context_timeout"].value),
        parse_byte_count(values["context_max_output"].value),
        parse_time_option(options.exec_timeout, "--exec-timeout") if options.exec_timeout else None,
        _parse_size_option(options.max_output, "--max-output") if options.max_output else None,
    )
    commands = parse_context_commands(zip(items, places, strict=False), limits)
    commands += make_cli_commands(options.exec_lines, limits)
    return ContextSettings(tuple(commands), values["context_parallel"].value, limits)


def parse_time_option(words: str | float, option: str) -> float:
    """Return the seconds that an option means; UsageError for a wrong value."""
    try:
        return parse_seconds(words)
    except ValueError:
        hint = "write a time such as 90s, 30m, or 2h"
        raise UsageError(f"{words!r} is not a time", where=option, hint=hint) from None


def _parse_size_option(words: str, option: str) -> int:
    try:
        return parse_byte_count(words)
    except ValueError:
        hint = "write a size such as 500kB, 64MB, or 1GB"
        raise UsageError(f"{words!r} is not a size", where=option, hint=hint) from None


def prepare_context_commands(
    stores: Stores,
    values: Mapping[str, ConfigValue],
    options: ContextOptions,
) -> ContextSettings:
    """Return the commands that a call outside of a run has to run.

    Raises CubError inside an attempt, and for commands of the project that the person has not
    agreed to, unless they are about to be asked.
    """
    settings = resolve_context_settings(values, options)
    if refusal := find_refusal(stores, values, settings, options):
        raise refusal
    return settings


def find_refusal(
    stores: Stores,
    values: Mapping[str, ConfigValue],
    settings: ContextSettings,
    options: ContextOptions,
) -> CubError | None:
    """Return why the commands may not run; None if they may."""
    if settings.commands and find_current_attempt(stores.root):
        hint = "add `--no-context-exec`, and run the commands that you need directly"
        return CubError("context commands cannot be run inside an attempt", hint=hint)
    if options.trust or options.no_context_exec or options.confirm_context_exec:
        return None
    hint = "`--trust` allows them for this run only, and `--no-context-exec` skips them"
    return find_untrusted_keys(stores, [values[_KEY]], options.profile, hint)


def find_untrusted_keys(
    stores: Stores, rows: Iterable[ConfigValue], profile: str | None, hint: str
) -> CubError | None:
    """Return an error with the keys of these rows that come from the project, and their values.

    None if there are none, or if the person has agreed to the project's configuration.
    """
    config, trust = list_config_commands(stores.project.config_data), load_trust(stores.root)
    if trust.allows(config):
        return None
    needed: list[str] = []
    for row in rows:
        prefix = {"project": row.key, "profile": f"profiles.{profile}.{row.key}"}.get(row.origin)
        # A profile of the person's own has no such key in the project's file.
        needed += [
            f"{key}: {value}"
            for key, value in config.items()
            if prefix and (key == prefix or key.startswith(f"{prefix}."))
        ]
    if not needed:
        return None
    again = "changed since you trusted them" if trust.config else "are not trusted"
    hint = f"review them, then run `cub trust`; {hint}"
    what = f"the commands of this project {again}"
    return CubError(what, where=CONFIG_FILE, hint=hint, details=list(dict.fromkeys(needed)))
