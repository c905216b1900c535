"""What a run goes by: the command line first, then what the configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cub.errors import CubError, UsageError
from cub.project.config_layers import Value
from cub.project.setting_values import byte_count, seconds
from cub.project.word_templates import fill_template, template_hint

_LONGEST_BRANCH = 250  # bytes: a file of git's has the last part of the name
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for; None, "" and () leave a thing to the configuration."""

    once: bool = False
    task: str = ""
    epic: str = ""
    label: str = ""
    harness: str = ""
    model: str = ""
    iterations: int | None = None
    usd: float | None = None
    tokens: int | None = None
    timeout: str = ""
    idle_timeout: str = ""
    checks: tuple[str, ...] = ()
    no_checks: bool = False
    branch: str = ""
    worktree: bool = False
    trust: bool = False


@dataclass(frozen=True, slots=True)
class RunSettings:
    """All of it, settled. Times are in seconds, sizes in bytes; None is no limit.

    `own_checks` says whether the checks that tasks bring along count, too.
    """

    asked: Asked
    harnesses: tuple[str, ...]
    configured: Mapping[str, Mapping[str, Any]]
    model: str | None
    checks: tuple[str, ...]
    own_checks: bool
    accept_unverified: bool
    protect: tuple[str, ...]
    max_attempts: int
    timeout: float
    idle_timeout: float
    commit: bool
    message: str
    branch: str
    permissions: str
    wrap: tuple[str, ...]
    notify: str
    hide_env: tuple[str, ...]
    max_file_size: int
    keep_ignored: int
    usd: float | None
    tokens: int | None
    iterations: int | None


def run_settings(values: Values, asked: Asked) -> RunSettings:
    """The settings of a run; UsageError for what can't be meant."""
    get = {key: value.value for key, value in values.items()}
    prefix = "harnesses."
    configured = {k.removeprefix(prefix): v for k, v in get.items() if k.startswith(prefix)}
    names = [name.strip() for name in (asked.harness or get["run.harness"]).split(",")]
    return RunSettings(
        asked=asked,
        harnesses=tuple(filter(None, names)) or ("auto",),
        configured=configured,
        model=asked.model or get["run.model"],
        checks=() if asked.no_checks else asked.checks or tuple(get["run.checks"]),
        own_checks=not asked.no_checks,
        accept_unverified=get["run.accept_unverified"],
        protect=tuple(get["run.protect"]),
        max_attempts=get["run.max_attempts"],
        timeout=_seconds(asked.timeout or get["run.timeout"], "--timeout"),
        idle_timeout=_seconds(asked.idle_timeout or get["run.idle_timeout"], "--idle-timeout"),
        commit=get["run.commit"],
        message=get["run.message"],
        branch=asked.branch or get["run.branch"] or "",
        permissions=get["run.permissions"],
        wrap=tuple(get["run.wrap"]),
        notify=get["run.notify"] or "",
        hide_env=tuple(get["run.hide_env"]),
        max_file_size=byte_count(get["run.max_file_size"]),
        keep_ignored=byte_count(get["run.keep_ignored"]),
        usd=_first(asked.usd, get["run.budget.usd"]),
        tokens=_first(asked.tokens, get["run.budget.tokens"]),
        iterations=_first(asked.iterations, get["run.budget.iterations"]),
    )


def require_sane(asked: Asked) -> None:
    """UsageError for options that contradict each other."""
    if asked.no_checks and asked.checks:
        raise UsageError("--check and --no-checks exclude each other")
    if asked.task and (asked.epic or asked.label):
        raise UsageError("--task names one task: --epic and --label choose among many")


def _seconds(value: Any, option: str) -> float:
    try:
        return seconds(value)
    except ValueError:
        hint = "write a time such as 90s, 30m or 2h"
        raise UsageError(f"{value!r} is not a time", where=option, hint=hint) from None


def _first(asked: Any, configured: Any) -> Any:
    return configured if asked is None else asked


def branch_name(template: str, words: Mapping[str, str]) -> str:
    """The branch that a template such as `cub/{run}` stands for; CubError for one that can't be."""
    try:
        name = fill_template(template, words)
    except ValueError as error:
        hint = template_hint(tuple(words))
        raise CubError(f"no template of a branch: {error}", where="--branch", hint=hint) from error
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_BRANCH:
        raise CubError(f"the name of a branch has no more than {_LONGEST_BRANCH} bytes")
    return name


def over(asked: Asked, last: Asked) -> Asked:
    """What is asked now, and for all that is left open what was asked last."""
    left_open = Asked()
    said = {name: getattr(asked, name) for name in Asked.__slots__}
    return replace(last, **{k: v for k, v in said.items() if v != getattr(left_open, k)})
