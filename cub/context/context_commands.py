"""Run context commands: shell lines whose output goes in front of a prompt.

All of them run at the same time, up to a limit, and their output keeps their order. A parameter
reaches a command as an environment variable, so no value can become a part of the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from signal import strsignal
from typing import Any, Literal, NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.processes.command import (
    CommandSpec,
    ProcessResult,
    StopRequest,
    TimeLimits,
    make_shell_command,
)
from cub.processes.runner import run_and_capture_streams
from cub.project.setting_kinds import parse_byte_count, parse_seconds
from cub.project.settings import COMMAND_KEYS, DEFAULT_CONTEXT_OUTPUT, DEFAULT_CONTEXT_TIMEOUT

# Seconds after INT and after TERM: what runs at its time limit has had its time.
_GRACE = (0.1, 0.1)
_POLL_SECONDS = 0.1  # how often a request to stop is looked for
_QUOTED = r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\."
# A command in double quotes has quotes of its own: only a shell can tell what is inside which. In a
# here-document and in arithmetic, a quote is no quote.
_NESTED = re.compile(r'"[^"]*(?:`|\$\()|<<|\$\(\(')
# POSIX leaves variables with a lower-case letter to applications.
_OWN_NAME = re.compile(r"(?=.*[a-z])[A-Za-z_][A-Za-z0-9_]*")
_PREFIX = "CUB_PARAMETER_"
_DEFAULTS: Mapping[str, Any] = {row.key: row.default for row in COMMAND_KEYS}
_LIMIT_OPTIONS = {"timeout": "--exec-timeout", "max_output": "--max-output"}

FailurePolicy = Literal["warn", "ignore", "fail"]


class CommandLimits(NamedTuple):
    """Hold the limits of commands: those of the configuration, and those of the command line.

    A command's own limit replaces the former; None for those that the command line leaves open.
    """

    timeout: float = parse_seconds(DEFAULT_CONTEXT_TIMEOUT)
    max_output: int = parse_byte_count(DEFAULT_CONTEXT_OUTPUT)
    given_timeout: float | None = None
    given_max_output: int | None = None

    def choose(self, own: Mapping[str, Any]) -> tuple[float, int]:
        """Return the seconds that a command gets, and how many bytes of each stream are kept."""
        timeout, size = own["timeout"], own["max_output"]
        seconds = self.timeout if timeout is None else parse_seconds(timeout)
        kept = self.max_output if size is None else parse_byte_count(size)
        given, given_size = self.given_timeout, self.given_max_output
        return seconds if given is None else given, kept if given_size is None else given_size


class ContextCommand(NamedTuple):
    """Describe a command: `origin` says who asks for it, as `.cub/config.yaml:3` or `--exec`.

    `timeout` is in seconds; `max_output` counts the bytes of stdout, and those of stderr.
    `own_keys` are the limits that its entry of the configuration sets.
    """

    name: str
    command: str
    origin: str
    on_failure: FailurePolicy = "warn"
    timeout: float = parse_seconds(DEFAULT_CONTEXT_TIMEOUT)
    max_output: int = parse_byte_count(DEFAULT_CONTEXT_OUTPUT)
    own_keys: tuple[str, ...] = ()


class CommandOutput(NamedTuple):
    """Hold what a command printed, as plain text without secrets, and how it ended.

    `left_out` counts the bytes that are missing in the text, of `total`.
    """

    command: ContextCommand
    result: ProcessResult
    text: str
    left_out: int = 0
    total: int = 0

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, minus a signal's number; None if it was stopped or not started."""
        result = self.result
        if result.cause:
            return None
        return -result.signal if result.signal else result.exit_code

    @property
    def failure(self) -> str:
        """Return how it failed, as the end of a sentence; "" if it succeeded."""
        return describe_failure(self.result, self.command.timeout)

    @property
    def problem(self) -> str:
        """Return why it failed, as its block says it; "" if it succeeded."""
        return f"Command {self.failure}" if self.failure else ""

    def to_audit_line(self) -> str:
        """Return one line, without secrets, that says what ran, for whom, and how it ended."""
        from cub.masking import mask_text

        end = self.failure or "succeeded"
        facts = f"{self.result.seconds:.2f} s, {len(self.text):,} characters"
        return mask_text(f"ran {self.command.command!r} ({self.command.origin}): {end}, {facts}")


