"""Run a command in a shell: within a time limit, without secrets, and with all that it started."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from cub.agent.tools.command_environment import make_command_environment
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import UNLISTED, ToolError
from cub.checks.terminal_text import to_plain_text
from cub.context.context_commands import describe_failure
from cub.masking import mask_text
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture

SUCCESS = "The command exited with code 0."  # the first line of a result
MAX_CHARS = 30_000
MAX_SECONDS = 600
_MIN_MILLISECONDS = 10_000  # 3600 may be an hour or 3.6 seconds; nobody waits for hours
# More than the model reads, so that a secret which is cut in two is in the part that it does not.
_MAX_BYTES = 8 * MAX_CHARS
_GRACE = (1.0, 1.0)
_BASH = "/bin/bash"
_DESCRIPTION = f"""\
Run a command in a shell, in the project's directory, and return its exit code and output.
- Each call is a new shell: `cd` and variables do not last.
- stdin is empty, and there is no terminal: a command that asks for input fails. Use flags such \
as --yes.
- No editor opens. git keeps the message that it proposes: pass -m for another one. For `rebase \
-i`, set GIT_SEQUENCE_EDITOR to a command that edits the list, such as "sed -i '2s/pick/squash/'".
- When the command ends, so does everything that it left in the background. To try a server, start \
it, use it and stop it in one call.
- Variables with secrets are not set.
- Of a long output you get the first and the last {MAX_CHARS // 2:,} characters.
- Use Read, Edit, Write, Glob and Grep for files instead of cat, sed, echo, find and grep.\
"""


class BashArguments(NamedTuple):
    """Hold a command line. `description` is for people who follow a session.

    A large `timeout` is in milliseconds: many models bring that along.
    """

    command: Annotated[str, "The command line, which may have several lines.", "cmd", "script"]
    timeout: Annotated[
        int, f"Seconds until it is ended, at most {MAX_SECONDS}.", "timeout_seconds"
    ] = 120
    description: Annotated[str, "What the command does, in a few words.", "explanation"] = ""
    timeout_ms: Annotated[int, UNLISTED] = 0
    run_in_background: Annotated[bool, UNLISTED] = False


def run_shell_command(arguments: BashArguments, context: ToolContext) -> ToolOutput:
    """Run a command to its end; one that fails has a result, too. Raises ToolError, CubError."""
    seconds = _read_timeout(-(-arguments.timeout_ms // 1000) or arguments.timeout)
    if arguments.run_in_background:
        hint = "start it with `&`, use it, and stop it in one call"
        raise ToolError("a command can't go on in the background after its call", hint=hint)
    shell = _BASH if Path(_BASH).exists() else "/bin/sh"
    command = CommandSpec(
        (shell, "-c", arguments.command), context.folder, make_command_environment(context.environ)
    )
    limits = TimeLimits(wall=seconds, grace=_GRACE)
    captured = run_and_capture(command, limits, context.stop, _MAX_BYTES)
    failure = describe_failure(captured.result, seconds)
    if captured.result.start_error:
        raise ToolError(f"the shell {failure}")
    end = f"The command {failure}." if failure else SUCCESS
    text = to_plain_text(captured.out.decode("utf-8", "replace")).rstrip()
    return ToolOutput(f"{end}\n{_cut_middle(mask_text(text), captured.total)}".rstrip())


def _read_timeout(value: int) -> int:
    """Return the seconds of a timeout; ToolError for too many, and for what may be either unit."""
    seconds = value // 1000 if value >= _MIN_MILLISECONDS else value
    if not 1 <= seconds <= MAX_SECONDS:
        raise ToolError(f"timeout is in seconds, from 1 to {MAX_SECONDS}")
    return seconds


def _cut_middle(text: str, total: int) -> str:
    """Return what a model reads of an output of `total` bytes."""
    if len(text) <= MAX_CHARS:
        return text
    head, tail = text[: MAX_CHARS // 2], text[-MAX_CHARS // 2 :]
    return f"{head}\n… the middle of {total:,} bytes is left out …\n{tail}"


BASH = define_tool(
    "Bash", _DESCRIPTION, BashArguments, run_shell_command, "command", subject="command"
)
