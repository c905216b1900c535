"""Resolve the settings of a run: the command line first, then the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cub.actions.command_options import RunOptions
from cub.actions.context_settings import (
    ContextSettings,
    parse_time_option,
    resolve_context_settings,
)
from cub.errors import CubError
from cub.project.config_layers import ConfigValue
from cub.project.setting_kinds import (
    describe_template_words,
    fill_template,
    parse_byte_count,
)

_MAX_BRANCH = 250  # bytes: git names a file after the last part
ConfigValues = Mapping[str, ConfigValue]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Hold the settings of a run. Times are in seconds, sizes in bytes; None is no limit.

    If `checks` are proposed, and not configured, `proposed_checks` has the manifest that names
    each, and `proposed_linters` are those that are no tests.
    """

    options: RunOptions
    harnesses: tuple[str, ...]
    harness_configs: Mapping[str, Mapping[str, Any]]
    model: str | None
    checks: tuple[str, ...]
    accept_unverified: bool
    excuses_known_failures: bool
    allows_removed_tests: bool
    protected_patterns: tuple[str, ...]
    max_attempts: int
    timeout: float
    idle_timeout: float
    commits: bool
    message_template: str
    branch_template: str
    permissions: str
    wrapper: tuple[str, ...]
    jobs: int
    place: str
    share: tuple[str, ...]
    setup_commands: tuple[str, ...]
    writable: tuple[str, ...]
    notify_command: str
    hidden_variables: tuple[str, ...]
    max_file_size: int
    usd: float | None
    tokens: int | None
    iterations: int | None
    context: ContextSettings
    proposed_checks: Mapping[str, str] = field(default_factory=dict)
    proposed_linters: tuple[str, ...] = ()


def resolve_settings(values: ConfigValues, options: RunOptions) -> RunSettings:
    """Return the settings of a run. Raises UsageError for a value that makes no sense."""
    get = {key: value.value for key, value in values.items()}
    names = [name.strip() for name in (options.harness or get["run.harness"]).split(",")]
    return RunSettings(
        options=options,
        harnesses=tuple(filter(None, names)) or ("auto",),
        harness_configs=select_harness_configs(values),
        model=options.model or get["run.model"],
        checks=() if options.no_checks else options.checks or tuple(get["run.checks"]),
        accept_unverified=get["run.accept_unverified"],
        excuses_known_failures=(
            options.excuse_known_failures or get["run.known_failures"] == "excuse"
        ),
        allows_removed_tests=get["run.allow_removed_tests"],
        protected_patterns=tuple(get["run.protect"]),
        max_attempts=get["run.max_attempts"],
        timeout=parse_time_option(options.timeout or get["run.timeout"], "--timeout"),
        idle_timeout=parse_time_option(
            options.idle_timeout or get["run.idle_timeout"], "--idle-timeout"
        ),
        commits=get["run.commit"],
        message_template=get["run.message"],
        branch_template=options.branch or get["run.branch"] or "",
        permissions=get["run.permissions"],
        wrapper=tuple(get["run.wrap"]),
        jobs=_override(options.jobs, get["run.jobs"]),
        place=get["run.place"],
        share=tuple(get["run.share"]),
        setup_commands=tuple(get["run.setup"]),
        writable=tuple(get["run.writable"]),
        notify_command=get["run.notify"] or "",
        hidden_variables=tuple(get["run.hide_env"]),
        max_file_size=parse_byte_count(get["run.max_file_size"]),
        usd=_override(options.usd, get["run.budget.usd"]),
        tokens=_override(options.tokens, get["run.budget.tokens"]),
        iterations=_override(options.iterations, get["run.budget.iterations"]),
        context=resolve_context_settings(values, options),
    )


def select_harness_configs(values: ConfigValues) -> dict[str, Any]:
    """Return the values of `harnesses` in the configuration, by the names of the agents."""
    prefix = "harnesses."
    rows = (item for item in values.items() if item[0].startswith(prefix))
    return {key.removeprefix(prefix): row.value for key, row in rows}


def _override(option: Any, configured: Any) -> Any:
    return configured if option is None else option


def render_branch_name(template: str, values: Mapping[str, str]) -> str:
    """Return the branch for a template such as `cub/{run}`. Raises CubError for an invalid one."""
    try:
        name = fill_template(template, values)
    except ValueError as error:
        hint = describe_template_words(tuple(values))
        raise CubError(f"--branch {error}", hint=hint) from error
    if len(name.encode("utf-8", "surrogatepass")) > _MAX_BRANCH:
        raise CubError(f"the name of a branch has no more than {_MAX_BRANCH} bytes")
    return name