def describe_failure(result: ProcessResult, timeout: float) -> str:
    """Return how a process failed, as the end of a sentence; "" if it succeeded."""
    if result.start_error:
        return f"could not be started: {result.start_error}"
    if result.cause == "wall":
        return f"timed out after {timeout:g} seconds"
    if result.cause:
        return "was stopped"
    if result.signal:
        return f"exited with code -{result.signal} ({strsignal(result.signal)})"
    return f"exited with code {result.exit_code}" if result.exit_code else ""


class CommandEnvironment(NamedTuple):
    """Hold where commands run, with which variables, and with which parameters of the user's.

    `confine` returns a command as one that runs behind walls.
    """

    folder: Path
    variables: Mapping[str, str]
    parameters: Mapping[str, str] = {}
    mark: str = ""
    confine: Callable[[CommandSpec], CommandSpec] | None = None


def parse_context_commands(
    items: Iterable[tuple[Mapping[str, Any], str]], limits: CommandLimits
) -> list[ContextCommand]:
    """Return the commands of a list that `find_setting_fault` has accepted, each with its place."""
    commands = []
    for item, origin in items:
        given = {key: value for key, value in item.items() if value is not None}
        values = {**_DEFAULTS, **given}
        commands.append(
            ContextCommand(
                values["name"],
                values["command"],
                origin,
                values["on_failure"].lower(),
                *limits.choose(values),
                tuple(given.keys() & _LIMIT_OPTIONS.keys()),
            )
        )
    return commands


def make_cli_commands(
    lines: Iterable[str],
    limits: CommandLimits = CommandLimits(),  # noqa: B008 - immutable
) -> list[ContextCommand]:
    """Return the commands of `--exec`, named by their numbers."""
    names = ({"name": f"CLI Command {n}", "command": line} for n, line in enumerate(lines, 1))
    return parse_context_commands(((item, "--exec") for item in names), limits)


def run_context_commands(
    commands: Sequence[ContextCommand],
    environment: CommandEnvironment,
    parallel: int,
    stop: StopRequest | None = None,
    report: Callable[[str], None] = log_debug,
) -> list[CommandOutput]:
    """Run commands, at most `parallel` at a time, and return their outputs in the given order.

    `report` gets a line about each in the end. A requested `stop` ends all of them. Raises
    CubError, with all others ended, when a command fails whose `on_failure` is `fail`.
    """
    if not commands:
        return []
    from concurrent.futures import ThreadPoolExecutor, wait

    own_stop = StopRequest()

    def run(command: ContextCommand) -> CommandOutput:
        output = run_context_command(command, environment, own_stop)
        if is_fatal(output):
            own_stop.request()
        return output

    with ThreadPoolExecutor(min(parallel, len(commands))) as pool:
        futures = [pool.submit(run, command) for command in commands]
        try:
            while wait(futures, _POLL_SECONDS).not_done:
                if stop and stop.is_requested:
                    own_stop.request()
        finally:  # also after Ctrl-C
            own_stop.request()
    own_stop.close()
    outputs = [future.result() for future in futures]
    for output in outputs:
        report(output.to_audit_line())
    if fatal := next((o for o in outputs if is_fatal(o) and o.result.cause != "stopped"), None):
        raise _make_error(fatal)
    return outputs


def list_output_warnings(outputs: Iterable[CommandOutput]) -> list[PlanWarning]:
    """Return a warning for each command that failed, and for each output that was shortened.

    A failure that the configuration ignores needs none.
    """
    from cub.masking import mask_text

    warnings = []
    for output in outputs:
        command = output.command
        if output.failure and command.on_failure != "ignore":
            hint = _make_limit_hint(command, "timeout") if output.result.cause == "wall" else ""
            message = mask_text(f"the command {command.command!r} {output.failure}")
            warnings.append(PlanWarning(message, command.origin, hint=hint))
        if output.left_out and not (output.failure and command.on_failure == "ignore"):
            loss = f"{output.left_out:,} of {output.total:,} bytes"
            message = mask_text(f"{loss} of the output of {command.command!r} were left out")
            hint = _make_limit_hint(command, "max_output")
            warnings.append(PlanWarning(message, command.origin, hint=hint))
    return warnings


