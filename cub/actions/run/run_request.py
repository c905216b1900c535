"""Hold what `cub run` is asked for: the options of its command line."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from cub.actions.command_options import ContextOptions, option
from cub.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(ContextOptions):
    """Hold the command line's options; None, "" and () leave a setting to the configuration.

    A run adds a task for each of `texts`, and works on these alone: `added` has their ids.
    """

    once: bool = option("--once", "Stop after one attempt.", False)
    task: str = option("--task ID", "Work on this task only.", "")
    epic: str = option("--epic ID", "Work only on tasks of this epic.", "")
    label: str = option("--label WORD", "Work only on tasks with this label.", "")
    harness: str = option(
        "--harness NAME",
        "Choose the agent: claude, codex, gemini, opencode, aider, pi, builtin, acp:COMMAND, or a "
        "name from `harnesses`. Separate fallbacks with commas. "
        "[default: the first one installed]",
        "",
    )
    model: str = option("--model NAME", "Choose the agent's model.", "")
    jobs: int | None = option(
        "--jobs N", "Run up to N attempts at the same time. [default: 1]", None, min=1
    )
    iterations: int | None = option("--max-iterations N", "Stop after N attempts.", None, min=1)
    usd: float | None = option(
        "--budget-usd USD", "Stop when the run has cost this much.", None, min=0
    )
    tokens: int | None = option(
        "--budget-tokens N", "Stop when the run has used N tokens.", None, min=1
    )
    timeout: str = option(
        "--timeout DURATION",
        "Stop an attempt or a check after DURATION, such as 90s or 30m. [default: 30m]",
        "",
    )
    idle_timeout: str = option(
        "--idle-timeout DURATION",
        "Stop an agent that prints nothing for DURATION. [default: 15m]",
        "",
    )
    checks: tuple[str, ...] = option(
        "--check CMD", "Run this check instead of run.checks (repeatable).", ()
    )
    no_checks: bool = option("--no-checks", "Skip all checks.", False)
    excuse_known_failures: bool = option(
        "--excuse-known-failures", "Accept tasks that fix no known failure.", False
    )
    allow_check_changes: bool = option(
        "--allow-check-changes", "Accept changes to files that define a check.", False
    )
    branch: str = option("--branch TEMPLATE", "Work on this branch, such as cub/{run}.", "")
    with_changes: bool = option(
        "--with-changes",
        "Start from your uncommitted changes. An accepted attempt commits them first.",
        False,
    )
    texts: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


RUN_OPTION_NAMES = tuple(one.name for one in fields(RunOptions))


def require_consistent(options: RunOptions) -> None:
    """Raise UsageError for options that contradict each other."""
    if options.no_checks and options.checks:
        raise UsageError("--check cannot be used with --no-checks", hint="pass one of them")
    if options.task and (options.epic or options.label):
        raise UsageError("--task cannot be used with --epic or --label", hint="pass one of them")
    if options.task and options.texts:
        raise UsageError("--task cannot be used with a new task", hint="pass one of them")
    if not all(map(str.strip, options.texts)):
        raise UsageError("the task is empty", hint='describe it, such as "Fix the login"')


def merge_options(options: RunOptions, previous: RunOptions) -> RunOptions:
    """Return `options`, with those of `previous` for all that it leaves open."""
    defaults = RunOptions()
    values = {name: getattr(options, name) for name in RUN_OPTION_NAMES}
    return replace(previous, **{k: v for k, v in values.items() if v != getattr(defaults, k)})
