"""Define options of commands as fields of dataclasses, which actions take as they are.

A field holds the words of its option too: `cub.cli.parameters` reads the command line by them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from cub.errors import UsageError

OPTION = "option"
COMMANDS_PANEL = "Output of commands"
GateChoice = Literal["none", "checks", "judges", "both"]
_PERMISSIONS_PANEL = "Permissions"


def option(spec: str, text: str, default: Any, **settings: Any) -> Any:
    """Define a field of a dataclass as an option; one with the default () may be repeated.

    `spec` has its names and the placeholder of its value, as "--limit -n N".
    """
    return field(default=default, metadata={OPTION: {"spec": spec, "text": text, **settings}})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """Hold the options about context commands that several commands take.

    `no_context_exec` leaves out those of the configuration. Only `cub context` has options for the
    last three: bootstraps are left out, and each command is limited.
    """

    exec_lines: tuple[str, ...] = option(
        "--exec CMD",
        "Add the output of this command to the context (repeatable).",
        (),
        panel=COMMANDS_PANEL,
    )
    no_context_exec: bool = option(
        "--no-context-exec",
        "Don't run the configured context_commands.",
        False,
        panel=COMMANDS_PANEL,
    )
    confirm_context_exec: bool = option(
        "--confirm-context-exec",
        "Show the context commands with their origin, and ask before running them.",
        False,
        panel=COMMANDS_PANEL,
    )
    debug: bool = option(
        "--debug",
        "Log each context command to stderr, with its origin and exit code.",
        False,
        panel=COMMANDS_PANEL,
    )
    trust: bool = option("--trust", "Trust the project's commands for this command only.", False)
    profile: str | None = option("--profile NAME", "Use this profile of the configuration.", None)
    no_bootstrap: bool = False
    exec_timeout: str = ""
    max_output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions(ContextOptions):
    """Hold the command line's options; "", () and None leave a setting to the configuration.

    `system_texts` go to the end of the system prompt; the command appends those of `system_files`.
    `trust` agrees this once to what the project's own configuration allows. Only `/smallmodel` of a
    session sets `small_model`.
    """

    small_model: str = ""
    prompt: str | None = option(
        "-p --prompt TEXT",
        "Set the prompt; - reads stdin. Other text from stdin is appended.",
        None,
    )
    continue_last: bool = option(
        "--continue -c", "Continue the last session of this project.", False
    )
    resume: str | None = option(
        "--resume -r [ID]",
        "Continue this session; any unique start of its ID works. Without ID, you choose one.",
        None,
    )
    no_save: bool = option("--no-save", "Don't save the session.", False)
    model: str = option(
        "--model NAME",
        "The model, such as openai/NAME or ollama/NAME. [default: by the key that is set]",
        "",
    )
    output_format: Literal["text", "json", "stream-json"] = option(
        "--output-format", "Choose the output on stdout.", "text"
    )
    debug: bool = option(
        "--debug", "Log the tokens of each turn, what is cut, and each context command.", False
    )
    max_turns: int | None = option("--max-turns N", "Stop after N requests.", None, min=1)
    max_usd: float | None = option(
        "--max-budget-usd USD",
        "Stop when the session has cost this much. Needs a model with a known price.",
        None,
        min=0,
    )
    system_texts: tuple[str, ...] = option(
        "--append-system-prompt TEXT", "Append TEXT to the system prompt (repeatable).", ()
    )
    system_files: tuple[Path, ...] = option(
        "--append-system-prompt-file FILE", "Append FILE to the system prompt (repeatable).", ()
    )
    eval: bool = option("--eval", "The same as --gate both.", False)
    gate: GateChoice | None = option(
        "--gate",
        "When the model has finished, run the project's checks, ask three judges (models), or "
        "both, and continue with what they find.",
        None,
    )
    permissions: Literal["ask", "accept-edits", "plan", "bypass"] | None = option(
        "--permissions",
        "Choose what needs no approval: reading (ask), also edits (accept-edits), "
        "everything (bypass), or reading without any changes (plan).",
        None,
        panel=_PERMISSIONS_PANEL,
    )
    allow: tuple[str, ...] = option(
        "--allow RULE",
        "Allow these calls, such as 'Bash(git diff *)' (repeatable).",
        (),
        panel=_PERMISSIONS_PANEL,
    )
    deny: tuple[str, ...] = option(
        "--deny RULE",
        "Deny these calls, such as 'Read(.env)' (repeatable).",
        (),
        panel=_PERMISSIONS_PANEL,
    )
    mcp_files: tuple[Path, ...] = option(
        "--mcp-config FILE", "Start the MCP servers of FILE, in JSON (repeatable).", ()
    )
    strict_mcp_config: bool = option(
        "--strict-mcp-config", "Start no MCP servers but those of --mcp-config.", False
    )

    def choose_gate(self, configured: GateChoice) -> GateChoice:
        """Return what reviews the work: the options count before the configuration."""
        return self.gate or ("both" if self.eval else configured)


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