def _make_limit_hint(command: ContextCommand, key: str) -> str:
    """Say what changes a limit: an entry's own key has precedence over the one for all."""
    setting = f"`{key}` of this command" if key in command.own_keys else f"`context_{key}`"
    return f"{setting} and `cub context {_LIMIT_OPTIONS[key]}` change the limit"


def is_fatal(output: CommandOutput) -> bool:
    """Return whether nothing may go on after this command."""
    return bool(output.problem) and output.command.on_failure == "fail"


def run_context_command(
    command: ContextCommand, environment: CommandEnvironment, stop: StopRequest | None = None
) -> CommandOutput:
    """Run one command to its end, or to its time limit, with nothing on stdin."""
    if stop and stop.is_requested:
        return CommandOutput(command, ProcessResult(None, None, "stopped", "", 0.0), "")
    line, parameters = separate_parameters(command.command, environment)
    variables = {**environment.variables, **parameters}
    line = quote_parameters(line, parameters)
    process = make_shell_command(line, environment.folder, variables, mark=environment.mark)
    process = environment.confine(process) if environment.confine else process
    limits = TimeLimits(command.timeout, None, _GRACE)
    captured = run_and_capture_streams(process, limits, stop, command.max_output)
    streams = (clean_output(data) for data in (captured.out, captured.err))
    text = "\n\n".join(filter(None, streams))
    return CommandOutput(command, captured.result, text, captured.left_out, captured.total)


def clean_output(data: bytes) -> str:
    """Return output as plain text: no escapes, no blank lines at its ends, no secrets."""
    from cub.masking import mask_text

    text = mask_text(to_plain_text(data.decode("utf-8", "replace")))
    return text.strip("\n") if text.strip() else ""


def separate_parameters(line: str, environment: CommandEnvironment) -> tuple[str, dict[str, str]]:
    """Return a line and the variables of its parameters, none of which replaces another variable.

    A parameter gets another name, in the line as well, if programs may read a variable of its name:
    one without a lower-case letter, as PATH, one that is set, and one that a shell can't read.
    """
    names = {}
    for name in environment.parameters:
        is_own = _OWN_NAME.fullmatch(name) and name not in environment.variables
        names[name] = name if is_own else f"{_PREFIX}{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
    values = {names[name]: value for name, value in environment.parameters.items()}
    return _rename(line, {old: new for old, new in names.items() if old != new}), values


def _rename(line: str, names: Mapping[str, str]) -> str:
    """Rename parameters in a line, except in single quotes and after a backslash."""
    if not names:
        return line
    choice = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    name = rf"(?P<start>\$|\$\{{#?)(?P<name>{choice})(?![A-Za-z0-9_])"
    in_quotes = r"\\." if _NESTED.search(line) else r"\\.|'[^']*'"
    pattern = re.compile(rf"(?P<double>\"(?:\\.|[^\"\\])*\")|{in_quotes}|{name}", re.DOTALL)
    inner = re.compile(rf"\\.|{name}", re.DOTALL)

    def replace(match: re.Match[str]) -> str:
        if match.groupdict().get("double"):
            return f'"{inner.sub(replace, match[0][1:-1])}"'
        is_named = match["name"] and ("{" in match["start"] or match["name"].isidentifier())
        return match["start"] + names[match["name"]] if is_named else match[0]

    return pattern.sub(replace, line)


def quote_parameters(line: str, parameters: Mapping[str, str]) -> str:
    """Put a `${name}` outside of quotes in quotes, so that a parameter stays one word.

    Where this goes wrong, the shell splits a value into words; it never runs one.
    """
    if not parameters or _NESTED.search(line):
        return line
    names = "|".join(map(re.escape, parameters))
    pattern = re.compile(rf"{_QUOTED}|(?P<bare>\$\{{(?:{names})\}})", re.DOTALL)
    return pattern.sub(lambda match: f'"{match[0]}"' if match["bare"] else match[0], line)


def _make_error(output: CommandOutput) -> CubError:
    return CubError(
        f"the context command {output.command.name!r} {output.failure}",
        where=output.command.origin,
        hint="`on_failure: warn` puts the error into the context; `--no-context-exec` runs none",
        details=[f"$ {output.command.command}", *output.text.splitlines()[-20:]],
    )
